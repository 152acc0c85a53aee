// Making elements. Text from the fleet becomes text nodes and attribute values, never markup.

/**
 * @template {keyof HTMLElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {Record<string, string | number | boolean | undefined>} [attributes] True is an attribute without a value; false and
 *   undefined leave it out.
 * @param {...(Node | string)} children
 * @returns {HTMLElementTagNameMap[Tag]}
 */
export function el(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === false) continue;
    element.setAttribute(name, value === true ? "" : String(value));
  }
  element.append(...children);
  return element;
}

/** The element of index.html with this id. @param {string} id @returns {HTMLElement} */
export function byId(id) {
  const found = document.getElementById(id);
  if (!found) throw new Error(`no element "${id}"`);
  return found;
}

/** Sets the text if it differs, so that nothing is laid out, or read aloud, without need. @param {Node} node @param {string} text */
export function setText(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

/** A share between 0 and 1 as a length of a style. @param {number} share */
export function percent(share) {
  return `${(share * 100).toFixed(3)}%`;
}

/**
 * A command with a button that copies it.
 * @param {string} label
 * @param {string} command
 * @param {(command: string) => void} copy
 */
export function commandLine(label, command, copy) {
  const button = el("button", { type: "button", class: "copy", "aria-label": `copy: ${command}` }, "copy");
  button.addEventListener("click", () => copy(command));
  return el("div", { class: "command" }, el("span", { class: "label" }, label), el("code", {}, command), button);
}

/**
 * Puts text on the clipboard; where that is refused, selects `shown`, so that the keys of the system copy it.
 * @param {string} text
 * @param {Element | null} shown
 * @returns {Promise<boolean>} Whether it was copied.
 */
export async function copyText(text, shown) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    if (shown) getSelection()?.selectAllChildren(shown);
    return false;
  }
}
