// Where the fleet comes from: the server of the page, or the page itself if it was exported.
import { readFleet, readHistory, readObject } from "./model.js";

/** @typedef {import("./types.js").Fleet} Fleet */
/** @typedef {import("./types.js").Config} Config */

const kRetryMilliseconds = 5000;

/** The session has ended, or the address was opened without its token. */
export class NoSession extends Error {}

/** @param {string} path @param {RequestInit} [options] @returns {Promise<any>} JSON. */
async function request(path, options) {
  let response;
  try {
    response = await fetch(path, { ...options, credentials: "same-origin", cache: "no-store" });
  } catch {
    throw new Error("the page's server does not answer");
  }
  if (response.status === 401) throw new NoSession("no session");
  if (!response.ok) throw new Error((await response.text()).slice(0, 500).trim() || `status ${response.status}`);
  return response.status === 204 ? null : response.json();
}

/** What an exported page carries; null on a served one. @returns {{fleet: Fleet, history: import("./types.js").HistoryRecord[]} | null} */
export function exported() {
  const data = document.getElementById("fleet-data");
  if (!data) return null;
  const json = JSON.parse(data.textContent ?? "");
  return { fleet: readFleet(json.fleet), history: readHistory(json.history) };
}

/** Gets the cookie of a session for the token. @param {string} token */
export async function beginSession(token) {
  await request("session", { method: "POST", body: token });
}

/** @returns {Promise<Config>} */
export async function loadConfig() {
  const json = await request("config");
  return {
    live: json.live === true,
    history: json.history === true,
    whatIf: json.whatIf === true,
    object: json.object === true,
    command: typeof json.command === "string" && json.command ? json.command : "kubectl tpu",
  };
}

export async function loadFleet() {
  return readFleet(await request("fleet/v1/snapshot"));
}

export async function loadHistory() {
  return readHistory(await request("fleet/v1/history"));
}

/**
 * The fleet as it would be.
 * @param {string[]} pools Names of those to drain.
 * @returns {Promise<{fleet: Fleet | null, lines: string[]}>}
 */
export async function loadWhatIf(pools) {
  const query = pools.map((name) => `drain=${encodeURIComponent(`pool/${name}`)}`).join("&");
  const json = await request(`fleet/v1/what-if?${query}`);
  const lines = Array.isArray(json.lines) ? json.lines.map((/** @type {any} */ each) => String(each)) : [];
  return { fleet: json.fleet ? readFleet(json.fleet) : null, lines };
}

/**
 * Conditions, events and YAML of a workload.
 * @param {import("./types.js").About} about
 * @returns {Promise<import("./types.js").WorkloadObject>}
 */
export async function loadObject(about) {
  const json = await request(`fleet/v1/object?${new URLSearchParams({ kind: about.kind, namespace: about.namespace, name: about.name })}`);
  return readObject(json);
}

/**
 * Follows the fleet.
 * @param {object} listener
 * @param {(fleet: Fleet) => void} listener.fleet
 * @param {(diff: import("./types.js").Diff) => void} listener.diff
 * @param {(message: string) => void} listener.problem "" when all is well again.
 */
export function follow(listener) {
  const events = new EventSource("fleet/v1/watch");
  const on = (/** @type {string} */ name, /** @type {(json: any) => void} */ take) =>
    events.addEventListener(name, (event) => {
      try {
        take(JSON.parse(/** @type {MessageEvent} */ (event).data));
      } catch (problem) {
        listener.problem(String(problem));
      }
    });
  on("fleet", (json) => {
    listener.fleet(readFleet(json));
    listener.problem("");
  });
  on("diff", (json) => {
    listener.diff(json);
    listener.problem("");
  });
  on("problem", (json) => listener.problem(String(json.message ?? "")));
  events.addEventListener("error", () => {
    listener.problem("the page's server does not answer");
    // The browser connects again by itself, unless the server has refused the stream.
    if (events.readyState === EventSource.CLOSED) setTimeout(() => follow(listener), kRetryMilliseconds);
  });
}
