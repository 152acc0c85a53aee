// The fleet as data: reading the JSON, differences, keys, filters, groups. Pure functions; nothing here knows the DOM.

/** @typedef {import("./types.js").Fleet} Fleet */
/** @typedef {import("./types.js").Pool} Pool */
/** @typedef {import("./types.js").Slice} Slice */
/** @typedef {import("./types.js").Filter} Filter */

export const kSchema = "tpuslice.dev/fleet.v1";

/** States of a host, by the character that stands for it. */
export const kHostStates = /** @type {Record<string, string>} */ ({
  u: "in use",
  f: "free",
  r: "reserved",
  b: "broken",
  c: "cordoned",
  l: "lost soon",
  m: "missing",
});

/** Hosts of a pool that are drawn as missing. */
const kMaxMissing = 1024;

/** Words for the states of a pool. */
export const kPoolStates = /** @type {Record<string, string>} */ ({
  InUse: "in use",
  Free: "free",
  Reserved: "reserved",
  Broken: "broken",
  Draining: "draining",
  Partial: "partly in use",
});

/** @param {any} value @param {string} [otherwise] */
function text(value, otherwise = "") {
  return typeof value === "string" ? value : typeof value === "number" ? String(value) : otherwise;
}

/** @param {any} value */
function number(value, otherwise = 0) {
  return typeof value === "number" && Number.isFinite(value) ? value : otherwise;
}

/** @param {any} value @returns {any[]} */
function list(value) {
  return Array.isArray(value) ? value : [];
}

/** @param {any} json @returns {Pool} */
export function readPool(json) {
  const hosts = text(json?.hosts);
  return {
    name: text(json?.name),
    topologyKey: text(json?.topologyKey),
    accelerator: text(json?.accelerator),
    tpu: text(json?.tpu),
    topology: text(json?.topology),
    chips: number(json?.chips),
    hosts: hosts.padEnd(Math.min(number(json?.wantedHosts), hosts.length + kMaxMissing), "m"),
    nodes: list(json?.nodes).map((each) => text(each)),
    state: text(json?.state),
    since: text(json?.since),
    problem: text(json?.problem),
    until: text(json?.until),
    users: list(json?.users).map((each) => ({
      namespace: text(each?.namespace),
      kind: text(each?.kind),
      name: text(each?.name),
      slice: text(each?.slice),
      reserved: each?.reserved === true,
    })),
    zone: text(json?.zone),
    capacity: text(json?.capacity),
    failures: number(json?.failures),
  };
}

/** @param {any} json @returns {Slice} */
export function readSlice(json) {
  return {
    namespace: text(json?.namespace),
    kind: text(json?.kind),
    name: text(json?.name),
    slice: text(json?.slice),
    accelerator: text(json?.accelerator),
    tpu: text(json?.tpu),
    topology: text(json?.topology),
    hosts: number(json?.hosts),
    ready: number(json?.ready),
    state: text(json?.state),
    since: text(json?.since),
    pool: text(json?.pool),
    code: text(json?.code),
    reason: text(json?.reason),
    position: number(json?.position),
    behind: list(json?.behind).map((each) => text(each)),
    never: json?.never === true,
    problem: text(json?.problem),
    gang: text(json?.gang),
    priority: number(json?.priority),
  };
}

/** @param {any} json */
function readCluster(json) {
  return {
    name: text(json?.name),
    kubernetes: text(json?.kubernetes),
    operator: text(json?.operator),
    replicas: number(json?.replicas),
    ready: number(json?.ready),
  };
}

/** @param {any} json */
function readAttention(json) {
  return list(json).map((each) => ({
    about: text(each?.about),
    text: text(each?.text),
    command: text(each?.command),
  }));
}

/** @param {any} json */
function readMissing(json) {
  return list(json).map((each) => ({ resource: text(each?.resource), namespace: text(each?.namespace) }));
}

/**
 * The fleet of a document. Members that are missing or of another type are empty.
 * @param {any} json
 * @returns {Fleet} Its pools are in order.
 * @throws {Error} if it is a document of another schema.
 */
export function readFleet(json) {
  if (json?.schema !== kSchema) throw new Error(`schema is "${text(json?.schema)}", not ${kSchema}`);
  return {
    time: text(json.time),
    cluster: readCluster(json.cluster),
    pools: list(json.pools).map(readPool).sort(comparePools),
    slices: list(json.slices).map(readSlice),
    attention: readAttention(json.attention),
    missing: readMissing(json.missing),
  };
}

