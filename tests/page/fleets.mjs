// Fleets for the tests of the page, and for its pictures: a small one with every state, and large ones of any size.

const kNow = "2026-01-01T06:52:10Z";

/** The time so many seconds before that of the fleets. @param {number} seconds */
export function before(seconds) {
  return new Date(Date.parse(kNow) - seconds * 1000).toISOString().replace(".000Z", "Z");
}

const kMinute = 60;
const kHour = 3600;
const kDay = 24 * kHour;

/** @param {string} name @param {string} hosts @param {object} more */
function pool(name, hosts, more) {
  return {
    name,
    topologyKey: "cloud.google.com/gke-nodepool",
    accelerator: "tpu-v6e-slice",
    tpu: "v6e",
    topology: "4x4",
    chips: hosts.length * 4,
    hosts,
    nodes: [...hosts].map((_, index) => `gke-${name}-${index}`),
    state: "InUse",
    since: before(kHour),
    problem: "",
    until: "",
    users: [],
    zone: "us-east5-a",
    capacity: "reservation",
    failures: 0,
    ...more,
  };
}

/** @param {string} namespace @param {string} kind @param {string} name @param {string} slice */
function user(namespace, kind, name, slice, reserved = false) {
  return { namespace, kind, name, slice, reserved };
}

/** @param {string} namespace @param {string} kind @param {string} name @param {string} slice @param {object} more */
function slice(namespace, kind, name, slice, more) {
  return {
    namespace,
    kind,
    name,
    slice,
    accelerator: "tpu-v6e-slice",
    tpu: "v6e",
    topology: "4x4",
    hosts: 4,
    ready: 0,
    state: "Waiting",
    since: before(kMinute),
    pool: "",
    code: "",
    reason: "",
    position: 0,
    behind: [],
    never: false,
    gang: "",
    priority: 0,
    ...more,
  };
}

