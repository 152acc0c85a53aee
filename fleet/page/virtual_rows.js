// A table that draws only the rows in sight, whose rows are walked with the arrow keys (one stop of the Tab key).
import { el } from "./dom.js";

/** Rows in the document at a time, whatever the height of the window. */
export const kMaxRows = 56;
const kOverscan = 4;

/**
 * @template {{key: string}} Row
 * @typedef {object} RowsOptions
 * @property {HTMLElement} scroller The element that scrolls; it contains the table.
 * @property {HTMLTableElement} table Its head stays; the bodies are made here.
 * @property {number} columns
 * @property {(row: Row, fill: HTMLTableRowElement) => void} render Adds the cells to an empty tr.
 * @property {(row: Row) => unknown} value What the cells depend on; a row whose value is another one is drawn again.
 * @property {(row: Row) => boolean} [selectable]
 * @property {(row: Row, event: KeyboardEvent | MouseEvent) => void} [open] Enter, or a click.
 * @property {(row: Row) => void} [activate] It became the active row by a key or a click.
 */

/** @template {{key: string}} Row */
export class VirtualRows {
  /** @param {RowsOptions<Row>} options */
  constructor(options) {
    this.options = options;
    /** @type {Row[]} */
    this.rows = [];
    /** @type {Map<string, {tr: HTMLTableRowElement, value: unknown}>} */
    this.drawn = new Map();
    this.active = "";
    this.rowHeight = 32;
    this.dirty = false;
    this.before = el("td", { colspan: options.columns });
    this.after = el("td", { colspan: options.columns });
    this.body = el("tbody", { role: "rowgroup" });
    const spacer = (/** @type {HTMLElement} */ cell) =>
      el("tbody", { "aria-hidden": "true", class: "spacer" }, el("tr", {}, cell));
    options.table.append(spacer(this.before), this.body, spacer(this.after));
    options.scroller.addEventListener("scroll", () => this.schedule(), { passive: true });
    new ResizeObserver(() => this.schedule()).observe(options.scroller);
    options.table.addEventListener("keydown", (event) => this.onKey(event));
    options.table.addEventListener("click", (event) => this.onClick(event));
    options.table.addEventListener("focusin", (event) => this.onFocus(event));
  }

  /** @param {Row[]} rows */
  setRows(rows) {
    this.rows = rows;
    if (!rows.some((row) => row.key === this.active)) this.active = this.firstSelectable()?.key ?? "";
    this.options.table.setAttribute("aria-rowcount", String(rows.length + 1));
    this.draw();
  }

  /** Draws all rows in sight again. */
  refresh() {
    for (const drawn of this.drawn.values()) drawn.value = this;
    this.draw();
  }

  schedule() {
    if (this.dirty) return;
    this.dirty = true;
    requestAnimationFrame(() => {
      this.dirty = false;
      this.draw();
    });
  }

  /** @returns {Row | undefined} */
  activeRow() {
    return this.rows.find((row) => row.key === this.active);
  }

  firstSelectable() {
    return this.rows.find((row) => this.isSelectable(row));
  }

  /** @param {Row} row */
  isSelectable(row) {
    return this.options.selectable?.(row) ?? true;
  }

  draw() {
    const { scroller } = this.options;
    if (scroller.clientHeight === 0) return;
    const inSight = Math.ceil(scroller.clientHeight / this.rowHeight) + 2 * kOverscan;
    const count = Math.min(kMaxRows, inSight, this.rows.length);
    const top = Math.floor(scroller.scrollTop / this.rowHeight) - kOverscan;
    const first = Math.max(0, Math.min(top, this.rows.length - count));
    const hadFocus = this.body.contains(document.activeElement);
    const shown = new Set();
    /** @type {HTMLTableRowElement | null} */
    let previous = null;
    for (let index = first; index < first + count; ++index) {
      const tr = this.drawRow(this.rows[index], index);
      shown.add(this.rows[index].key);
      const next = /** @type {ChildNode | null} */ (previous ? previous.nextSibling : this.body.firstChild);
      if (next !== tr) this.body.insertBefore(tr, next);
      previous = tr;
    }
    for (const [key, drawn] of this.drawn) {
      if (shown.has(key)) continue;
      drawn.tr.remove();
      this.drawn.delete(key);
    }
    this.setStop(first, count);
    this.before.style.height = `${first * this.rowHeight}px`;
    this.after.style.height = `${(this.rows.length - first - count) * this.rowHeight}px`;
    if (hadFocus && !this.body.contains(document.activeElement)) {
      const active = this.drawn.get(this.active);
      (active ? active.tr : scroller).focus({ preventScroll: true });
    }
    this.measure(previous);
  }

  /** The height of a row follows the font and the width of the window. @param {HTMLTableRowElement | null} tr */
  measure(tr) {
    const height = tr ? tr.getBoundingClientRect().height : 0;
    if (height < 8 || Math.abs(height - this.rowHeight) < 0.5) return;
    this.rowHeight = height;
    this.schedule();
  }

