// The details of what is selected: facts, hosts, commands, the JSON.
import { poolCommands, recordCommands, sliceCommands } from "./commands.js";
import { byId, commandLine, el } from "./dom.js";
import { hostsText, kPoolStates, shapeName, workloadName } from "./model.js";
import { hostSquares, hostTitle } from "./map_view.js";
import { showObject } from "./object_view.js";
import { costText, poolsFor, poolsForText } from "./rows.js";
import { age, shortTime } from "./time.js";

/** @typedef {import("./types.js").Fleet} Fleet */

/** Hosts that the details list. */
const kMaxHosts = 256;

/**
 * @typedef {object} Shown
 * @property {string} title
 * @property {[string, string][]} facts Empty ones are left out.
 * @property {Node[]} more
 * @property {{label: string, command: string}[]} commands
 * @property {unknown} json
 * @property {import("./types.js").About} [about] Whose object can be read.
 */

/** @param {import("./types.js").Pool} pool @param {number} now @param {string} tpu @returns {Shown} */
export function poolDetail(pool, now, tpu) {
  /** @type {[string, string][]} */
  const facts = [
    ["state", `${kPoolStates[pool.state] ?? pool.state}${pool.since ? ` for ${age(pool.since, now)}` : ""}`],
    ["problem", pool.problem],
    ["TPU", shapeName(pool)],
    ["accelerator", pool.accelerator],
    ["chips", String(pool.chips)],
    ["hosts", hostsText(pool.hosts)],
    ["used by", pool.users.map((user) => `${workloadName(user)} ${user.slice}${user.reserved ? " (reserved)" : ""}`).join(", ")],
    ["until", pool.until ? shortTime(pool.until, now) : ""],
    ["zone", pool.zone],
    ["capacity", pool.capacity],
    ["slices lost", pool.failures ? String(pool.failures) : ""],
    ["topology key", pool.topologyKey],
  ];
  const hosts = el("ol", { start: 0, class: "plain" });
  const count = Math.min(pool.hosts.length, kMaxHosts);
  for (let index = 0; index < count; ++index) hosts.append(el("li", {}, hostTitle(pool, index).replace(/^host \d+(, )?/, "")));
  const rest = pool.hosts.length > count ? [el("p", {}, `and ${pool.hosts.length - count} more`)] : [];
  return {
    title: `pool ${pool.name}`,
    facts,
    more: [hostSquares(pool, kMaxHosts), el("h3", {}, "Hosts"), hosts, ...rest],
    commands: poolCommands(tpu, pool),
    json: pool,
  };
}

/** @param {import("./types.js").Slice} slice @param {Fleet} fleet @param {number} now @param {string} tpu @returns {Shown} */
export function sliceDetail(slice, fleet, now, tpu) {
  const waits = slice.state === "Waiting";
  /** @type {[string, string][]} */
  const facts = [
    ["state", `${slice.state}${slice.since ? ` for ${age(slice.since, now)}` : ""}`],
    ["position", slice.position ? `${slice.position} in the queue` : ""],
    ["behind", slice.behind.map((each) => each || "another namespace").join(", ")],
    ["reason", slice.code],
    ["problem", slice.problem],
    ["will it start", slice.never ? "never, as it is" : ""],
    ["pools", waits ? poolsForText(poolsFor(fleet, slice)) : ""],
    ["pool", slice.pool],
    ["TPU", shapeName(slice)],
    ["hosts", `${slice.hosts}${waits ? "" : `, ${slice.ready} Ready`}`],
    ["gang", slice.gang],
    ["priority", slice.priority ? String(slice.priority) : ""],
  ];
  const more = waits && slice.reason ? [el("p", { class: "reason" }, slice.reason)] : [];
  return {
    title: `${workloadName(slice)} ${slice.slice}`,
    facts,
    more,
    commands: sliceCommands(tpu, slice),
    json: slice,
    about: slice.name ? { kind: slice.kind, namespace: slice.namespace, name: slice.name } : undefined,
  };
}

/** @param {import("./types.js").HistoryRecord} record @param {number} now @param {string} tpu @returns {Shown} */
export function recordDetail(record, now, tpu) {
  const cost = costText(record);
  /** @type {[string, string][]} */
  const facts = [
    ["time", `${record.time} (${age(record.time, now)} ago)`],
    ["slice", record.slice],
    ["what", record.what],
    ["code", record.code],
    ["why", record.why],
    ["host", record.host],
    ["container", record.container],
    ["exit code", record.exitCode],
    ["node", record.node],
    ["pool", record.pool],
    ["lost", cost.lost ? `${cost.lost} of host time` : ""],
    ["back", cost.back ? `after ${cost.back}` : ""],
  ];
  return { title: `${record.what}: ${workloadName(record)}`, facts, more: [], commands: recordCommands(tpu, record), json: record };
}

/**
 * @param {Shown | null} shown
 * @param {(command: string) => void} copy
 * @param {boolean} readsObjects
 * @param {number} now
 */
export function drawDetail(shown, copy, readsObjects, now) {
  showObject((readsObjects && shown?.about) || null, now);
  if (!shown) return;
  byId("detail-title").textContent = shown.title;
  const facts = el("dl");
  for (const [name, value] of shown.facts) if (value) facts.append(el("dt", {}, name), el("dd", {}, value));
  const commands = shown.commands.map((each) => commandLine(each.label, each.command, copy));
  const json = el("details", {}, el("summary", {}, "JSON"), el("pre", { tabindex: 0, "aria-label": "JSON" }, JSON.stringify(shown.json, null, 1)));
  const body = byId("detail-body");
  const open = body.querySelector("details")?.open ?? false;
  json.open = open;
  body.replaceChildren(facts, ...shown.more, ...(commands.length ? [el("h3", {}, "Commands"), ...commands] : []), json);
}