/** @param {any} json @returns {import("./types.js").HistoryRecord[]} */
export function readHistory(json) {
  return list(json?.records ?? json).map((each) => ({
    time: text(each?.time),
    namespace: text(each?.namespace),
    kind: text(each?.kind),
    name: text(each?.name),
    slice: text(each?.slice),
    what: text(each?.what),
    code: text(each?.code),
    why: text(each?.why),
    host: text(each?.host),
    container: text(each?.container),
    exitCode: text(each?.exitCode),
    node: text(each?.node),
    pool: text(each?.pool),
    lostHostSeconds: number(each?.lostHostSeconds),
    backAfterSeconds: number(each?.backAfterSeconds, -1),
    backOn: text(each?.backOn),
  }));
}

/** @param {any} json @returns {import("./types.js").WorkloadObject} */
export function readObject(json) {
  return {
    conditions: list(json?.conditions).map((each) => ({ type: text(each?.type), status: text(each?.status), reason: text(each?.reason), message: text(each?.message), since: text(each?.since) })),
    events: list(json?.events).map((each) => ({ time: text(each?.time), type: text(each?.type), reason: text(each?.reason), message: text(each?.message), count: number(each?.count, 1) })),
    eventsProblem: text(json?.eventsProblem),
    yaml: text(json?.yaml),
  };
}

/** @param {Pool} pool */
export function poolKey(pool) {
  return `${pool.topologyKey}|${pool.name}`;
}

/** @param {Slice} slice */
export function sliceKey(slice) {
  return `${slice.namespace}/${slice.kind}/${slice.name}/${slice.slice}`;
}

/**
 * The items by key. A second item of the same key gets "#2" behind it: those of other namespaces can be alike, as their
 * names are left out. The server numbers them in the same way.
 * @template T
 * @param {T[]} items
 * @param {(item: T) => string} keyOf
 * @returns {Map<string, T>}
 */
export function byKey(items, keyOf) {
  const found = new Map();
  /** @type {Map<string, number>} */
  const seen = new Map();
  for (const item of items) {
    const key = keyOf(item);
    const count = (seen.get(key) ?? 0) + 1;
    seen.set(key, count);
    found.set(count === 1 ? key : `${key}#${count}`, item);
  }
  return found;
}

/**
 * @template T
 * @param {T[]} items
 * @param {(item: T) => string} keyOf
 * @param {(json: any) => T} read
 * @param {{set?: Record<string, any>, removed?: string[]} | undefined} change
 * @returns {T[]}
 */
function changed(items, keyOf, read, change) {
  if (!change) return items;
  const all = byKey(items, keyOf);
  for (const key of change.removed ?? []) all.delete(key);
  for (const [key, json] of Object.entries(change.set ?? {})) all.set(key, read(json));
  return [...all.values()];
}

/** By TPU and topology, then by name. @param {Pool} a @param {Pool} b */
function comparePools(a, b) {
  return compareNames(shapeName(a), shapeName(b)) || compareNames(a.name, b.name);
}

/** Pools in their order, which only another pool changes: to sort 1,500 takes longer than to draw them. @param {Pool[]} before @param {Pool[]} now */
function inOrder(before, now) {
  return now.every((pool, index) => pool.name === before[index]?.name && pool.topology === before[index]?.topology)
    ? now
    : now.sort(comparePools);
}

/**
 * The fleet after a difference; objects that are not in it are the same ones.
 * @param {Fleet} fleet
 * @param {import("./types.js").Diff} diff
 * @returns {Fleet}
 */
export function applyDiff(fleet, diff) {
  return {
    time: diff.time ?? fleet.time,
    cluster: "cluster" in diff ? readCluster(diff.cluster) : fleet.cluster,
    pools: diff.pools ? inOrder(fleet.pools, changed(fleet.pools, poolKey, readPool, diff.pools)) : fleet.pools,
    slices: changed(fleet.slices, sliceKey, readSlice, diff.slices),
    attention: "attention" in diff ? readAttention(diff.attention) : fleet.attention,
    missing: "missing" in diff ? readMissing(diff.missing) : fleet.missing,
  };
}

/**
 * `next`, but with the objects of `fleet` that are equal, so that only those that changed are drawn again.
 * @param {Fleet | null} fleet
 * @param {Fleet} next
 * @returns {Fleet}
 */
export function keepEqual(fleet, next) {
  if (!fleet) return next;
  return { ...next, pools: keepEqualItems(fleet.pools, next.pools, poolKey), slices: keepEqualItems(fleet.slices, next.slices, sliceKey) };
}

/**
 * @template T
 * @param {T[]} before
 * @param {T[]} next
 * @param {(item: T) => string} keyOf
 */
function keepEqualItems(before, next, keyOf) {
  const known = byKey(before, keyOf);
  return [...byKey(next, keyOf)].map(([key, item]) => {
    const old = known.get(key);
    return old && JSON.stringify(old) === JSON.stringify(item) ? old : item;
  });
}

