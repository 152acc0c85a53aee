// The page for everybody: roles and names, axe in both themes, the keyboard alone, small and enlarged windows.
import assert from "node:assert/strict";
import test from "node:test";

import { axe, drawn, openPage, Served, shared } from "./browser.mjs";
import { smallFleet, smallHistory } from "./fleets.mjs";

const all = shared(smallFleet(), smallHistory());

test("roles and names are those of a table, tabs and a search", async () => {
  const { page, context } = await openPage(all.browser, all.served);
  await drawn(page);
  await page.getByRole("heading", { level: 1, name: "TPU fleet prod-us-east5" }).waitFor();
  for (const name of ["Fleet", "Queue 4", "Timeline", "History"]) await page.getByRole("tab", { name }).waitFor();
  assert.equal(await page.getByRole("tab", { name: "Fleet" }).getAttribute("aria-selected"), "true");
  await page.getByRole("search").getByRole("searchbox", { name: "filter" }).waitFor();
  for (const name of ["namespace", "TPU", "state"]) await page.getByRole("combobox", { name }).waitFor();
  const map = page.getByRole("grid", { name: "Node pools" });
  assert.equal(await map.getByRole("columnheader").count(), 6);
  const row = map.getByRole("row").filter({ has: page.getByRole("rowheader", { name: "v6e-4x4-c" }) });
  await row.getByRole("img", { name: "host 1, node gke-v6e-4x4-c-1: broken" }).waitFor();
  await row.getByText("3 free, 1 broken").waitFor({ state: "attached" });
  const used = map.getByRole("img", { name: "host 0, node gke-v6e-4x4-a-0: in use by ml/rayjob/train-a v6e-0, worker 0" });
  await used.waitFor();
  await page.getByRole("heading", { name: "2 things need someone" }).waitFor();
  assert.equal(await page.locator("[aria-live]").count(), 1, "one live region");
  await context.close();
});

test("the live region speaks only of what is new and needs someone", async (t) => {
  const own = await Served.start(t, smallFleet());
  const { page, context } = await openPage(all.browser, own);
  await drawn(page);
  const live = page.locator("[aria-live]");
  const fleet = smallFleet();
  fleet.pools[0].state = "Free";
  own.change(fleet);
  await page.getByRole("row").filter({ hasText: "v6e-4x4-a" }).getByText("free", { exact: true }).waitFor();
  assert.equal(await live.textContent(), "");
  fleet.attention.push({ about: "pool/v5e-4x8-b", text: "all 8 nodes NotReady", command: "" });
  own.change(fleet);
  await page.getByRole("heading", { name: "3 things need someone" }).waitFor();
  assert.equal(await live.textContent(), "needs someone: pool/v5e-4x8-b: all 8 nodes NotReady");
  await context.close();
});

for (const colorScheme of ["light", "dark"]) {
  for (const width of [1280, 390]) {
    test(`axe finds nothing in the ${colorScheme} theme at ${width} px`, async () => {
      const { page, context } = await openPage(all.browser, all.served, { colorScheme, bypassCSP: true, viewport: { width, height: 844 } });
      await drawn(page);
      const check = async (/** @type {string} */ where) => assert.deepEqual(await axe(page), [], where);
      await check("fleet");
      await page.keyboard.press("f");
      await page.keyboard.press("Enter");
      await page.getByRole("heading", { level: 2, name: "pool v5e-4x8-a" }).waitFor();
      await check("details");
      await page.keyboard.press("Escape");
      await page.keyboard.press("q");
      await page.keyboard.press("ArrowDown");
      await page.getByRole("heading", { name: /default\/raycluster\/third tpu-0: 5 pools match/ }).waitFor();
      await check("queue");
      await page.keyboard.press("t");
      await check("timeline");
      await page.keyboard.press("h");
      await check("history");
      await page.keyboard.press("?");
      await page.getByRole("dialog", { name: "Keys" }).waitFor();
      await check("help");
      await context.close();
    });
  }
}

