// What the API server has of the workload that is selected, read when its details are opened: conditions, events, YAML.
import { byId, el } from "./dom.js";
import { loadObject } from "./source.js";
import { age } from "./time.js";

/** @typedef {import("./types.js").About} About */

/** What is shown, or is being read. */
let shown = "";

/** @param {string} name @param {string[]} columns @param {string[][]} rows */
function table(name, columns, rows) {
  const head = el("thead", {}, el("tr", {}, ...columns.map((each) => el("th", { scope: "col" }, each))));
  const body = el("tbody", {}, ...rows.map((row) => el("tr", {}, ...row.map((each) => el("td", {}, each)))));
  return [el("h3", {}, name), rows.length ? el("table", { class: "plain", "aria-label": name }, head, body) : el("p", { class: "quiet" }, "none")];
}

/** @param {import("./types.js").WorkloadObject} object @param {number} now */
function parts(object, now) {
  const conditions = object.conditions.map((each) => [each.type, each.status, age(each.since, now), [each.reason, each.message].filter((text) => text).join(": ")]);
  const events = object.events.map((each) => [each.time ? age(each.time, now) : "", each.type, `${each.reason}${each.count > 1 ? ` (${each.count} times)` : ""}: ${each.message}`]);
  const yaml = el("details", {}, el("summary", {}, "YAML"), el("pre", { tabindex: 0, "aria-label": "YAML" }, object.yaml));
  return [
    ...table("Conditions", ["type", "status", "for", "why"], conditions),
    ...(object.eventsProblem ? [el("h3", {}, "Events"), el("p", {}, object.eventsProblem)] : table("Events", ["ago", "type", "what"], events)),
    yaml,
  ];
}

/**
 * @param {About | null} about Null: nothing.
 * @param {number} now
 */
export function showObject(about, now) {
  const key = about ? `${about.kind}/${about.namespace}/${about.name}` : "";
  if (key === shown) return;
  shown = key;
  const body = byId("detail-object");
  body.replaceChildren();
  if (!about) return;
  body.append(el("p", { class: "quiet" }, "reading the object"));
  const show = (/** @type {Node[]} */ nodes) => {
    if (key === shown) body.replaceChildren(...nodes);
  };
  loadObject(about).then(
    (object) => show(parts(object, now)),
    (problem) => show([el("p", {}, `The object cannot be read: ${problem instanceof Error ? problem.message : problem}`)]),
  );
}
