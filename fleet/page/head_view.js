// The head of the page: totals, how fresh the fleet is, the filters.
import { byId, el, setText } from "./dom.js";
import { filterValues, kPoolStates, totals } from "./model.js";
import { clockText } from "./time.js";

/** @typedef {import("./types.js").Fleet} Fleet */
/** @typedef {import("./types.js").Filter} Filter */

/** @param {string} id */
export function selectById(id) {
  return /** @type {HTMLSelectElement} */ (byId(id));
}

/** @param {string} id */
export function inputById(id) {
  return /** @type {HTMLInputElement} */ (byId(id));
}

/** @param {HTMLSelectElement} select @param {string[]} values @param {string} chosen @param {(value: string) => string} name */
function fillSelect(select, values, chosen, name) {
  const all = chosen && !values.includes(chosen) ? [...values, chosen] : values;
  const shown = [...select.options].slice(1).map((option) => option.value);
  if (shown.join("\n") !== all.join("\n")) {
    select.replaceChildren(el("option", { value: "" }, "all"), ...all.map((value) => el("option", { value }, name(value))));
  }
  if (select.value !== chosen) select.value = chosen;
}

/** @param {Fleet} fleet @param {Filter} filter @param {"live" | "simulated" | "as of"} freshness */
export function drawHead(fleet, filter, freshness) {
  const all = totals(fleet);
  const name = fleet.cluster.name;
  setText(byId("cluster"), name);
  document.title = name ? `TPU fleet · ${name}` : "TPU fleet";
  const pools = all.pools === 1 ? "1 pool" : `${all.pools} pools`;
  setText(byId("totals"), `${pools} · ${all.inUse} of ${all.chips} chips in use · ${all.waiting} waiting`);
  setText(byId("freshness"), `${freshness} ${freshness === "live" ? clockText(fleet.time) : fleet.time}`);
  setText(byId("queue-count"), all.waiting ? String(all.waiting) : "");
  const values = filterValues(fleet);
  fillSelect(selectById("filter-namespace"), values.namespaces, filter.namespace, (value) => value);
  fillSelect(selectById("filter-tpu"), values.tpus, filter.tpu, (value) => value);
  fillSelect(selectById("filter-state"), values.states, filter.state, (value) => kPoolStates[value] ?? value);
}

/** @param {() => Filter} current @param {() => void} changed */
export function wireFilters(current, changed) {
  const text = inputById("filter-text");
  text.value = current().text;
  text.addEventListener("input", () => {
    current().text = text.value.trim();
    changed();
  });
  byId("filters").addEventListener("submit", (event) => event.preventDefault());
  for (const name of /** @type {const} */ (["namespace", "tpu", "state"])) {
    const select = selectById(`filter-${name}`);
    select.addEventListener("change", () => {
      current()[name] = select.value;
      changed();
    });
  }
}
