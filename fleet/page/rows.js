// The rows that the tabs show, made from the fleet. Pure functions.
import { byKey, chipsInUse, compareNames, kPoolStates, poolKey, poolMatches, shapeName, sliceKey, sliceMatches, workloadName } from "./model.js";
import { age, seconds, secondsText } from "./time.js";

/** @typedef {import("./types.js").Fleet} Fleet */
/** @typedef {import("./types.js").Pool} Pool */
/** @typedef {import("./types.js").Slice} Slice */
/** @typedef {import("./types.js").Filter} Filter */
/** @typedef {import("./types.js").HistoryRecord} HistoryRecord */

/** @param {Pool[]} pools */
function groupCounts(pools) {
  const counts = new Map();
  for (const pool of pools) counts.set(pool.state, (counts.get(pool.state) ?? 0) + 1);
  return Object.keys(kPoolStates)
    .filter((state) => counts.has(state))
    .map((state) => `${counts.get(state)} ${kPoolStates[state]}`)
    .join(" · ");
}

/**
 * Rows of the map: for each TPU and topology a row of the group, then its pools. Both are in the order of the fleet.
 * @param {Fleet} fleet
 * @param {Filter} filter
 * @returns {import("./types.js").MapRow[]}
 */
export function mapRows(fleet, filter) {
  /** @type {Map<string, Pool[]>} */
  const groups = new Map();
  for (const pool of fleet.pools) {
    if (!poolMatches(pool, filter)) continue;
    const shape = shapeName(pool);
    const group = groups.get(shape);
    if (group) group.push(pool);
    else groups.set(shape, [pool]);
  }
  /** @type {import("./types.js").MapRow[]} */
  const rows = [];
  for (const [shape, pools] of groups) {
    const chips = pools.reduce((sum, pool) => sum + pool.chips, 0);
    const used = pools.reduce((sum, pool) => sum + chipsInUse(pool), 0);
    rows.push({
      type: "group",
      key: `group ${shape}`,
      title: shape,
      counts: groupCounts(pools),
      chips: `${used} of ${chips} chips`,
    });
    for (const pool of pools) rows.push({ type: "pool", key: poolKey(pool), pool });
  }
  return rows;
}

/** @param {Slice} a @param {Slice} b */
function beforeInQueue(a, b) {
  if (a.never !== b.never) return a.never ? 1 : -1;
  const first = a.position || Infinity;
  const second = b.position || Infinity;
  if (first !== second) return first - second;
  if (a.since !== b.since) return a.since < b.since ? -1 : 1;
  return compareNames(sliceKey(a), sliceKey(b));
}

/**
 * The waiting slices: by position, those that will never start last.
 * @param {Fleet} fleet
 * @param {Filter} filter
 * @returns {import("./types.js").QueueRow[]}
 */
export function queueRows(fleet, filter) {
  return [...byKey(fleet.slices, sliceKey)]
    .filter(([, slice]) => slice.state === "Waiting" && sliceMatches(slice, filter))
    .map(([key, slice]) => ({ key, slice }))
    .sort((a, b) => beforeInQueue(a.slice, b.slice));
}

/** What a waiting slice has ahead of it. @param {Slice} slice */
export function behindText(slice) {
  if (slice.never) return "never starts";
  if (slice.position > 2) return `${slice.position - 1} ahead`;
  return slice.behind.length === 0 ? "" : slice.behind[0] || "another namespace";
}

/**
 * The pools that a slice could use, each with what is in the way: "free", "taken" or "unusable".
 * @param {Fleet} fleet
 * @param {Slice} slice
 * @returns {Map<string, "free" | "taken" | "unusable">}
 */
export function poolsFor(fleet, slice) {
  /** @type {Map<string, "free" | "taken" | "unusable">} */
  const found = new Map();
  for (const pool of fleet.pools) {
    const matches = slice.accelerator ? pool.accelerator === slice.accelerator : pool.tpu === slice.tpu;
    if (!matches || pool.topology !== slice.topology) continue;
    const unusable = pool.state === "Broken" || pool.state === "Draining";
    found.set(poolKey(pool), unusable ? "unusable" : pool.state === "Free" ? "free" : "taken");
  }
  return found;
}

/** "4 pools match, none is free: 3 in use or reserved, 1 not usable." @param {Map<string, string>} pools */
export function poolsForText(pools) {
  const count = (/** @type {string} */ state) => [...pools.values()].filter((each) => each === state).length;
  if (pools.size === 0) return "No pool has this accelerator and topology.";
  const matching = pools.size === 1 ? "1 pool matches" : `${pools.size} pools match`;
  const parts = [];
  if (count("taken") > 0) parts.push(`${count("taken")} in use or reserved`);
  if (count("unusable") > 0) parts.push(`${count("unusable")} not usable`);
  const free = count("free") === 0 ? "none is free" : `${count("free")} free`;
  return `${matching}, ${free}${parts.length > 0 ? `: ${parts.join(", ")}` : ""}.`;
}

/**
 * @param {HistoryRecord[]} records
 * @param {Filter} filter
 * @returns {import("./types.js").HistoryRow[]} The newest first.
 */
export function historyRows(records, filter) {
  const words = filter.text.toLowerCase().split(/\s+/);
  return records
    .map((record, index) => ({ key: `${record.time} ${index}`, record }))
    .filter(({ record }) => {
      if (filter.namespace && record.namespace !== filter.namespace) return false;
      const all = `${workloadName(record)} ${record.slice} ${record.what} ${record.code} ${record.why} ${record.pool} ${record.node}`;
      return words.every((word) => all.toLowerCase().includes(word));
    })
    .sort((a, b) => (a.record.time < b.record.time ? 1 : a.record.time > b.record.time ? -1 : 0));
}

