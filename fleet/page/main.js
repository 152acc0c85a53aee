// The page: what it shows, and what keys and clicks do.
import { poolCommands, recordCommands, sliceCommands } from "./commands.js";
import { drawDetail } from "./detail_view.js";
import { byId, copyText, el, setText } from "./dom.js";
import { drawHead, inputById, selectById, wireFilters } from "./head_view.js";
import { drawHostLegend, drawLaneLegend } from "./legend.js";
import { HistoryView, QueueView, TimelineView } from "./lists.js";
import { MapView } from "./map_view.js";
import { applyDiff, keepEqual, poolKey, shapeName, workloadName } from "./model.js";
import { drawAttention, drawEmptyHistory, drawEmptyMap, drawEmptyQueue, drawMissing, drawProblem, drawSimulation, newAttention } from "./notices.js";
import { historyRows, historySummary, mapRows, poolsFor, poolsForText, queueRows, timelineLanes } from "./rows.js";
import { detailOf, selectedKey, selectionOfLane } from "./selection.js";
import { beginSession, exported, follow, loadConfig, loadFleet, loadHistory, loadWhatIf, NoSession } from "./source.js";
import { kNoFilter, kTabs, readToken, readView, writeView } from "./state.js";
import { wireTheme } from "./theme.js";
import { clockText, seconds } from "./time.js";

/** @typedef {import("./types.js").Fleet} Fleet */
/** @typedef {import("./state.js").Tab} Tab */

/** @type {Fleet | null} */
let live = null;
/** @type {import("./types.js").HistoryRecord[]} */
let records = [];
let historyKnown = false;
/** @type {import("./types.js").Config} */
let config = { live: false, history: false, whatIf: false, object: false, command: "kubectl tpu" };
/** @type {{fleet: Fleet | null, lines: string[], failed: string} | null} */
let simulation = null;
/** It leaves the URL, and so the browser's history, when the view is saved. */
const token = readToken(location.hash);
let view = readView(location.hash);
let minute = -1;
/** @type {HTMLElement | null} Where the focus goes back to when the details are closed. */
let opener = null;

const map = new MapView({ open: (pool) => openPool(pool), activate: () => {} });
const queue = new QueueView({ open: (row) => open(`slice:${row.key}`), activate: (row) => light(row.key) });
const timeline = new TimelineView({ open: (lane) => open(selectionOfLane(view.lanes, lane.key)), activate: () => {} });
const history = new HistoryView({ open: (row) => open(`record:${row.key}`), activate: () => {} });

/** The fleet that is drawn: the simulated one while there is one. */
function fleet() {
  return simulation?.fleet ?? live;
}

/** @param {string} command */
async function copy(command) {
  const done = await copyText(command, null);
  const text = done ? `copied: ${command}` : `not copied, the browser refuses: ${command}`;
  document.getElementById("toast")?.remove();
  const toast = el("div", { id: "toast", "aria-hidden": "true" }, text);
  document.body.append(toast);
  setText(byId("announcer"), text);
  setTimeout(() => toast.remove(), 2500);
}

/** Keeps what is shown in the URL. */
function save() {
  const text = writeView(view);
  window.history.replaceState(null, "", text ? `#${text}` : "#");
}

/** @param {Tab} tab @param {boolean} [focus] */
function showTab(tab, focus = false) {
  view.tab = tab;
  for (const each of kTabs) {
    const button = byId(`tab-${each}`);
    button.setAttribute("aria-selected", String(each === tab));
    button.tabIndex = each === tab ? 0 : -1;
    byId(`panel-${each}`).hidden = each !== tab;
    if (focus && each === tab) button.focus();
  }
  placeMap(tab);
  if ((tab === "history" || tab === "timeline") && config.history) void readHistoryAgain();
  save();
  draw();
}

/** The map stands in its tab, and below the queue for the slice that is selected there. @param {Tab} tab */
function placeMap(tab) {
  const scroller = byId("map-scroller");
  const place = tab === "queue" ? byId("lit-place") : byId("panel-fleet");
  if (scroller.parentElement === place) return;
  if (tab === "queue") place.append(scroller);
  else place.insertBefore(scroller, byId("map-empty"));
}

async function readHistoryAgain() {
  try {
    records = await loadHistory();
    historyKnown = true;
  } catch {
    historyKnown = false;
  }
  draw();
}

/** Draws what the tab shows. */
function draw() {
  const now = fleet();
  if (!now) return;
  const time = seconds(now.time);
  drawHead(now, view.filter, simulation?.fleet ? "simulated" : config.live ? "live" : "as of");
  const changedMinute = Math.floor(time / 60) !== minute;
  minute = Math.floor(time / 60);
  const filter = view.filter;
  if (view.tab === "fleet") drawMap(now, time, filter);
  if (view.tab === "queue") drawQueue(now, time);
  if (view.tab === "timeline") {
    const lanes = timelineLanes(now, records, filter, view.lanes);
    drawEmptyHistory("timeline", lanes.length === 0, true, filter.text !== "" || filter.namespace !== "");
    timeline.show(lanes, view.lanes === "pools" ? "Node pool" : "Slice");
  }
  if (view.tab === "history") {
    const rows = historyRows(records, filter);
    drawEmptyHistory("history", rows.length === 0, historyKnown, records.length > 0);
    setText(byId("history-summary"), rows.length === 0 ? "" : historySummary(rows.map((row) => row.record)));
    history.show(rows, time);
  }
  if (changedMinute) for (const each of [map, queue, history]) each.list.refresh();
  drawSelected(now);
}

