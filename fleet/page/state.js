// What the page shows, kept in the fragment of its URL, so that a link, or Reload, shows the same.

/** @typedef {"fleet" | "queue" | "timeline" | "history"} Tab */

/** @type {Tab[]} */
export const kTabs = ["fleet", "queue", "timeline", "history"];

/** @type {Readonly<import("./types.js").Filter>} */
export const kNoFilter = { text: "", namespace: "", tpu: "", state: "" };

/**
 * @typedef {object} View
 * @property {Tab} tab
 * @property {import("./types.js").Filter} filter
 * @property {string} selected "pool:KEY", "slice:KEY", "record:KEY"; "" for none.
 * @property {"slices" | "pools"} lanes
 * @property {string[]} drained Pools of the simulation, by name.
 */

/** @param {string} hash "#tab=queue&ns=ml" @returns {View} */
export function readView(hash) {
  const values = new URLSearchParams(hash.replace(/^#/, ""));
  const tab = kTabs.find((each) => each === values.get("tab")) ?? "fleet";
  return {
    tab,
    filter: {
      text: values.get("filter") ?? "",
      namespace: values.get("ns") ?? "",
      tpu: values.get("tpu") ?? "",
      state: values.get("state") ?? "",
    },
    selected: values.get("selected") ?? "",
    lanes: values.get("lanes") === "pools" ? "pools" : "slices",
    drained: values.getAll("drain"),
  };
}

/** @param {View} view @returns {string} Without "#"; "" for what is shown by default. */
export function writeView(view) {
  const values = new URLSearchParams();
  if (view.tab !== "fleet") values.set("tab", view.tab);
  if (view.filter.text) values.set("filter", view.filter.text);
  if (view.filter.namespace) values.set("ns", view.filter.namespace);
  if (view.filter.tpu) values.set("tpu", view.filter.tpu);
  if (view.filter.state) values.set("state", view.filter.state);
  if (view.selected) values.set("selected", view.selected);
  if (view.lanes !== "slices") values.set("lanes", view.lanes);
  for (const pool of view.drained) values.append("drain", pool);
  return values.toString();
}

/** The token in the fragment of the address that the program prints; "" without. @param {string} hash */
export function readToken(hash) {
  return new URLSearchParams(hash.replace(/^#/, "")).get("token") ?? "";
}
