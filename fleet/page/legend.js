// What the shapes mean, beside the map and the timeline.
import { el } from "./dom.js";
import { kHostStates } from "./model.js";

/** @param {HTMLElement} place */
export function drawHostLegend(place) {
  for (const [state, name] of Object.entries(kHostStates)) {
    place.append(el("span", {}, el("span", { class: `host host-${state}` }), name));
  }
}

/** @param {HTMLElement} place */
export function drawLaneLegend(place) {
  const bars = { Running: "running", Waiting: "waiting", Placed: "placed, not all Ready", Lost: "lost", Restarting: "restarting" };
  for (const [state, name] of Object.entries(bars)) {
    place.append(el("span", {}, el("span", { class: `swatch bar-${state}` }), name));
  }
}