/** A fleet of nine pools, with hosts and slices in every state. */
export function smallFleet() {
  return {
    schema: "tpuslice.dev/fleet.v1",
    time: kNow,
    cluster: { name: "prod-us-east5", kubernetes: "v1.36.3", operator: "0.1.0", replicas: 2, ready: 2 },
    pools: [
      pool("v6e-4x4-a", "uuuu", { since: before(52 * kMinute), users: [user("ml", "RayJob", "train-a", "v6e-0")], failures: 2 }),
      pool("v6e-4x4-b", "uuul", { since: before(4 * kHour + 37 * kMinute), users: [user("nlp", "JobSet", "eval", "worker-0")], until: "2026-01-01T09:10:00Z" }),
      pool("v6e-4x4-c", "fbff", { since: before(6 * kHour), state: "Broken", problem: "node gke-v6e-4x4-c-1 NotReady" }),
      pool("v6e-4x4-d", "rrrr", { since: before(9 * kMinute), state: "Reserved", users: [user("ml", "JobSet", "big", "big-0", true)], until: "2026-01-01T07:12:00Z" }),
      pool("v6e-4x4-e", "fffc", { since: before(2 * kMinute), state: "Draining", problem: "node gke-v6e-4x4-e-3 cordoned" }),
      pool("v6e-8x8-p", "u".repeat(16), { topology: "8x8", since: before(3 * kDay), users: [user("ml", "JobSet", "llm", "llm-0")] }),
      pool("v6e-16x16-q", "u".repeat(61) + "bbb", { topology: "16x16", since: before(3 * kDay), state: "Broken", problem: "3 nodes NotReady", users: [user("", "", "", "")] }),
      pool("v5e-4x8-a", "uuuuuuuu", { accelerator: "tpu-v5-lite-podslice", tpu: "v5e", topology: "4x8", since: before(14 * kHour), users: [user("default", "JobSet", "sax", "server-0")], capacity: "spot" }),
      pool("v5e-4x8-b", "ffffffff", { accelerator: "tpu-v5-lite-podslice", tpu: "v5e", topology: "4x8", since: before(2 * kHour), state: "Free", capacity: "spot" }),
    ],
    slices: [
      slice("ml", "RayJob", "train-a", "v6e-0", { state: "Placed", since: before(52 * kMinute), pool: "v6e-4x4-a" }),
      slice("nlp", "JobSet", "eval", "worker-0", { state: "Running", ready: 4, since: before(4 * kHour + 37 * kMinute), pool: "v6e-4x4-b" }),
      slice("ml", "JobSet", "llm", "llm-0", { state: "Running", ready: 16, hosts: 16, topology: "8x8", since: before(3 * kDay), pool: "v6e-8x8-p" }),
      slice("default", "JobSet", "sax", "server-0", { state: "Running", accelerator: "tpu-v5-lite-podslice", tpu: "v5e", topology: "4x8", hosts: 8, ready: 8, since: before(14 * kHour), pool: "v5e-4x8-a" }),
      slice("", "", "", "", { state: "Running", topology: "16x16", hosts: 64, ready: 61, since: before(3 * kDay), pool: "v6e-16x16-q" }),
      slice("ml", "JobSet", "big", "big-1", { since: before(9 * kMinute), position: 1, code: "GangIncomplete", reason: "1 of 2 slices of the gang has a node pool; v6e-4x4-d is reserved until 07:12", gang: "big" }),
      slice("default", "RayCluster", "third", "tpu-0", { since: before(41 * kMinute), position: 2, code: "NodesInUse", reason: "5 node pools match tpu-v6e-slice 4x4: v6e-4x4-a runs ml/train-a; v6e-4x4-b runs nlp/eval; v6e-4x4-d is reserved for ml/big; v6e-4x4-c has 3 of 4 nodes Ready; v6e-4x4-e has 3 of 4 nodes schedulable", behind: ["ml/jobset/big"] }),
      slice("nlp", "Job", "sweep-17", "sweep-0", { since: before(38 * kMinute), position: 3, code: "QueuedBehind", reason: "2 slices come first", behind: ["ml/jobset/big", "default/raycluster/third"] }),
      slice("nlp", "StatefulSet", "serve", "serve-0", { accelerator: "tpu-v5-lite-podslice", tpu: "v5e", since: before(3 * kHour), code: "NoMatchingNodes", reason: "no node pool of tpu-v5-lite-podslice 4x4; the cluster has 4x8 (2 pools)", never: true }),
    ],
    attention: [
      { about: "pool/v6e-4x4-c", text: "node gke-v6e-4x4-c-1 NotReady for 6h: 16 chips idle", command: "kubectl tpu explain pool/v6e-4x4-c" },
      { about: "rayjob/train-a", text: "slice v6e-0 is placed, 0 of 4 hosts Ready for 52m", command: "kubectl tpu explain rayjob/train-a -n ml" },
    ],
  };
}

/** Interruptions of the small fleet. */
export function smallHistory() {
  const record = (/** @type {object} */ more) => ({
    namespace: "ml", kind: "RayJob", name: "train-a", slice: "v6e-0", what: "TornDown", code: "", host: "", container: "",
    exitCode: "", node: "", pool: "v6e-4x4-a", lostHostSeconds: 0, backAfterSeconds: -1, backOn: "", ...more,
  });
  return {
    records: [
      record({ time: before(4 * kHour + 38 * kMinute), namespace: "nlp", kind: "JobSet", name: "eval", slice: "worker-0", code: "NodeNotReady", why: "node gke-v6e-4x4-c-1 NotReady for 5 min", node: "gke-v6e-4x4-c-1", pool: "v6e-4x4-c", lostHostSeconds: 4 * 11220, backAfterSeconds: 41, backOn: "v6e-4x4-b" }),
      record({ time: before(3 * kHour + 12 * kMinute), code: "HostFailed", why: "host 2: ray-worker exited 137 (OOMKilled)", host: "2", container: "ray-worker", exitCode: "137", node: "gke-v6e-4x4-a-2", lostHostSeconds: 4 * 1320, backAfterSeconds: 8, backOn: "v6e-4x4-a" }),
      record({ time: before(54 * kMinute), code: "HostFailed", why: "host 2: ray-worker exited 137 (OOMKilled)", host: "2", container: "ray-worker", exitCode: "137", node: "gke-v6e-4x4-a-2", lostHostSeconds: 4 * 8280, backAfterSeconds: 9, backOn: "v6e-4x4-a" }),
      record({ time: before(52 * kMinute), slice: "", what: "Restarted", code: "AppFailed", why: "attempt 2", pool: "" }),
    ],
  };
}