/** "ml/rayjob/train-a"; "another namespace" if it may not be seen. @param {{namespace: string, kind: string, name: string}} of */
export function workloadName(of) {
  if (!of.name) return "another namespace";
  return [of.namespace, of.kind.toLowerCase(), of.name].filter((each) => each !== "").join("/");
}

/** "v6e 4x4" @param {{tpu: string, accelerator: string, topology: string}} of */
export function shapeName(of) {
  return `${of.tpu || of.accelerator} ${of.topology}`.trim();
}

/** Who uses a pool, in one line. @param {Pool} pool */
export function usersText(pool) {
  if (pool.users.length === 0) return "";
  const first = pool.users[0];
  const slice = first.slice ? ` ${first.slice}` : "";
  const more = pool.users.length > 1 ? ` and ${pool.users.length - 1} more` : "";
  return `${workloadName(first)}${slice}${first.reserved ? " (reserved)" : ""}${more}`;
}

/** The number of hosts in each state. @param {string} hosts @returns {Map<string, number>} */
export function countHosts(hosts) {
  const counts = new Map();
  for (const state of hosts) counts.set(state, (counts.get(state) ?? 0) + 1);
  return counts;
}

/** "4 in use", "3 in use, 1 broken". @param {string} hosts */
export function hostsText(hosts) {
  const counts = countHosts(hosts);
  return Object.keys(kHostStates)
    .filter((state) => counts.has(state))
    .map((state) => `${counts.get(state)} ${kHostStates[state]}`)
    .join(", ");
}

/** @param {Pool} pool */
export function chipsInUse(pool) {
  const hosts = pool.hosts.length;
  return hosts === 0 ? 0 : Math.round((pool.chips * (countHosts(pool.hosts).get("u") ?? 0)) / hosts);
}

/** Order of names: "pool-2" before "pool-10". */
const kNames = new Intl.Collator("en", { numeric: true });

/** @param {string} a @param {string} b */
export function compareNames(a, b) {
  return kNames.compare(a, b);
}

/** @param {string} haystack @param {string} needle Words, of which each must occur. */
function contains(haystack, needle) {
  const lower = haystack.toLowerCase();
  return needle
    .toLowerCase()
    .split(/\s+/)
    .every((word) => lower.includes(word));
}

/** @param {Pool} pool @param {Filter} filter */
export function poolMatches(pool, filter) {
  if (filter.tpu && shapeName(pool) !== filter.tpu) return false;
  if (filter.state && pool.state !== filter.state) return false;
  if (filter.namespace && !pool.users.some((user) => user.namespace === filter.namespace)) return false;
  if (!filter.text) return true;
  const users = pool.users.map((user) => `${workloadName(user)} ${user.slice}`).join(" ");
  return contains(
    `${pool.name} ${shapeName(pool)} ${pool.accelerator} ${pool.zone} ${pool.capacity} ${pool.problem} ${users} ${pool.nodes.join(" ")}`,
    filter.text,
  );
}

/** @param {Slice} slice @param {Filter} filter */
export function sliceMatches(slice, filter) {
  if (filter.tpu && shapeName(slice) !== filter.tpu) return false;
  if (filter.namespace && slice.namespace !== filter.namespace) return false;
  return (
    !filter.text ||
    contains(`${workloadName(slice)} ${slice.slice} ${shapeName(slice)} ${slice.pool} ${slice.code} ${slice.reason}`, filter.text)
  );
}

/** The values that filters can have. @param {Fleet} fleet */
export function filterValues(fleet) {
  const namespaces = new Set();
  const tpus = new Set();
  const states = new Set();
  for (const pool of fleet.pools) {
    tpus.add(shapeName(pool));
    states.add(pool.state);
    for (const user of pool.users) if (user.namespace) namespaces.add(user.namespace);
  }
  for (const slice of fleet.slices) {
    tpus.add(shapeName(slice));
    if (slice.namespace) namespaces.add(slice.namespace);
  }
  const sorted = (/** @type {Set<string>} */ values) => [...values].filter((each) => each !== "").sort(compareNames);
  return { namespaces: sorted(namespaces), tpus: sorted(tpus), states: sorted(states) };
}

/** Totals of the head line. @param {Fleet} fleet */
export function totals(fleet) {
  let chips = 0;
  let inUse = 0;
  for (const pool of fleet.pools) {
    chips += pool.chips;
    inUse += chipsInUse(pool);
  }
  const waiting = fleet.slices.filter((slice) => slice.state === "Waiting").length;
  return { pools: fleet.pools.length, chips, inUse, waiting };
}
