// A large fleet: what the page adds to the document, and what it is sent, as counts and bytes.
import assert from "node:assert/strict";
import http from "node:http";
import test from "node:test";

import { drawn, openPage, shared } from "./browser.mjs";
import { largeFleet } from "./fleets.mjs";

const kSize = { pools: 1500, running: 2000, waiting: 500 };

/** Changes of each tab whose work is measured. */
const kRounds = Number(process.env.TPUSLICE_PAGE_ROUNDS ?? 1);

const all = shared(largeFleet(kSize));

const counts = (/** @type {any} */ page) =>
  page.evaluate(() => ({
    elements: document.querySelectorAll("*").length,
    rows: Math.max(...[...document.querySelectorAll("table")].map((table) => table.querySelectorAll("tbody:not(.spacer) tr").length)),
  }));

for (const height of [800, 4320]) {
  test(`1,500 pools are at most 60 rows and 4,000 elements in a window of ${height} px`, async () => {
    const { page, context, seen } = await openPage(all.browser, all.served, { viewport: { width: 1280, height } });
    await drawn(page);
    assert.match(await page.locator("#totals").textContent(), /^1500 pools/);
    for (const key of ["f", "q", "t"]) {
      await page.keyboard.press(key);
      for (const row of ["Home", "PageDown", "End"]) {
        await page.keyboard.press(row);
        const { rows, elements } = await counts(page);
        assert.ok(rows > 0 && rows <= 60, `${key} ${row}: ${rows} rows`);
        assert.ok(elements <= 4000, `${key} ${row}: ${elements} elements`);
      }
    }
    await page.keyboard.press("f");
    await page.keyboard.press("End");
    await page.getByRole("rowheader", { name: "v6e-8x8-1496" }).waitFor();
    assert.equal(await page.getByRole("grid", { name: "Node pools" }).getAttribute("aria-rowcount"), String(1500 + 5 + 1));
    assert.deepEqual(seen.errors, []);
    await context.close();
  });
}

/** The events of the stream until `enough`. @param {string} cookie @param {(events: string[]) => boolean} enough @returns {Promise<string[]>} */
function eventsUntil(cookie, enough) {
  return new Promise((resolve, reject) => {
    const request = http.get(`${all.served.base}fleet/v1/watch`, { headers: { cookie } }, (response) => {
      let text = "";
      response.on("data", (bytes) => {
        text += bytes;
        const events = text.split("\n\n");
        if (!enough(events)) return;
        request.destroy();
        resolve(events);
      });
    });
    request.on("error", reject);
  });
}

test("a change of 100 pools is sent as these, and draws only those in sight", async (t) => {
  const { page, context } = await openPage(all.browser, all.served);
  await drawn(page);
  const cookies = await context.cookies(all.served.base);
  const cookie = cookies.map((/** @type {any} */ each) => `${each.name}=${each.value}`).join("; ");
  /** @param {string} state */
  const change = (state) => {
    const fleet = largeFleet(kSize);
    for (let index = 3; index < 1500; index += 15) fleet.pools[index].state = state;
    all.served.change(fleet);
  };
  const shows = (/** @type {string} */ state) => page.getByRole("gridcell", { name: state, exact: true }).first().waitFor();
  // The first change also waits for the page to follow the fleet.
  change("Reserved");
  await shows("reserved");
  await page.evaluate(() => {
    for (const row of document.querySelectorAll("#map tbody tr")) /** @type {any} */ (row.firstChild).mark = true;
  });
  const session = await context.newCDPSession(page);
  await session.send("Performance.enable");
  const work = async () => {
    const { metrics } = await session.send("Performance.getMetrics");
    const parts = ["ScriptDuration", "LayoutDuration", "RecalcStyleDuration"];
    return metrics.reduce((/** @type {number} */ sum, /** @type {any} */ each) => sum + (parts.includes(each.name) ? each.value : 0), 0);
  };
  const before = await work();
  const [whole, diff] = await eventsUntil(cookie, (all) => {
    if (all.length === 2) change("Draining");
    return all.length > 2;
  });
  await shows("draining");
  const spent = ((await work()) - before) * 1000;
  t.diagnostic(`the fleet is ${whole.length} bytes, the change of 100 pools ${diff.length}; script, style and layout took ${spent.toFixed(1)} ms`);
  assert.match(diff, /^event: diff\n/);
  assert.equal(Object.keys(JSON.parse(diff.slice(diff.indexOf("{"))).pools.set).length, 100);
  assert.ok(diff.length * 8 < whole.length, `${diff.length} of ${whole.length} bytes`);
  const kept = await page.evaluate(() => [...document.querySelectorAll("#map tbody:not(.spacer) tr")].map((row) => /** @type {any} */ (row.firstChild).mark === true));
  const drawnAgain = kept.filter((/** @type {boolean} */ same) => !same).length;
  assert.ok(drawnAgain > 0 && drawnAgain <= kept.length / 2, `${drawnAgain} of ${kept.length} rows were drawn again`);
  await context.close();
});

