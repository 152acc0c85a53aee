// Makes the pictures of docs/fleet-page.md from the small fleet: node pictures.mjs DIRECTORY, as pictures.sh runs it.
import path from "node:path";

import { drawn, launch, openPage, Served } from "./browser.mjs";
import { smallFleet, smallHistory } from "./fleets.mjs";

const directory = process.argv[2];
const browser = await launch();
const served = await Served.start(null, smallFleet(), smallHistory());
/** @param {string} name @param {object} options @param {string[]} keys */
async function picture(name, options, keys) {
  const { page, context } = await openPage(browser, served, { reducedMotion: "reduce", ...options });
  await drawn(page);
  for (const key of keys) await page.keyboard.press(key);
  await page.waitForLoadState();
  await page.screenshot({ path: path.join(directory, `${name}.png`), animations: "disabled", caret: "hide" });
  await context.close();
}
for (const colorScheme of ["light", "dark"]) {
  const wide = { colorScheme, viewport: { width: 1280, height: 720 } };
  const narrow = { colorScheme, viewport: { width: 390, height: 844 } };
  await picture(`fleet-page-1280-${colorScheme}`, wide, colorScheme === "light" ? ["f"] : ["q", "ArrowDown"]);
  await picture(`fleet-page-390-${colorScheme}`, narrow, colorScheme === "light" ? ["f"] : ["q", "ArrowDown"]);
}
await served.stop();
await browser.close();