/** @param {Fleet} now @param {number} time @param {import("./types.js").Filter} filter */
function drawMap(now, time, filter) {
  setLit(null);
  map.drained = new Set(view.drained);
  const rows = mapRows(now, filter);
  drawEmptyMap(now, rows.length, copy);
  map.show(rows, time, config.live);
}

/** @param {Fleet} now @param {number} time */
function drawQueue(now, time) {
  const rows = queueRows(now, view.filter);
  drawEmptyQueue(now, rows.length, config.command, copy);
  queue.show(rows, time);
  const active = queue.list.activeRow();
  byId("lit").hidden = !active;
  byId("map-scroller").hidden = false;
  if (!active) return;
  const lit = poolsFor(now, active.slice);
  setLit(lit);
  setText(byId("lit-title"), `${workloadName(active.slice)} ${active.slice.slice}: ${poolsForText(lit)}`);
  const all = mapRows(now, kNoFilter);
  const groups = new Set(all.flatMap((row) => (row.type === "pool" && lit.has(row.key) ? [`group ${shapeName(row.pool)}`] : [])));
  // The group with the lit pools first, so that they are in sight.
  const inGroup = (/** @type {import("./types.js").MapRow} */ row) =>
    row.type === "group" ? groups.has(row.key) : lit.has(row.key);
  map.show([...all.filter(inGroup), ...all.filter((row) => !inGroup(row))], time, config.live);
}

/** Pools are marked, or no longer. @param {Map<string, string> | null} lit */
function setLit(lit) {
  const turns = (map.lit === null) !== (lit === null);
  map.lit = lit;
  if (turns) map.list.refresh();
}

/** @param {string} key Of the slice that is active in the queue. */
function light(key) {
  queue.selected = key;
  byId("map-scroller").scrollTop = 0;
  draw();
  queue.list.refresh();
  map.list.refresh();
}

/** @param {Fleet} now */
function drawSelected(now) {
  const shown = detailOf(view.selected, now, records, config.command);
  map.selected = selectedKey(view.selected, "pool");
  history.selected = selectedKey(view.selected, "record");
  byId("detail").hidden = !shown;
  drawDetail(shown, copy, config.object, seconds(now.time));
}

/** Shows details, and moves the focus there. @param {string} selected */
function open(selected) {
  opener = document.activeElement instanceof HTMLElement ? document.activeElement : null;
  view.selected = selected;
  save();
  draw();
  for (const each of [map, history]) each.list.refresh();
  if (!byId("detail").hidden) byId("detail-title").focus();
}

function closeDetail() {
  view.selected = "";
  save();
  draw();
  for (const each of [map, history]) each.list.refresh();
  if (opener?.isConnected) opener.focus();
  else focusRow();
  opener = null;
}

/** @param {import("./types.js").Pool} pool */
function openPool(pool) {
  if (!simulation) return open(`pool:${poolKey(pool)}`);
  view.drained = view.drained.includes(pool.name) ? view.drained.filter((each) => each !== pool.name) : [...view.drained, pool.name];
  save();
  void simulate();
}

async function simulate() {
  const asked = view.drained.join("\n");
  simulation ??= { fleet: null, lines: [], failed: "" };
  if (view.drained.length === 0) {
    simulation = { fleet: null, lines: [], failed: "" };
  } else {
    try {
      const answer = await loadWhatIf(view.drained);
      if (!simulation || asked !== view.drained.join("\n")) return; // Another question was asked meanwhile.
      simulation = { ...answer, failed: "" };
    } catch (problem) {
      if (simulation && asked === view.drained.join("\n")) simulation = { fleet: null, lines: [], failed: problem instanceof Error ? problem.message : String(problem) };
    }
  }
  drawBanner();
  draw();
  map.list.refresh();
}

function drawBanner() {
  byId("what-if-button").setAttribute("aria-pressed", String(simulation !== null));
  drawSimulation(simulation && { ...simulation, drained: view.drained }, config.command, copy, endSimulation);
}

function endSimulation() {
  simulation = null;
  view.drained = [];
  save();
  drawBanner();
  draw();
  map.list.refresh();
  byId("what-if-button").focus();
}

/** @param {Fleet} next */
function take(next) {
  const added = live ? newAttention(live.attention, next.attention) : "";
  const same = live && JSON.stringify(live.attention) === JSON.stringify(next.attention);
  live = next;
  if (!same) drawAttention(next.attention, copy);
  drawMissing(next.missing);
  if (added) setText(byId("announcer"), `needs someone: ${added}`);
  draw();
}

