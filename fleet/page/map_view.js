// The map: a row for each pool, a square for each host.
import { byId, el } from "./dom.js";
import { countHosts, hostsText, kHostStates, kPoolStates, usersText } from "./model.js";
import { age, shortTime } from "./time.js";
import { VirtualRows } from "./virtual_rows.js";

/** @typedef {import("./types.js").MapRow} MapRow */
/** @typedef {import("./types.js").Pool} Pool */

/** Pools with more hosts are drawn as a square for each state, with a count. */
export const kMaxSquares = 32;

/** What a host is called: "host 2, node n-2: in use by ml/rayjob/train-a". @param {Pool} pool @param {number} index */
export function hostTitle(pool, index) {
  const node = pool.nodes[index] ? `, node ${pool.nodes[index]}` : "";
  const state = pool.hosts[index] ?? "";
  const user = state === "u" || state === "r" ? usersText(pool) : "";
  const by = user ? (state === "u" ? ` by ${user}, worker ${index}` : ` for ${user}`) : "";
  return `host ${index}${node}: ${kHostStates[state] ?? "unknown"}${by}`;
}

/** @param {Pool} pool @param {number} [limit] */
export function hostSquares(pool, limit = kMaxSquares) {
  const squares = el("span", { class: "hosts" });
  if (pool.hosts.length > limit) {
    const counts = countHosts(pool.hosts);
    for (const state of Object.keys(kHostStates)) {
      if (!counts.has(state)) continue;
      squares.append(
        el("span", { class: `host host-${state}`, "aria-hidden": "true" }),
        el("span", { class: "share", "aria-hidden": "true" }, `${counts.get(state)} ${kHostStates[state]}`),
      );
    }
    return squares;
  }
  for (let index = 0; index < pool.hosts.length; ++index) {
    const title = hostTitle(pool, index);
    squares.append(
      el("span", { class: `host host-${pool.hosts[index]}`, role: "img", "aria-label": title, title, tabindex: -1, "data-stop": true }),
    );
  }
  return squares;
}

/** What comes next for a pool. @param {Pool} pool @param {number} now */
function nextText(pool, now) {
  if (pool.problem) return pool.problem;
  return pool.until ? `until ${shortTime(pool.until, now)}` : "";
}

export class MapView {
  /**
   * @param {object} options
   * @param {(pool: Pool) => void} options.open
   * @param {(pool: Pool) => void} options.activate
   */
  constructor(options) {
    this.now = 0;
    this.selected = "";
    /** @type {Map<string, string> | null} Pools that the selected slice could use; the others are grey. */
    this.lit = null;
    /** @type {Set<string>} Names of pools that are drained in the simulation. */
    this.drained = new Set();
    /** @type {Map<string, Pool>} */
    this.before = new Map();
    /** @type {VirtualRows<MapRow>} */
    this.list = new VirtualRows({
      scroller: byId("map-scroller"),
      table: /** @type {HTMLTableElement} */ (byId("map")),
      columns: 6,
      value: (row) => (row.type === "pool" ? row.pool : `${row.title} ${row.counts} ${row.chips}`),
      render: (row, tr) => this.render(row, tr),
      selectable: (row) => row.type === "pool",
      open: (row) => row.type === "pool" && options.open(row.pool),
      activate: (row) => row.type === "pool" && options.activate(row.pool),
    });
  }

  /** @param {MapRow[]} rows @param {number} now @param {boolean} marks Whether pools that changed are marked. */
  show(rows, now, marks) {
    this.now = now;
    this.marks = marks;
    this.list.setRows(rows);
    this.before = new Map(rows.flatMap((row) => (row.type === "pool" ? [[row.key, row.pool]] : [])));
  }

  /** @param {MapRow} row @param {HTMLTableRowElement} tr */
  render(row, tr) {
    if (row.type === "group") {
      tr.className = "group";
      tr.removeAttribute("aria-selected");
      tr.append(
        el("th", { role: "rowheader", scope: "rowgroup" }, row.title),
        el("td", { role: "gridcell", colspan: 4 }, row.counts),
        el("td", { role: "gridcell", class: "quiet" }, row.chips),
      );
      return;
    }
    const { pool } = row;
    const lit = this.lit?.get(row.key);
    const classes = [];
    if (this.lit) classes.push(lit ? "lit" : "grey");
    if (this.marks && this.before.has(row.key) && this.before.get(row.key) !== pool) classes.push("changed");
    tr.className = classes.join(" ");
    tr.setAttribute("aria-selected", String(row.key === this.selected));
    const state = this.drained.has(pool.name) ? "drained (simulated)" : (kPoolStates[pool.state] ?? pool.state);
    const hosts = el("td", { role: "gridcell" }, hostSquares(pool), el("span", { class: "hidden" }, hostsText(pool.hosts)));
    const used = usersText(pool);
    const next = nextText(pool, this.now);
    tr.append(
      el("th", { role: "rowheader", scope: "row", title: pool.name }, pool.name),
      hosts,
      el("td", { role: "gridcell", class: pool.state === "Broken" ? "grave" : "" }, state, ...(lit ? [el("span", { class: "hidden" }, ", could be used")] : [])),
      el("td", { role: "gridcell", title: used, class: used ? "" : "wide" }, used),
      el("td", { role: "gridcell", class: "quiet wide" }, age(pool.since, this.now)),
      el("td", { role: "gridcell", class: next ? "" : "wide", title: next }, next),
    );
  }
}
