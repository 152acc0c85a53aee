// The commands that the page offers to copy. Pure functions.

/** @typedef {{label: string, command: string}} Command */

/** A word of a shell, quoted where it has to be. @param {string} word */
export function shellWord(word) {
  return /^[A-Za-z0-9_./:=@%+,-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}

/** @param {string[]} words */
function join(words) {
  return words.map(shellWord).join(" ");
}

/** @param {string} tpu "kubectl tpu" @param {import("./types.js").Pool} pool @returns {Command[]} */
export function poolCommands(tpu, pool) {
  const commands = [
    { label: "explain", command: `${tpu} ${join(["explain", `pool/${pool.name}`])}` },
    { label: "what a drain would do", command: `${tpu} ${join(["what-if", "drain", `pool/${pool.name}`])}` },
  ];
  if (pool.topologyKey) {
    commands.push({ label: "its nodes", command: join(["kubectl", "get", "nodes", "-l", `${pool.topologyKey}=${pool.name}`]) });
  }
  return commands;
}

/** @param {{namespace: string, kind: string, name: string}} of */
function reference(of) {
  return [`${of.kind.toLowerCase()}/${of.name}`, ...(of.namespace ? ["-n", of.namespace] : [])];
}

/** @param {string} tpu @param {import("./types.js").Slice} slice @returns {Command[]} */
export function sliceCommands(tpu, slice) {
  if (!slice.name) return [];
  const of = reference(slice);
  const commands = [{ label: "explain", command: `${tpu} ${join(["explain", ...of])}` }];
  if (slice.state !== "Waiting") {
    commands.push({ label: "hosts", command: `${tpu} ${join(["hosts", ...of])}` });
    commands.push({ label: "logs", command: `${tpu} ${join(["logs", ...of])}` });
  }
  commands.push({ label: "the object", command: `kubectl ${join(["get", ...of, "-o", "yaml"])}` });
  return commands;
}

/** @param {string} tpu @param {import("./types.js").HistoryRecord} record @returns {Command[]} */
export function recordCommands(tpu, record) {
  const commands = [];
  if (record.name) commands.push({ label: "explain", command: `${tpu} ${join(["explain", ...reference(record)])}` });
  commands.push({ label: "the same as text", command: `${tpu} history --since 24h` });
  if (record.node) commands.push({ label: "its node", command: join(["kubectl", "describe", "node", record.node]) });
  return commands;
}

/** @param {string} tpu @param {import("./types.js").User} user */
export function userCommand(tpu, user) {
  return user.name ? `${tpu} ${join(["explain", ...reference(user)])}` : "";
}

/** The node pool of a first slice, for a cluster without TPUs. */
export const kNodePoolCommand =
  "gcloud container node-pools create v6e-4x4 --cluster CLUSTER --location ZONE --machine-type ct6e-standard-4t --tpu-topology 4x4 --num-nodes 4";

/** For a cluster without the operator. */
export const kInstallCommand = "kubectl apply --server-side -f deploy/install.yaml";

/** @param {string} tpu @param {string[]} pools Names. */
export function drainCommand(tpu, pools) {
  return `${tpu} ${join(["what-if", ...pools.flatMap((name) => ["drain", `pool/${name}`])])}`;
}