/** The command that `y` copies: that of the details, else of the row with the focus. */
function commandHere() {
  const now = fleet();
  if (!now) return "";
  const inDetail = byId("detail").contains(document.activeElement);
  if (view.selected && inDetail) return detailOf(view.selected, now, records, config.command)?.commands[0]?.command ?? "";
  if (view.tab === "fleet") {
    const row = map.list.activeRow();
    return row?.type === "pool" ? poolCommands(config.command, row.pool)[0].command : "";
  }
  if (view.tab === "queue") {
    const row = queue.list.activeRow();
    return row ? (sliceCommands(config.command, row.slice)[0]?.command ?? "") : "";
  }
  if (view.tab === "history") {
    const row = history.list.activeRow();
    return row ? recordCommands(config.command, row.record)[0].command : "";
  }
  const lane = timeline.list.activeRow();
  const shown = lane ? detailOf(selectionOfLane(view.lanes, lane.key), now, records, config.command) : null;
  return shown?.commands[0]?.command ?? "";
}

/** The focus goes to the active row of the tab. */
function focusRow() {
  ({ fleet: map, queue, timeline, history })[view.tab].list.focusActive();
}

/** @param {KeyboardEvent} event */
function onKey(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
  const help = /** @type {HTMLDialogElement} */ (byId("help"));
  if (help.open) return;
  const target = event.target;
  const types = target instanceof HTMLInputElement || target instanceof HTMLSelectElement;
  if (event.key === "Escape") {
    if (types) focusRow();
    else if (!byId("detail").hidden) closeDetail();
    else if (simulation) endSimulation();
    return;
  }
  if (types) {
    if (event.key === "Enter" && target instanceof HTMLInputElement) focusRow();
    return;
  }
  const tabs = /** @type {Record<string, Tab>} */ ({ f: "fleet", q: "queue", t: "timeline", h: "history" });
  if (tabs[event.key]) {
    showTab(tabs[event.key]);
    focusRow();
  } else if (event.key === "/") {
    byId("filter-text").focus();
  } else if (event.key === "?") {
    help.showModal();
  } else if (event.key === "y") {
    const command = commandHere();
    if (command) void copy(command);
  } else {
    return;
  }
  event.preventDefault();
}

function wireLanes() {
  const lanes = selectById("lanes");
  lanes.value = view.lanes;
  lanes.addEventListener("change", () => {
    view.lanes = lanes.value === "pools" ? "pools" : "slices";
    save();
    draw();
  });
}

function wireTabs() {
  const tabs = byId("tabs");
  tabs.addEventListener("click", (event) => {
    const button = event.target instanceof Element ? event.target.closest("button") : null;
    if (button?.dataset.tab) showTab(/** @type {Tab} */ (button.dataset.tab));
  });
  tabs.addEventListener("keydown", (event) => {
    const step = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? kTabs.length - 1 : 0;
    if (step === 0) return;
    showTab(kTabs[(kTabs.indexOf(view.tab) + step) % kTabs.length], true);
    event.preventDefault();
  });
}

function wire() {
  drawHostLegend(byId("legend"));
  drawLaneLegend(byId("lane-legend"));
  wireFilters(() => view.filter, () => {
    save();
    draw();
  });
  wireLanes();
  wireTabs();
  wireTheme();
  byId("help-button").addEventListener("click", () => /** @type {HTMLDialogElement} */ (byId("help")).showModal());
  byId("detail-close").addEventListener("click", closeDetail);
  byId("what-if-button").addEventListener("click", () => (simulation ? endSimulation() : void simulate()));
  document.addEventListener("keydown", onKey);
  window.addEventListener("hashchange", () => {
    if (readToken(location.hash)) return location.reload();
    view = readView(location.hash);
    inputById("filter-text").value = view.filter.text;
    selectById("lanes").value = view.lanes;
    showTab(view.tab);
  });
}

async function connect() {
  if (token) await beginSession(token);
  config = await loadConfig();
  byId("what-if-button").hidden = !config.whatIf;
  take(await loadFleet());
  if (config.history) await readHistoryAgain();
  if (config.whatIf && view.drained.length > 0) await simulate();
  if (!config.live) return;
  follow({
    fleet: (next) => take(keepEqual(live, next)),
    diff: (diff) => {
      if (live) take(applyDiff(live, diff));
      // An interruption changes its slice, too.
      if (diff.slices && (view.tab === "history" || view.tab === "timeline") && config.history) void readHistoryAgain();
    },
    problem: (message) => drawProblem(message && `Not live: ${message}. Shown is the fleet of ${clockText(live?.time ?? "")}.`),
  });
}

async function start() {
  wire();
  showTab(view.tab);
  const file = exported();
  if (file) {
    records = file.history;
    historyKnown = records.length > 0;
    take(file.fleet);
    return;
  }
  await connect();
}

start().catch((problem) => {
  const message =
    problem instanceof NoSession
      ? "This address is not signed in, or its server has ended. Open the address that `kubectl tpu ui` printed."
      : `The fleet cannot be shown: ${problem instanceof Error ? problem.message : problem}`;
  drawProblem(message);
});
