// The choice between the theme of the system, light and dark, which the browser remembers.
import { byId, setText } from "./dom.js";

const kThemes = ["system", "light", "dark"];
const kKey = "tpu-fleet-theme";

/** A page from a file may have no storage; then the choice lasts as long as the page. */
function stored() {
  try {
    return localStorage.getItem(kKey) ?? "";
  } catch {
    return "";
  }
}

/** @param {string} theme */
function store(theme) {
  try {
    localStorage.setItem(kKey, theme);
  } catch {
    // See stored().
  }
}

/** @param {string} theme */
function applyTheme(theme) {
  document.documentElement.dataset.theme = theme;
  setText(byId("theme-button"), `theme: ${theme}`);
}

export function wireTheme() {
  let theme = kThemes.find((each) => each === stored()) ?? "system";
  byId("theme-button").addEventListener("click", () => {
    theme = kThemes[(kThemes.indexOf(theme) + 1) % kThemes.length];
    store(theme);
    applyTheme(theme);
  });
  applyTheme(theme);
}