  /** @param {Row} row @param {number} index */
  drawRow(row, index) {
    const value = this.options.value(row);
    let drawn = this.drawn.get(row.key);
    if (!drawn) {
      drawn = { tr: el("tr", { role: "row" }), value: this };
      drawn.tr.dataset.key = row.key;
      this.drawn.set(row.key, drawn);
    }
    if (drawn.value !== value) {
      const { tr } = drawn;
      const cell = tr.contains(document.activeElement) ? this.focusedCell(tr) : -1;
      tr.replaceChildren();
      tr.className = "";
      this.options.render(row, tr);
      drawn.value = value;
      if (cell >= 0) (this.stops(tr)[cell] ?? tr).focus({ preventScroll: true });
    }
    drawn.tr.setAttribute("aria-rowindex", String(index + 2));
    return drawn.tr;
  }

  /** The Tab key stops at the active row or, while that is out of sight, at the first one in sight. @param {number} first @param {number} count */
  setStop(first, count) {
    const inSight = this.rows.slice(first, first + count);
    const stop = inSight.find((row) => row.key === this.active) ?? inSight.find((row) => this.isSelectable(row));
    for (const row of inSight) {
      const drawn = this.drawn.get(row.key);
      if (drawn) drawn.tr.tabIndex = row === stop ? 0 : -1;
    }
  }

  /** The focus goes to the active row, which is scrolled into sight. */
  focusActive() {
    const index = this.rows.findIndex((row) => row.key === this.active);
    if (index >= 0) this.moveTo(index);
  }

  /** A row that gets the focus by the Tab key is the active one. @param {FocusEvent} event */
  onFocus(event) {
    const tr = event.target instanceof Element ? event.target.closest("tr") : null;
    const row = this.rows.find((each) => each.key === tr?.dataset.key);
    if (!row || row.key === this.active || !this.isSelectable(row)) return;
    this.active = row.key;
    this.options.activate?.(row);
  }

  /** The elements within a row that Left and Right go to. @param {HTMLTableRowElement} tr @returns {HTMLElement[]} */
  stops(tr) {
    return [...tr.querySelectorAll("[data-stop]")].map((each) => /** @type {HTMLElement} */ (each));
  }

  /** @param {HTMLTableRowElement} tr */
  focusedCell(tr) {
    return this.stops(tr).findIndex((each) => each === document.activeElement);
  }

  /** Moves to a row, and scrolls it into sight. @param {number} index @param {boolean} [focus] */
  moveTo(index, focus = true) {
    const row = this.rows[index];
    if (!row) return;
    const { scroller } = this.options;
    this.active = row.key;
    const head = this.options.table.tHead?.offsetHeight ?? 0;
    const top = index * this.rowHeight;
    if (top < scroller.scrollTop) scroller.scrollTop = index <= 1 ? 0 : top;
    const bottom = top + this.rowHeight + head;
    if (bottom > scroller.scrollTop + scroller.clientHeight) scroller.scrollTop = bottom - scroller.clientHeight;
    this.draw();
    if (focus) this.drawn.get(row.key)?.tr.focus({ preventScroll: true });
    this.options.activate?.(row);
  }

  /** @param {number} index @param {1 | -1} step The nearest row in this direction that can be selected. */
  moveNear(index, step) {
    const last = this.rows.length - 1;
    let at = Math.max(0, Math.min(last, index));
    while (this.rows[at] && !this.isSelectable(this.rows[at])) at += step;
    if (!this.rows[at]) return;
    this.moveTo(at);
  }

  /** @param {KeyboardEvent} event */
  onKey(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const index = this.rows.findIndex((row) => row.key === this.active);
    const page = Math.max(1, Math.floor(this.options.scroller.clientHeight / this.rowHeight) - 2);
    const drawn = this.drawn.get(this.active);
    switch (event.key) {
      case "ArrowDown":
        this.moveNear(index + 1, 1);
        break;
      case "ArrowUp":
        this.moveNear(index - 1, -1);
        break;
      case "PageDown":
        this.moveNear(index + page, index + page >= this.rows.length ? -1 : 1);
        break;
      case "PageUp":
        this.moveNear(index - page, index - page <= 0 ? 1 : -1);
        break;
      case "Home":
        this.moveNear(0, 1);
        break;
      case "End":
        this.moveNear(this.rows.length - 1, -1);
        break;
      case "ArrowRight":
      case "ArrowLeft":
        if (!drawn) return;
        this.moveWithin(drawn.tr, event.key === "ArrowRight" ? 1 : -1);
        break;
      case "Enter":
      case " ":
        if (event.target instanceof HTMLButtonElement || index < 0) return;
        this.options.open?.(this.rows[index], event);
        break;
      default:
        return;
    }
    event.preventDefault();
  }

  /** @param {HTMLTableRowElement} tr @param {number} step */
  moveWithin(tr, step) {
    const stops = this.stops(tr);
    const to = this.focusedCell(tr) + step;
    if (to >= stops.length) return;
    (to < 0 ? tr : stops[to]).focus();
  }

  /** @param {MouseEvent} event */
  onClick(event) {
    const tr = event.target instanceof Element ? event.target.closest("tr") : null;
    const index = this.rows.findIndex((row) => row.key === tr?.dataset.key);
    if (index < 0 || !this.isSelectable(this.rows[index])) return;
    const stop = event.target instanceof HTMLElement && event.target.dataset.stop !== undefined ? event.target : null;
    this.moveTo(index);
    stop?.focus({ preventScroll: true });
    this.options.open?.(this.rows[index], event);
  }
}