test("axe finds nothing on an empty page", async (t) => {
  const empty = await Served.start(t, { ...smallFleet(), pools: [], slices: [], attention: [], cluster: {}, missing: [{ resource: "nodes" }] });
  const { page, context } = await openPage(all.browser, empty, { bypassCSP: true });
  await page.getByText("This cluster has no nodes with TPUs").waitFor();
  await page.getByText("The operator was not found").waitFor();
  await page.getByText("Not shown, for want of the right to list them: nodes.").waitFor();
  assert.deepEqual(await axe(page), []);
  for (const key of ["q", "t", "h"]) {
    await page.keyboard.press(key);
    assert.deepEqual(await axe(page), [], key);
  }
  await context.close();
});

test("everything can be done with the keyboard", async () => {
  const { page, context, seen } = await openPage(all.browser, all.served, { permissions: ["clipboard-read", "clipboard-write"] });
  await drawn(page);
  const focused = () =>
    page.evaluate(() => {
      const element = document.activeElement;
      return element?.getAttribute("data-key") ?? element?.getAttribute("aria-label") ?? element?.id ?? "";
    });
  const press = async (/** @type {string[]} */ ...keys) => {
    for (const key of keys) await page.keyboard.press(key);
  };
  // With Tab alone, to the map: it is one stop.
  const stops = [];
  for (let i = 0; i < 30 && !String(stops.at(-1)).includes("|"); ++i) {
    await press("Tab");
    stops.push(await focused());
  }
  assert.deepEqual(stops.slice(0, 7), ["help-button", "theme-button", "tab-fleet", "filter-text", "filter-namespace", "filter-tpu", "filter-state"]);
  assert.equal(stops.at(-1), "cloud.google.com/gke-nodepool|v5e-4x8-a");
  // Rows, without those of groups; then the hosts of one.
  await press("ArrowDown", "ArrowDown");
  assert.match(await focused(), /\|v6e-4x4-a$/);
  await press("ArrowRight", "ArrowRight");
  assert.match(await focused(), /^host 1, node gke-v6e-4x4-a-1: in use/);
  await press("ArrowLeft", "ArrowLeft");
  assert.match(await focused(), /\|v6e-4x4-a$/);
  await press("End");
  assert.match(await focused(), /\|v6e-16x16-q$/);
  await press("Home", "ArrowUp");
  assert.match(await focused(), /\|v5e-4x8-a$/);
  // Details and back.
  await press("Enter");
  assert.equal(await focused(), "detail-title");
  await page.getByRole("heading", { name: "pool v5e-4x8-a" }).waitFor();
  await press("Escape");
  assert.match(await focused(), /\|v5e-4x8-a$/);
  await press("y");
  assert.equal(await page.evaluate(() => navigator.clipboard.readText()), "kubectl tpu explain pool/v5e-4x8-a");
  // The filter.
  await press("/");
  assert.equal(await focused(), "filter-text");
  await page.keyboard.type("c-1");
  await press("Enter");
  assert.match(await focused(), /\|v6e-4x4-c$/);
  assert.match(page.url(), /#filter=c-1$/);
  await press("/", "Control+a", "Delete", "Escape");
  // The other tabs.
  await press("q");
  assert.equal(await focused(), "ml/JobSet/big/big-1");
  await press("ArrowDown", "Enter");
  await page.getByRole("heading", { name: "default/raycluster/third tpu-0", exact: true }).waitFor();
  await press("Escape", "y");
  assert.equal(await page.evaluate(() => navigator.clipboard.readText()), "kubectl tpu explain raycluster/third -n default");
  await press("t");
  assert.equal(await focused(), "ml/RayJob/train-a/v6e-0");
  await press("h", "Enter");
  await page.getByRole("heading", { name: "Restarted: ml/rayjob/train-a" }).waitFor();
  await press("?");
  await page.getByRole("dialog", { name: "Keys" }).waitFor();
  await press("Escape");
  await page.getByRole("dialog", { name: "Keys" }).waitFor({ state: "hidden" });
  // The list of tabs is a stop whose tabs are walked with arrows.
  await page.getByRole("tab", { name: "History" }).focus();
  await press("ArrowRight");
  assert.equal(await focused(), "tab-fleet");
  await press("ArrowLeft", "ArrowLeft");
  assert.equal(await focused(), "tab-timeline");
  assert.deepEqual(seen.errors, []);
  await context.close();
});

test("a table whose active row is out of sight can be reached with Tab", async () => {
  const fleet = smallFleet();
  for (let index = 0; index < 200; ++index) fleet.pools.push({ ...fleet.pools[0], name: `more-${index}` });
  const { page, context } = await openPage(all.browser, { url: "about:blank" });
  await page.route("**/fleet/v1/snapshot", (/** @type {any} */ route) => route.fulfill({ json: fleet }));
  await page.route("**/config", (/** @type {any} */ route) => route.fulfill({ json: { live: false } }));
  await page.goto(all.served.url);
  await drawn(page);
  const map = page.locator("#map-scroller");
  await map.evaluate((/** @type {Element} */ element) => element.scrollTo(0, 3000));
  await page.getByRole("rowheader", { name: "more-99", exact: true }).waitFor();
  await page.getByRole("combobox", { name: "state" }).focus();
  await page.keyboard.press("Tab");
  await page.keyboard.press("Tab");
  for (let i = 0; i < 5 && !(await map.evaluate((/** @type {Element} */ element) => element.contains(document.activeElement))); ++i) await page.keyboard.press("Tab");
  assert.match(await page.evaluate(() => document.activeElement?.getAttribute("data-key") ?? ""), /more-/);
  await page.keyboard.press("ArrowDown");
  assert.match(await page.evaluate(() => document.activeElement?.getAttribute("data-key") ?? ""), /more-/);
  // Back in the tab, the focus is at the row where it was.
  const key = await page.evaluate(() => document.activeElement?.getAttribute("data-key"));
  await page.keyboard.press("q");
  await page.keyboard.press("f");
  assert.equal(await page.evaluate(() => document.activeElement?.getAttribute("data-key")), key);
  await context.close();
});

for (const [what, viewport] of Object.entries({ "at 390 px": { width: 390, height: 844 }, "enlarged to 200 %": { width: 640, height: 400 } })) {
  test(`nothing is beside the window ${what}`, async () => {
    const { page, context } = await openPage(all.browser, all.served, { viewport, deviceScaleFactor: 2 });
    await drawn(page);
    for (const key of ["f", "q", "t", "h"]) {
      await page.keyboard.press(key);
      const width = await page.evaluate(() => document.documentElement.scrollWidth);
      assert.ok(width <= viewport.width, `${key}: ${width}`);
      const row = page.locator("[role=tabpanel]:not([hidden]) tbody tr[tabindex='0']").first();
      await row.scrollIntoViewIfNeeded();
      assert.ok(await row.isVisible(), key);
    }
    await context.close();
  });
}

test("motion is reduced on request", async (t) => {
  const own = await Served.start(t, smallFleet());
  const { page, context } = await openPage(all.browser, own, { reducedMotion: "reduce" });
  await drawn(page);
  const fleet = smallFleet();
  fleet.pools[0].state = "Free";
  own.change(fleet);
  const row = page.locator("tr.changed");
  await row.waitFor();
  assert.equal(await row.evaluate((/** @type {Element} */ element) => getComputedStyle(element).animationName), "none");
  await context.close();
});

test("the theme is chosen by a button, and kept", async () => {
  const { page, context } = await openPage(all.browser, all.served, { colorScheme: "light" });
  await drawn(page);
  const background = () => page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor);
  const light = await background();
  await page.getByRole("button", { name: "theme: system" }).click();
  await page.getByRole("button", { name: "theme: light" }).click();
  await page.getByRole("button", { name: "theme: dark" }).waitFor();
  const dark = await background();
  assert.notEqual(dark, light);
  await page.reload();
  await drawn(page);
  assert.equal(await background(), dark);
  await context.close();
});