/** Measures the work of each change that the page is sent: its script, and the frame after it with style, layout and paint. */
function measureChanges() {
  const works = /** @type {any} */ (window).works = /** @type {{script: number, frame: number}[]} */ ([]);
  const listen = EventSource.prototype.addEventListener;
  EventSource.prototype.addEventListener = function (/** @type {string} */ type, /** @type {any} */ listener) {
    const measured = (/** @type {any} */ event) => {
      const begin = performance.now();
      listener(event);
      const script = performance.now() - begin;
      requestAnimationFrame(() => {
        const frame = performance.now();
        const { port1, port2 } = new MessageChannel();
        port1.onmessage = () => works.push({ script, frame: performance.now() - frame });
        port2.postMessage(null);
      });
    };
    return listen.call(this, type, type === "diff" ? measured : listener);
  };
}

test("a change of 100 pools: milliseconds of a frame, which are printed only", async (t) => {
  const { page, context, seen } = await openPage(all.browser, all.served);
  await page.addInitScript(measureChanges);
  await page.reload();
  await drawn(page);
  let changes = 0;
  for (const tab of ["fleet", "queue", "timeline"]) {
    await page.keyboard.press(tab[0]);
    for (let round = 0; round < kRounds; ++round) {
      const fleet = largeFleet(kSize);
      ++changes;
      fleet.time = `2026-01-01T06:52:${String(10 + changes).padStart(2, "0")}Z`;
      for (let index = 3; index < 1500; index += 15) fleet.pools[index].state = changes % 2 ? "Reserved" : "Draining";
      all.served.change(fleet);
      await page.waitForFunction((count) => /** @type {any} */ (window).works.length >= count, changes);
    }
    const works = await page.evaluate((count) => /** @type {any} */ (window).works.slice(-count), kRounds);
    const sums = works.map((/** @type {any} */ each) => each.script + each.frame).sort((/** @type {number} */ a, /** @type {number} */ b) => a - b);
    const script = works.map((/** @type {any} */ each) => each.script).sort((/** @type {number} */ a, /** @type {number} */ b) => a - b);
    const middle = Math.floor(sums.length / 2);
    t.diagnostic(`${tab}: median ${sums[middle].toFixed(1)} ms, of which ${script[middle].toFixed(1)} ms script; at most ${sums[sums.length - 1].toFixed(1)} ms; ${sums.length} changes`);
  }
  assert.deepEqual(seen.errors, []);
  await context.close();
});

test("the files of the page are small", async () => {
  const { context, seen } = await openPage(all.browser, all.served);
  const sizes = await Promise.all(
    seen.requests.filter((url) => /\.(js|css|svg)$|\/$/.test(url.split("#")[0])).map(async (url) => (await (await fetch(url)).text()).length),
  );
  assert.ok(sizes.length > 10);
  const total = sizes.reduce((sum, size) => sum + size, 0);
  assert.ok(total < 120_000, `${total} bytes`);
  await context.close();
});
