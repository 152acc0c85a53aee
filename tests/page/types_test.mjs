// The types of the page's modules, as their comments say, are consistent.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import test from "node:test";

test("the modules of the page have no type errors", () => {
  const tsc = `${process.env.TPUSLICE_PAGE_PACKAGES}/node_modules/.bin/tsc`;
  const result = spawnSync(tsc, ["-p", fileURLToPath(new URL("tsconfig.json", import.meta.url))], { encoding: "utf8" });
  assert.equal(result.status, 0, result.stdout + result.stderr);
});
