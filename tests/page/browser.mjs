// Chromium and the program, for the tests of the page.
import { spawn } from "node:child_process";
import fs from "node:fs";
import { createRequire } from "node:module";
import os from "node:os";
import path from "node:path";
import readline from "node:readline";
import { after, before } from "node:test";

const require = createRequire(`${process.env.TPUSLICE_PAGE_PACKAGES}/package.json`);
const { chromium } = require("playwright-core");
const kAxe = () => fs.readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");

/** Chromium without its own background requests. */
export function launch() {
  return chromium.launch({ executablePath: "/usr/bin/chromium", args: ["--no-sandbox", "--disable-background-networking"] });
}

/** `kubectl tpu ui` with a saved fleet, which can be changed while it runs. */
export class Served {
  /**
   * @param {{after: (end: () => Promise<void>) => void} | null} context Of a test, whose end stops it; null: stop() is called.
   * @param {object} fleet
   * @param {object} [history]
   */
  static async start(context, fleet, history) {
    const served = new Served();
    context?.after(() => served.stop());
    served.directory = fs.mkdtempSync(path.join(os.tmpdir(), "page-test-"));
    served.file = path.join(served.directory, "fleet.json");
    served.change(fleet, history);
    served.child = spawn(plugin(), ["ui", "--snapshot", served.file], { stdio: ["ignore", "pipe", "inherit"] });
    const lines = readline.createInterface({ input: served.child.stdout });
    for await (const line of lines) {
      const url = /http:\/\/\S+/.exec(line)?.[0];
      if (!url) continue;
      served.url = url;
      served.base = url.slice(0, url.indexOf("#"));
      served.origin = new URL(url).origin;
      return served;
    }
    throw new Error("the program has printed no address");
  }

  /** Replaces the file at once, so that no half of it is read. @param {object} fleet @param {object} [history] */
  change(fleet, history) {
    fs.writeFileSync(`${this.file}.new`, JSON.stringify(history ? { ...fleet, history: history.records } : fleet));
    fs.renameSync(`${this.file}.new`, this.file);
  }

  async stop() {
    const ended = new Promise((resolve) => this.child.once("exit", resolve));
    this.child.kill("SIGTERM");
    await ended;
    fs.rmSync(this.directory, { recursive: true });
  }
}

export function plugin() {
  const program = process.env.TPUSLICE_PLUGIN;
  if (!program) throw new Error("TPUSLICE_PLUGIN is not set: run page_test.sh");
  return program;
}

/**
 * A browser and a served fleet for all tests of a file.
 * @param {object} fleet
 * @param {object} [history]
 * @returns {{browser: any, served: any}} Set before the first test.
 */
export function shared(fleet, history) {
  const all = { browser: /** @type {any} */ (null), served: /** @type {any} */ (null) };
  before(async () => {
    all.browser = await launch();
    all.served = await Served.start(null, fleet, history);
  });
  after(async () => {
    await all.browser?.close();
    await all.served?.stop();
  });
  return all;
}

/**
 * A page that records what must not happen: requests to other servers, violations of its policy, errors.
 * @param {any} browser
 * @param {{url: string, origin?: string}} served
 * @param {object} [options] Of the browser context.
 */
export async function openPage(browser, served, options = {}) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, timezoneId: "UTC", ...options });
  const page = await context.newPage();
  const seen = { foreign: [], violations: [], errors: [], requests: [] };
  context.on("request", (request) => {
    seen.requests.push(request.url());
    if (served.origin && !request.url().startsWith(`${served.origin}/`)) seen.foreign.push(request.url());
  });
  await page.exposeFunction("recordViolation", (/** @type {string} */ text) => seen.violations.push(text));
  await page.addInitScript(() => {
    addEventListener("securitypolicyviolation", (event) => {
      // @ts-ignore: exposed above.
      window.recordViolation(`${event.violatedDirective}: ${event.blockedURI} ${event.sample}`);
    });
  });
  page.on("pageerror", (error) => seen.errors.push(String(error.stack)));
  page.on("console", (message) => message.type() === "error" && seen.errors.push(message.text()));
  page.setDefaultTimeout(20_000);
  await page.goto(served.url);
  return { page, context, seen };
}

/** Waits until the map, or what stands for it, is drawn. @param {any} page */
export async function drawn(page) {
  await page.waitForFunction(() => document.querySelector("[role=tabpanel]:not([hidden]) tbody th, .empty:not([hidden])"));
}

/** The findings of axe, in short. The page must be in a context with bypassCSP. @param {any} page @returns {Promise<string[]>} */
export async function axe(page) {
  await page.evaluate(kAxe());
  // @ts-ignore: defined by the script above.
  const result = await page.evaluate(() => window.axe.run(document, { resultTypes: ["violations"] }));
  return result.violations.flatMap((/** @type {any} */ rule) =>
    rule.nodes.map((/** @type {any} */ node) => `${rule.id}: ${node.target.join(" ")}: ${node.failureSummary.replaceAll("\n", " ")}`),
  );
}
