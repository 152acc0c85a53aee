// The tables of Queue, Timeline and History.
import { byId, el, percent } from "./dom.js";
import { shapeName, workloadName } from "./model.js";
import { behindText, costText } from "./rows.js";
import { age, shortTime } from "./time.js";
import { VirtualRows } from "./virtual_rows.js";

/** @typedef {import("./types.js").QueueRow} QueueRow */
/** @typedef {import("./types.js").HistoryRow} HistoryRow */
/** @typedef {import("./types.js").Lane} Lane */

/**
 * @template {{key: string}} Row
 * @typedef {{open: (row: Row) => void, activate: (row: Row) => void}} Listener
 */

/** @param {string} text @param {string} [classes] */
function cell(text, classes) {
  return el("td", { role: "gridcell", title: text, class: classes }, text);
}

/** @param {string} text */
function head(text) {
  return el("th", { role: "rowheader", scope: "row", title: text }, text);
}

/** @param {string} id @returns {{scroller: HTMLElement, table: HTMLTableElement}} */
function placeOf(id) {
  return { scroller: byId(`${id}-scroller`), table: /** @type {HTMLTableElement} */ (byId(id)) };
}

export class QueueView {
  /** @param {Listener<QueueRow>} listener */
  constructor(listener) {
    this.now = 0;
    this.selected = "";
    /** @type {VirtualRows<QueueRow>} */
    this.list = new VirtualRows({
      ...placeOf("queue"),
      columns: 8,
      value: (row) => row.slice,
      render: (row, tr) => this.render(row, tr),
      ...listener,
    });
  }

  /** @param {QueueRow[]} rows @param {number} now */
  show(rows, now) {
    this.now = now;
    this.list.setRows(rows);
  }

  /** @param {QueueRow} row @param {HTMLTableRowElement} tr */
  render({ key, slice }, tr) {
    tr.setAttribute("aria-selected", String(key === this.selected));
    const behind = behindText(slice);
    tr.append(
      el("td", { role: "gridcell" }, slice.never ? "!" : slice.position ? String(slice.position) : ""),
      head(workloadName(slice)),
      cell(slice.slice, "wide"),
      cell(shapeName(slice)),
      cell(String(slice.hosts), "wide"),
      cell(age(slice.since, this.now), "wide"),
      cell(slice.code),
      cell(behind, slice.never ? "grave" : "quiet"),
    );
  }
}

export class TimelineView {
  /** @param {Listener<Lane>} listener */
  constructor(listener) {
    /** @type {VirtualRows<Lane>} */
    this.list = new VirtualRows({
      ...placeOf("timeline"),
      columns: 3,
      value: (lane) => JSON.stringify(lane),
      render: (lane, tr) => this.render(lane, tr),
      ...listener,
    });
  }

  /** @param {Lane[]} lanes @param {string} of */
  show(lanes, of) {
    byId("lane-head").textContent = of;
    this.list.setRows(lanes);
  }

  /** @param {Lane} lane @param {HTMLTableRowElement} tr */
  render(lane, tr) {
    const picture = el("div", { class: "lane", role: "img", "aria-label": lane.summary || "nothing known" });
    for (const segment of lane.segments) {
      const bar = el("i", { class: `bar-${segment.state}`, title: segment.state });
      bar.style.left = percent(segment.from);
      bar.style.width = percent(segment.to - segment.from);
      picture.append(bar);
    }
    for (const mark of lane.marks) {
      const line = el("b", { title: mark.text });
      line.style.left = percent(mark.at);
      picture.append(line);
    }
    tr.append(head(lane.title), el("td", { role: "gridcell" }, picture), cell(lane.summary, "quiet"));
  }
}

export class HistoryView {
  /** @param {Listener<HistoryRow>} listener */
  constructor(listener) {
    this.now = 0;
    this.selected = "";
    /** @type {VirtualRows<HistoryRow>} */
    this.list = new VirtualRows({
      ...placeOf("history"),
      columns: 7,
      value: (row) => row.record,
      render: (row, tr) => this.render(row, tr),
      ...listener,
    });
  }

  /** @param {HistoryRow[]} rows @param {number} now */
  show(rows, now) {
    this.now = now;
    this.list.setRows(rows);
  }

  /** @param {HistoryRow} row @param {HTMLTableRowElement} tr */
  render({ key, record }, tr) {
    tr.setAttribute("aria-selected", String(key === this.selected));
    const cost = costText(record);
    tr.append(
      cell(shortTime(record.time, this.now)),
      head(workloadName(record)),
      cell(record.slice, "wide"),
      cell(record.what),
      cell(record.why),
      cell(cost.lost, "wide"),
      cell(cost.back, "wide"),
    );
  }
}
