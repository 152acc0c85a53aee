// What stands above the tabs (problem, simulation, what needs someone), and what an empty tab says.
import { drainCommand, kInstallCommand, kNodePoolCommand } from "./commands.js";
import { byId, commandLine, el, setText } from "./dom.js";

/** Entries of the list of what needs someone. */
const kMaxAttention = 50;

/** @typedef {(command: string) => void} Copy */

/** @param {import("./types.js").Attention[]} attention @param {Copy} copy */
export function drawAttention(attention, copy) {
  const section = byId("attention");
  section.hidden = attention.length === 0;
  const one = attention.length === 1;
  setText(byId("attention-title"), one ? "1 thing needs someone" : `${attention.length} things need someone`);
  const items = attention.slice(0, kMaxAttention).map((each) => {
    const item = el("li", {}, el("strong", {}, each.about), el("span", {}, each.text));
    if (each.command) item.append(commandLine("", each.command, copy));
    return item;
  });
  if (attention.length > kMaxAttention) items.push(el("li", {}, `and ${attention.length - kMaxAttention} more`));
  byId("attention-list").replaceChildren(...items);
}

/** What is new, for the live region. @param {import("./types.js").Attention[]} before @param {import("./types.js").Attention[]} now */
export function newAttention(before, now) {
  const known = new Set(before.map((each) => `${each.about} ${each.text}`));
  const added = now.filter((each) => !known.has(`${each.about} ${each.text}`));
  if (added.length === 0) return "";
  const first = `${added[0].about}: ${added[0].text}`;
  return added.length === 1 ? first : `${first}; and ${added.length - 1} more`;
}

/** @param {import("./types.js").Missing[]} missing */
export function drawMissing(missing) {
  const place = byId("missing");
  place.hidden = missing.length === 0;
  const what = missing.map((each) => (each.namespace ? `${each.resource} of ${each.namespace}` : each.resource));
  setText(place, `Not shown, for want of the right to list them: ${what.join(", ")}.`);
}

/** @param {string} message */
export function drawProblem(message) {
  const place = byId("problem");
  place.hidden = message === "";
  setText(place, message);
}

/**
 * @param {{drained: string[], lines: string[], failed: string} | null} simulation
 * @param {string} tpu
 * @param {Copy} copy
 * @param {() => void} end
 */
export function drawSimulation(simulation, tpu, copy, end) {
  const place = byId("simulated");
  place.hidden = simulation === null;
  if (!simulation) return place.replaceChildren();
  const button = el("button", { type: "button" }, "end the simulation");
  button.addEventListener("click", end);
  const what =
    simulation.drained.length === 0
      ? "Simulated: choose pools to drain; nothing is changed in the cluster."
      : `Simulated: ${simulation.drained.map((name) => `drain ${name}`).join(", ")}. Nothing is changed in the cluster.`;
  place.replaceChildren(el("div", { class: "row" }, el("strong", {}, what), button));
  if (simulation.failed) place.append(el("p", {}, simulation.failed));
  if (simulation.lines.length > 0) {
    place.append(el("pre", { tabindex: 0, "aria-label": "What would happen" }, simulation.lines.join("\n")));
  }
  if (simulation.drained.length > 0) place.append(commandLine("", drainCommand(tpu, simulation.drained), copy));
}

/** @param {string} id @param {boolean} isEmpty @param {() => Node[]} teach */
function drawEmpty(id, isEmpty, teach) {
  byId(`${id}-scroller`).hidden = isEmpty;
  const place = byId(`${id}-empty`);
  place.hidden = !isEmpty;
  if (isEmpty) place.replaceChildren(...teach());
}

/** @param {string} text */
function paragraph(text) {
  return el("p", {}, text);
}

/** @param {import("./types.js").Fleet} fleet @param {number} rows @param {Copy} copy */
export function drawEmptyMap(fleet, rows, copy) {
  drawEmpty("map", rows === 0, () => {
    if (fleet.pools.length > 0) return [paragraph("No pool passes the filter.")];
    const teach = [
      paragraph("This cluster has no nodes with TPUs. A node pool whose nodes have the labels cloud.google.com/gke-tpu-accelerator and cloud.google.com/gke-tpu-topology appears here. On GKE:"),
      commandLine("a v6e slice of four hosts", kNodePoolCommand, copy),
    ];
    return fleet.cluster.operator ? teach : [...teach, ...withoutOperator(copy)];
  });
}

/** @param {Copy} copy */
function withoutOperator(copy) {
  return [paragraph("The operator was not found, so nothing places slices. To install it:"), commandLine("", kInstallCommand, copy)];
}

/** @param {import("./types.js").Fleet} fleet @param {number} rows @param {string} tpu @param {Copy} copy */
export function drawEmptyQueue(fleet, rows, tpu, copy) {
  drawEmpty("queue", rows === 0, () => {
    if (fleet.slices.some((slice) => slice.state === "Waiting")) return [paragraph("No waiting slice passes the filter.")];
    if (!fleet.cluster.operator) return withoutOperator(copy);
    return [
      paragraph("No slice waits."),
      paragraph("A slice waits here, with its reason, from when its pods exist until a whole node pool is free for it. To see whether a manifest would have to wait:"),
      commandLine("", `${tpu} plan -f FILE`, copy),
    ];
  });
}

/** @param {"timeline" | "history"} id @param {boolean} isEmpty @param {boolean} known @param {boolean} filtered */
export function drawEmptyHistory(id, isEmpty, known, filtered) {
  drawEmpty(id, isEmpty, () => {
    if (!known) return [paragraph("No history was read: this server, or this file, has none, or the right to read it is missing.")];
    if (filtered) return [paragraph("Nothing passes the filter.")];
    return [
      paragraph(id === "history" ? "No slice was interrupted since the history begins." : "No slice runs or waits."),
      paragraph("The operator records here when it tears a slice down, what that cost, and when the slice was back."),
    ];
  });
}
