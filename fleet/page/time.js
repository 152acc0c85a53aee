// Times and durations as text, as kubectl prints them. Pure functions.

/** Seconds since 1970; 0 for what is not a time. @param {string} time */
export function seconds(time) {
  const parsed = Date.parse(time);
  return Number.isNaN(parsed) ? 0 : parsed / 1000;
}

/** "45s", "12m", "3h7m", "2d5h", "30d". @param {number} duration Seconds. */
export function secondsText(duration) {
  const total = Math.max(0, Math.floor(duration));
  if (total < 120) return `${total}s`;
  const minutes = Math.floor(total / 60);
  if (minutes < 60) return `${minutes}m`;
  const hours = Math.floor(minutes / 60);
  if (hours < 24) return minutes % 60 === 0 ? `${hours}h` : `${hours}h${minutes % 60}m`;
  const days = Math.floor(hours / 24);
  return days < 8 && hours % 24 !== 0 ? `${days}d${hours % 24}h` : `${days}d`;
}

/** How long ago `since` was; "" if it is not known. @param {string} since @param {number} now Seconds. */
export function age(since, now) {
  const begin = seconds(since);
  return begin === 0 ? "" : secondsText(now - begin);
}

/** "06:52:10" in the time zone of the browser. @param {string} time */
export function clockText(time) {
  const at = new Date(time);
  return Number.isNaN(at.getTime()) ? "" : at.toLocaleTimeString("en-GB");
}

/** "07:12" within a day of `now`, else "2026-01-01 07:12". @param {string} time @param {number} now Seconds. */
export function shortTime(time, now) {
  const at = new Date(time);
  if (Number.isNaN(at.getTime())) return time;
  const hours = at.toLocaleTimeString("en-GB", { hour: "2-digit", minute: "2-digit" });
  if (Math.abs(at.getTime() / 1000 - now) < 20 * 3600) return hours;
  const two = (/** @type {number} */ value) => String(value).padStart(2, "0");
  return `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())} ${hours}`;
}