/** @param {HistoryRecord[]} records */
export function historySummary(records) {
  const interruptions = records.filter((each) => each.what !== "Restarted");
  const lost = interruptions.reduce((sum, each) => sum + each.lostHostSeconds, 0);
  const nodes = new Map();
  for (const each of interruptions) if (each.node) nodes.set(each.node, (nodes.get(each.node) ?? 0) + 1);
  const worst = [...nodes].sort((a, b) => b[1] - a[1])[0];
  const of = interruptions.length === 1 ? "1 interruption" : `${interruptions.length} interruptions`;
  const node = worst && worst[1] > 1 ? `; most on ${worst[0]} (${worst[1]})` : "";
  return `${of}, ${(lost / 3600).toFixed(1)} host-hours lost${node}.`;
}

/** What an interruption cost: host time, and after how long the slice was back, and where. @param {HistoryRecord} record */
export function costText(record) {
  const lost = record.lostHostSeconds > 0 ? secondsText(record.lostHostSeconds) : "";
  const back = record.backAfterSeconds >= 0 ? secondsText(record.backAfterSeconds) : "";
  const where = back && record.backOn ? (record.backOn === record.pool ? ", same pool" : ` on ${record.backOn}`) : "";
  return { lost, back: back + where };
}

export const kTimelineHours = 24;

/**
 * One lane: what is known of a slice or pool within the time shown.
 * @param {string} key
 * @param {string} title
 * @param {HistoryRecord[]} records In order of time.
 * @param {{state: string, since: string, hosts: number} | undefined} current
 * @param {number} now Seconds.
 * @returns {import("./types.js").Lane}
 */
function makeLane(key, title, records, current, now) {
  const begin = now - kTimelineHours * 3600;
  /** @type {import("./types.js").Segment[]} */
  const segments = [];
  const place = (/** @type {number} */ time) => Math.min(1, Math.max(0, (time - begin) / (now - begin)));
  const add = (/** @type {number} */ from, /** @type {number} */ to, /** @type {string} */ state) => {
    if (to > from && to > begin) segments.push({ from: place(from), to: place(to), state });
  };
  const since = current && current.since ? seconds(current.since) : now;
  let known = -Infinity;
  let away = 0;
  records.forEach((record, index) => {
    const time = seconds(record.time);
    const next = index + 1 < records.length ? seconds(records[index + 1].time) : current ? Math.max(since, time) : now;
    if (current && current.hosts > 0) {
      add(Math.max(known, time - record.lostHostSeconds / current.hosts), time, "Running");
    }
    const back = record.backAfterSeconds >= 0 ? Math.min(next, time + record.backAfterSeconds) : next;
    if (record.what === "Restarted") return;
    add(time, back, "Lost");
    if (record.backAfterSeconds >= 0) add(back, next, "Running");
    away += Math.max(0, Math.min(back, now) - Math.max(time, begin));
    known = next;
  });
  if (current) add(since, now, current.state);
  const marks = records
    .filter((record) => seconds(record.time) >= begin)
    .map((record) => ({ at: place(seconds(record.time)), text: `${record.what}: ${record.why}` }));
  const state = current ? `${current.state} for ${age(current.since, now)}` : "";
  const interrupted =
    marks.length === 0 ? "" : `${marks.length === 1 ? "1 record" : `${marks.length} records`}, away for ${secondsText(away)}`;
  return { key, title, segments, marks, summary: [state, interrupted].filter((each) => each !== "").join("; ") };
}

/**
 * The keys of the lanes that a record belongs to: one without a slice is about all slices of its workload.
 * @param {HistoryRecord} record
 * @param {"slices" | "pools"} of
 * @param {Iterable<string>} known
 */
function lanesOf(record, of, known) {
  if (of === "pools") return record.pool ? [record.pool] : [];
  const workload = `${record.namespace}/${record.kind}/${record.name}/`;
  const slices = record.slice ? [] : [...known].filter((key) => key.startsWith(workload));
  return slices.length > 0 ? slices : [workload + record.slice];
}

/**
 * A lane for each slice, or each pool; those with records first.
 * @param {Fleet} fleet
 * @param {HistoryRecord[]} records
 * @param {Filter} filter
 * @param {"slices" | "pools"} of
 * @returns {import("./types.js").Lane[]}
 */
export function timelineLanes(fleet, records, filter, of) {
  const now = seconds(fleet.time);
  /** @type {Map<string, {title: string, current?: {state: string, since: string, hosts: number}, records: HistoryRecord[]}>} */
  const lanes = new Map();
  if (of === "slices") {
    for (const [key, slice] of byKey(fleet.slices, sliceKey)) {
      if (sliceMatches(slice, filter)) lanes.set(key, { title: `${workloadName(slice)} ${slice.slice}`, current: slice, records: [] });
    }
  } else {
    for (const pool of fleet.pools) {
      if (!poolMatches(pool, filter)) continue;
      lanes.set(pool.name, { title: pool.name, current: { state: pool.state, since: pool.since, hosts: pool.hosts.length }, records: [] });
    }
  }
  for (const { record } of historyRows(records, filter).reverse()) {
    if (seconds(record.time) < now - kTimelineHours * 3600) continue;
    for (const key of lanesOf(record, of, lanes.keys())) {
      const title = of === "slices" ? `${workloadName(record)} ${record.slice}` : record.pool;
      if (!lanes.has(key)) lanes.set(key, { title, records: [] });
      lanes.get(key)?.records.push(record);
    }
  }
  return [...lanes]
    .map(([key, lane]) => makeLane(key, lane.title, lane.records, lane.current, now))
    .sort((a, b) => b.marks.length - a.marks.length || compareNames(a.title, b.title));
}