/**
 * A fleet of `pools` pools of ten nodes, `running` slices in them, and `waiting` more in the queue.
 * @param {{pools: number, running: number, waiting: number}} size
 */
export function largeFleet({ pools, running, waiting }) {
  const shapes = [["v6e", "tpu-v6e-slice", "4x4", 4], ["v6e", "tpu-v6e-slice", "8x8", 16], ["v5p", "tpu-v5p-slice", "2x4x5", 10], ["v5e", "tpu-v5-lite-podslice", "4x8", 8], ["v5p", "tpu-v5p-slice", "4x4x3", 12]];
  const fleet = smallFleet();
  fleet.attention = [];
  fleet.pools = [];
  fleet.slices = [];
  for (let index = 0; index < pools; ++index) {
    const [tpu, accelerator, topology, hosts] = /** @type {[string, string, string, number]} */ (shapes[index % shapes.length]);
    const used = index < Math.min(pools, running);
    const namespace = `team-${index % 40}`;
    const users = used ? [user(namespace, "JobSet", `train-${index}`, "worker-0")] : [];
    const name = `${tpu}-${topology}-${index}`;
    const broken = index % 97 === 0;
    fleet.pools.push(
      pool(name, (used ? "u" : "f").repeat(hosts - 1) + (broken ? "b" : used ? "u" : "f"), {
        tpu, accelerator, topology, users, state: broken ? "Broken" : used ? "InUse" : "Free",
        problem: broken ? `node gke-${name}-${hosts - 1} NotReady` : "",
      }),
    );
  }
  for (let index = 0; index < running + waiting; ++index) {
    const [tpu, accelerator, topology, hosts] = /** @type {[string, string, string, number]} */ (shapes[index % shapes.length]);
    const waits = index >= running;
    fleet.slices.push(
      slice(`team-${index % 40}`, "JobSet", `train-${index}`, "worker-0", {
        tpu, accelerator, topology, hosts,
        ...(waits
          ? { position: index - running + 1, code: "NodesInUse", reason: "300 node pools match, none is free", behind: [`team-1/jobset/train-${index - 1}`] }
          : { state: "Running", ready: hosts, pool: index < pools ? fleet.pools[index].name : "" }),
      }),
    );
  }
  return fleet;
}

/** Nodes as `kubectl get nodes -o json` prints them: pools of four hosts of v6e 4x4. @param {string[]} pools */
export function nodeList(pools) {
  const labels = (/** @type {string} */ pool) => ({
    "cloud.google.com/gke-nodepool": pool,
    "cloud.google.com/gke-tpu-accelerator": "tpu-v6e-slice",
    "cloud.google.com/gke-tpu-topology": "4x4",
  });
  const node = (/** @type {string} */ pool, /** @type {number} */ index) => ({
    apiVersion: "v1",
    kind: "Node",
    metadata: { name: `${pool}-${index}`, uid: `${pool}-${index}`, resourceVersion: "1", labels: labels(pool) },
    spec: {},
    status: {
      allocatable: { "google.com/tpu": "4", cpu: "180", memory: "700Gi", pods: "110" },
      conditions: [{ type: "Ready", status: "True", lastTransitionTime: before(kHour) }],
    },
  });
  return { apiVersion: "v1", kind: "List", items: pools.flatMap((pool) => [0, 1, 2, 3].map((index) => node(pool, index))) };
}
