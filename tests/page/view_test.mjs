// What the page shows and does: live changes, the queue on the map, simulations, texts of users, links, the exported file; and
// who may read it.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import fs from "node:fs";
import http from "node:http";
import path from "node:path";
import test from "node:test";

import { axe, drawn, openPage, plugin, Served, shared } from "./browser.mjs";
import { nodeList, smallFleet, smallHistory } from "./fleets.mjs";

const all = shared(smallFleet(), smallHistory());

test("no request leaves the page's server and nothing violates its policy", async () => {
  const { page, context, seen } = await openPage(all.browser, all.served);
  await drawn(page);
  for (const key of ["q", "ArrowDown", "Enter", "Escape", "t", "h", "Enter", "Escape", "f", "Enter", "?"]) await page.keyboard.press(key);
  await page.waitForLoadState();
  assert.ok(seen.requests.length > 15);
  assert.deepEqual(seen.foreign, []);
  assert.deepEqual(seen.violations, []);
  assert.deepEqual(seen.errors, []);
  await context.close();
});

test("the token is in the fragment, and leaves it", async () => {
  const { page, context, seen } = await openPage(all.browser, all.served);
  await drawn(page);
  assert.match(all.served.url, /#token=.+/);
  const token = all.served.url.slice(all.served.url.indexOf("=") + 1);
  assert.ok(!page.url().includes(token), page.url());
  for (const url of seen.requests) assert.ok(!url.includes(token) || url === all.served.url, url);
  await page.reload();
  await page.getByRole("rowheader", { name: "v6e-4x4-a" }).waitFor();
  await context.close();
});

test("without the token the page says what to do", async () => {
  const { page, context } = await openPage(all.browser, { ...all.served, url: all.served.base });
  await page.getByRole("region", { name: "Problem" }).getByText("not signed in").waitFor();
  assert.equal(await page.getByRole("row").filter({ hasText: "v6e" }).count(), 0);
  await context.close();
});

test("a page of another port of this machine reads nothing", async (t) => {
  const other = http.createServer((_, response) => response.setHeader("content-type", "text/html").end("<title>other</title>"));
  await new Promise((resolve) => other.listen(0, "127.0.0.1", () => resolve(undefined)));
  t.after(() => other.close());
  const { page, context } = await openPage(all.browser, all.served);
  await drawn(page);
  const elsewhere = await context.newPage();
  await elsewhere.goto(`http://127.0.0.1:${/** @type {any} */ (other.address()).port}/`);
  const read = (/** @type {string} */ mode) =>
    elsewhere.evaluate(
      async ([url, how]) => {
        try {
          const response = await fetch(url, { mode: /** @type {RequestMode} */ (how), credentials: "include" });
          return response.type === "opaque" ? "opaque" : await response.text();
        } catch {
          return "refused";
        }
      },
      [`${all.served.base}fleet/v1/snapshot`, mode],
    );
  assert.equal(await read("cors"), "refused");
  assert.equal(await read("no-cors"), "refused", "Cross-Origin-Resource-Policy");
  await context.close();
});

/** @param {string} target @param {Record<string, string>} headers @param {string} [method] @param {string} [body] @returns {Promise<number>} */
function status(target, headers, method = "GET", body = "") {
  return new Promise((resolve, reject) => {
    const { hostname, port } = new URL(all.served.origin);
    const request = http.request({ hostname, port, path: target, method, headers, setHost: !headers.host }, (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    });
    request.on("error", reject);
    request.end(body);
  });
}

test("the server refuses other hosts, other origins, other paths, and to be written to", async () => {
  const base = new URL(all.served.base).pathname;
  assert.equal(await status(base, {}), 200);
  assert.equal(await status(base, { host: "evil.example" }), 421);
  assert.equal(await status(base, { origin: "http://evil.example" }), 403);
  assert.equal(await status("/", {}), 404);
  assert.equal(await status(`${base}fleet/v1/snapshot`, {}), 401);
  assert.equal(await status(base, {}, "POST"), 405);
  assert.equal(await status(`${base}session`, {}, "POST", "guess"), 401);
  assert.equal(await status(`${base}session`, { origin: "http://evil.example" }, "POST", "guess"), 403);
});

test("what changes is drawn without another load, and the rest stays as it is", async (t) => {
  const own = await Served.start(t, smallFleet());
  const { page, context } = await openPage(all.browser, own);
  await drawn(page);
  const row = (/** @type {string} */ name) => page.getByRole("row").filter({ has: page.getByRole("rowheader", { name, exact: true }) });
  await row("v6e-4x4-a").focus();
  await page.evaluate(() => {
    for (const tr of document.querySelectorAll("#map tbody tr")) /** @type {any} */ (tr.firstChild).mark = true;
  });
  const fleet = smallFleet();
  fleet.time = "2026-01-01T06:52:20Z";
  fleet.pools[2] = { ...fleet.pools[2], hosts: "ffff", state: "Free", problem: "" };
  fleet.pools.splice(4, 1);
  own.change(fleet);
  await row("v6e-4x4-c").getByText("free", { exact: true }).waitFor();
  await page.getByText("live 06:52:20").waitFor();
  assert.equal(await row("v6e-4x4-e").count(), 0);
  const isKept = (/** @type {string} */ name) => row(name).evaluate((/** @type {any} */ tr) => tr.firstChild.mark === true);
  assert.equal(await isKept("v6e-4x4-a"), true);
  assert.equal(await isKept("v6e-4x4-c"), false);
  assert.ok(await row("v6e-4x4-a").evaluate((/** @type {Element} */ tr) => tr === document.activeElement), "keeps the focus");
  await context.close();
});

test("a fleet that cannot be read any more stays on the page, which says so", async (t) => {
  const own = await Served.start(t, smallFleet());
  const { page, context } = await openPage(all.browser, own);
  await drawn(page);
  fs.writeFileSync(own.file, "{");
  await page.getByRole("region", { name: "Problem" }).getByText(/^Not live: .*Shown is the fleet of 06:52:10\.$/).waitFor();
  await page.getByRole("rowheader", { name: "v6e-4x4-a" }).waitFor();
  own.change(smallFleet());
  await page.getByRole("region", { name: "Problem" }).waitFor({ state: "hidden" });
  await context.close();
});

test("a slice that is selected in the queue lights the pools that it could use", async () => {
  const { page, context } = await openPage(all.browser, all.served);
  await drawn(page);
  await page.keyboard.press("q");
  await page.keyboard.press("ArrowDown");
  await page.getByRole("heading", { name: "default/raycluster/third tpu-0: 5 pools match, none is free: 3 in use or reserved, 2 not usable." }).waitFor();
  const names = (/** @type {string} */ kind) => page.locator(`#map tr.${kind} th`).allTextContents();
  assert.deepEqual(await names("lit"), ["v6e-4x4-a", "v6e-4x4-b", "v6e-4x4-c", "v6e-4x4-d", "v6e-4x4-e"]);
  assert.ok((await names("grey")).includes("v5e-4x8-b"));
  await page.keyboard.press("End");
  await page.getByRole("heading", { name: /nlp\/statefulset\/serve serve-0: No pool has this accelerator/ }).waitFor();
  assert.deepEqual(await names("lit"), []);
  await page.keyboard.press("f");
  assert.deepEqual([...(await names("lit")), ...(await names("grey"))], []);
  await context.close();
});

test("filters, tab and selection are in the URL and come back from it", async () => {
  const { page, context } = await openPage(all.browser, all.served);
  await drawn(page);
  await page.getByRole("searchbox", { name: "filter" }).fill("train");
  await page.getByRole("combobox", { name: "namespace" }).selectOption("ml");
  await page.getByRole("rowheader", { name: "v6e-4x4-a" }).click();
  assert.equal(await page.locator("#map tbody:not(.spacer) th[scope=row]").count(), 1);
  const url = page.url();
  const again = await context.newPage();
  await again.goto(url);
  await again.getByRole("heading", { name: "pool v6e-4x4-a" }).waitFor();
  assert.equal(await again.getByRole("searchbox", { name: "filter" }).inputValue(), "train");
  assert.equal(await again.locator("#map tbody:not(.spacer) th[scope=row]").count(), 1);
  await context.close();
});

test("texts of users are texts", async (t) => {
  const fleet = smallFleet();
  const evil = `<img src=x onerror="document.title='evil'"><script>document.title='evil'</script>`;
  fleet.cluster.name = evil;
  fleet.pools[0].name = evil;
  fleet.pools[0].users[0].name = evil;
  fleet.slices[6].reason = evil;
  fleet.slices[6].code = evil;
  fleet.attention[0].text = evil;
  fleet.attention[0].command = evil;
  const history = smallHistory();
  history.records[0].why = evil;
  const own = await Served.start(t, fleet, history);
  const { page, context, seen } = await openPage(all.browser, own);
  await drawn(page);
  await page.getByRole("rowheader", { name: evil }).click();
  for (const key of ["q", "ArrowDown", "Enter", "t", "h", "Enter"]) await page.keyboard.press(key);
  assert.equal(await page.locator("main img, header img, main script").count(), 0);
  assert.equal(await page.title(), `TPU fleet · ${evil}`);
  assert.deepEqual(seen.violations, []);
  assert.deepEqual(seen.errors, []);
  await context.close();
});

test("details of a slice have conditions, events and YAML of its workload, as text", async () => {
  const { page, context, seen } = await openPage(all.browser, { ...all.served, url: "about:blank" });
  const asked = /** @type {string[]} */ ([]);
  const markup = "<img src=x onerror=alert(1)>";
  await page.route("**/config", (/** @type {any} */ route) => route.fulfill({ json: { live: false, history: false, whatIf: false, object: true, command: "kubectl tpu" } }));
  await page.route("**/fleet/v1/object?*", (/** @type {any} */ route) => {
    asked.push(new URL(route.request().url()).search);
    if (asked.length > 1) return route.fulfill({ status: 502, body: "jobsets is forbidden" });
    return route.fulfill({
      json: {
        conditions: [{ type: "tpuslice.dev/SlicesPlaced", status: "False", reason: "NodesInUse", message: markup, since: "2026-01-01T06:12:10Z" }],
        events: [{ time: "2026-01-01T06:50:10Z", type: "Normal", reason: "SliceWaiting", message: "no pool is free", count: 3 }],
        eventsProblem: "",
        yaml: `kind: JobSet # ${markup}`,
      },
    });
  });
  await page.goto(all.served.url);
  await drawn(page);
  await page.keyboard.press("q");
  await page.keyboard.press("Enter");
  const detail = page.locator("#detail");
  await detail.getByRole("table", { name: "Conditions" }).getByText(`NodesInUse: ${markup}`).waitFor();
  await detail.getByRole("row", { name: "2m Normal SliceWaiting (3 times): no pool is free" }).waitFor();
  await detail.getByText("YAML", { exact: true }).click();
  await detail.getByText(`kind: JobSet # ${markup}`).waitFor();
  assert.equal(await page.locator("img").count(), 0);
  assert.deepEqual(asked, ["?kind=JobSet&namespace=ml&name=big"]);
  await page.keyboard.press("Escape");
  await page.keyboard.press("Enter");
  await detail.getByText("The object cannot be read: jobsets is forbidden").waitFor();
  assert.deepEqual([seen.foreign, seen.violations], [[], []]);
  await context.close();
});

test("a simulation is asked for by pool, says that it is one, and ends", async () => {
  const { page, context, seen } = await openPage(all.browser, { ...all.served, url: "about:blank" }, { bypassCSP: true });
  const simulated = smallFleet();
  simulated.pools[0] = { ...simulated.pools[0], hosts: "cccc", state: "Draining", users: [] };
  await page.route("**/config", (/** @type {any} */ route) => route.fulfill({ json: { live: false, history: false, whatIf: true, command: "kubectl tpu" } }));
  const asked = /** @type {string[]} */ ([]);
  await page.route("**/what-if?*", (/** @type {any} */ route) => {
    asked.push(new URL(route.request().url()).search);
    return route.fulfill({ json: { fleet: simulated, lines: ["Ends ml/rayjob/train-a slice v6e-0"] } });
  });
  await page.goto(all.served.url);
  await drawn(page);
  await page.getByRole("button", { name: "what if" }).click();
  const banner = page.getByRole("region", { name: "Simulated" });
  await banner.getByText("Simulated: choose pools to drain").waitFor();
  await page.getByRole("rowheader", { name: "v6e-4x4-a" }).click();
  await banner.getByText("Ends ml/rayjob/train-a slice v6e-0").waitFor();
  await banner.getByText("kubectl tpu what-if drain pool/v6e-4x4-a").waitFor();
  await page.getByText("drained (simulated)").waitFor();
  await page.getByText(/^simulated 2026/).waitFor();
  assert.deepEqual(await axe(page), []);
  assert.deepEqual(asked, ["?drain=pool%2Fv6e-4x4-a"]);
  assert.match(page.url(), /drain=v6e-4x4-a/);
  await page.keyboard.press("Escape");
  await banner.waitFor({ state: "hidden" });
  await page.getByText("drained (simulated)").waitFor({ state: "hidden" });
  assert.deepEqual(seen.errors, []);
  await context.close();
});

test("a fleet that was read from nodes is simulated by the program", async (t) => {
  const own = await Served.start(t, nodeList(["v6e-a", "v6e-b"]));
  const { page, context, seen } = await openPage(all.browser, own);
  await drawn(page);
  const row = page.getByRole("row").filter({ has: page.getByRole("rowheader", { name: "v6e-a", exact: true }) });
  await row.getByText("4 free").waitFor({ state: "attached" });
  await page.getByRole("button", { name: "what if" }).click();
  await row.click();
  await row.getByText("4 cordoned").waitFor({ state: "attached" });
  await page.getByText("drained (simulated)").waitFor();
  await page.getByRole("button", { name: "end the simulation" }).click();
  await row.getByText("4 free").waitFor({ state: "attached" });
  assert.deepEqual(seen.errors, []);
  assert.deepEqual(seen.violations, []);
  await context.close();
});

test("a server without objects offers no simulation", async () => {
  const { page, context } = await openPage(all.browser, all.served);
  await drawn(page);
  assert.equal(await page.getByRole("button", { name: "what if" }).count(), 0);
  await context.close();
});

test("the exported page is one file that loads nothing", async () => {
  const file = path.join(all.served.directory, "fleet.html");
  const written = spawnSync(plugin(), ["ui", "--snapshot", all.served.file, "--export", file], { encoding: "utf8" });
  assert.equal(written.status, 0, written.stderr);
  const { page, context, seen } = await openPage(all.browser, { url: `file://${file}` }, { offline: true });
  await page.getByRole("rowheader", { name: "v6e-4x4-a" }).click();
  await page.getByRole("heading", { name: "pool v6e-4x4-a" }).waitFor();
  await page.getByText("as of 2026-01-01T06:52:10Z").waitFor();
  await page.keyboard.press("h");
  await page.getByText("3 interruptions, 23.1 host-hours lost").waitFor();
  assert.equal(await page.getByRole("button", { name: "what if" }).count(), 0);
  assert.deepEqual(seen.requests, [`file://${file}`]);
  assert.deepEqual(seen.violations, []);
  assert.deepEqual(seen.errors, []);
  await context.close();
});
