// What is selected ("pool:KEY", "slice:KEY", "record:KEY"), found in the fleet. Pure functions but for the elements of details.
import { poolDetail, recordDetail, sliceDetail } from "./detail_view.js";
import { byKey, poolKey, sliceKey } from "./model.js";
import { historyRows } from "./rows.js";
import { kNoFilter } from "./state.js";
import { seconds } from "./time.js";

/** @typedef {import("./types.js").Fleet} Fleet */

/** The selection of a lane of the timeline. @param {"slices" | "pools"} lanes @param {string} key */
export function selectionOfLane(lanes, key) {
  return lanes === "pools" ? `pool:*|${key}` : `slice:${key}`;
}

/** The key of a selection of this kind; "" for another. @param {string} selected @param {"pool" | "slice" | "record"} kind */
export function selectedKey(selected, kind) {
  return selected.startsWith(`${kind}:`) ? selected.slice(kind.length + 1) : "";
}

/**
 * The details of a selection; null if it is not in the fleet.
 * @param {string} selected
 * @param {Fleet} fleet
 * @param {import("./types.js").HistoryRecord[]} records
 * @param {string} command How the plugin is called.
 * @returns {import("./detail_view.js").Shown | null}
 */
export function detailOf(selected, fleet, records, command) {
  const now = seconds(fleet.time);
  const pool = selectedKey(selected, "pool");
  if (pool) {
    const found = fleet.pools.find((each) => poolKey(each) === pool || (pool.startsWith("*|") && each.name === pool.slice(2)));
    return found ? poolDetail(found, now, command) : null;
  }
  const sliceName = selectedKey(selected, "slice");
  const slice = sliceName ? byKey(fleet.slices, sliceKey).get(sliceName) : undefined;
  if (slice) return sliceDetail(slice, fleet, now, command);
  const key = selectedKey(selected, "record");
  const record = key ? historyRows(records, kNoFilter).find((row) => row.key === key)?.record : undefined;
  return record ? recordDetail(record, now, command) : null;
}
