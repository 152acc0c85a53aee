// The pure modules of the page: what it makes of a fleet, without a browser.
import assert from "node:assert/strict";
import test from "node:test";

import { poolCommands, recordCommands, shellWord, sliceCommands } from "../../fleet/page/commands.js";
import * as model from "../../fleet/page/model.js";
import * as rows from "../../fleet/page/rows.js";
import { kNoFilter, readToken, readView, writeView } from "../../fleet/page/state.js";
import { age, secondsText, seconds, shortTime } from "../../fleet/page/time.js";
import { before, largeFleet, smallFleet, smallHistory } from "./fleets.mjs";

const fleet = () => model.readFleet(smallFleet());
const history = () => model.readHistory(smallHistory());

test("a document of another schema is refused", () => {
  assert.throws(() => model.readFleet({ schema: "tpuslice.dev/snapshot.v1" }), /tpuslice.dev\/snapshot.v1/);
  assert.throws(() => model.readFleet(null), /schema/);
});

test("members that are missing or of another type are empty", () => {
  const read = model.readFleet({ schema: model.kSchema, pools: [{ name: 7, users: "x", hosts: null }], slices: {}, attention: [null] });
  assert.equal(read.pools[0].name, "7");
  assert.deepEqual(read.pools[0].users, []);
  assert.deepEqual(read.slices, []);
  assert.deepEqual(read.attention, [{ about: "", text: "", command: "" }]);
  assert.equal(read.cluster.name, "");
});

test("hosts that a pool lacks are drawn as missing, and not without end", () => {
  assert.equal(model.readPool({ hosts: "uu", wantedHosts: 4 }).hosts, "uumm");
  assert.equal(model.readPool({ hosts: "uu" }).hosts, "uu");
  assert.ok(model.readPool({ hosts: "", wantedHosts: 1e9 }).hosts.length < 2000);
});

test("a difference changes what it names and nothing else", () => {
  const old = fleet();
  const changed = { ...smallFleet().pools[0], state: "Broken" };
  const next = model.applyDiff(old, {
    time: "2026-01-01T06:52:11Z",
    pools: { set: { "cloud.google.com/gke-nodepool|v6e-4x4-a": changed }, removed: ["cloud.google.com/gke-nodepool|v5e-4x8-b"] },
  });
  assert.equal(next.time, "2026-01-01T06:52:11Z");
  assert.equal(next.pools.length, old.pools.length - 1);
  assert.equal(next.pools.find((pool) => pool.name === "v6e-4x4-a")?.state, "Broken");
  assert.equal(next.pools[0], old.pools[0], "the same object");
  assert.equal(next.slices, old.slices);
  assert.equal(next.attention, old.attention);
  assert.deepEqual(model.applyDiff(next, { attention: null }).attention, []);
});

test("a pool that is new has its place in the order", () => {
  const added = { ...smallFleet().pools[0], name: "v6e-4x4-aa" };
  const next = model.applyDiff(fleet(), { pools: { set: { "cloud.google.com/gke-nodepool|v6e-4x4-aa": added } } });
  assert.deepEqual(next.pools.map((pool) => pool.name).slice(2, 5), ["v6e-4x4-a", "v6e-4x4-aa", "v6e-4x4-b"]);
});

test("objects of the same key are numbered", () => {
  const found = model.byKey(["a", "b", "a", "a"], (each) => each);
  assert.deepEqual([...found.keys()], ["a", "b", "a#2", "a#3"]);
});

test("a fleet that is read again keeps the objects that are equal", () => {
  const old = fleet();
  const document = smallFleet();
  document.pools[2].problem = "another";
  const next = model.keepEqual(old, model.readFleet(document));
  const find = (/** @type {any} */ of, /** @type {string} */ name) => of.pools.find((/** @type {any} */ pool) => pool.name === name);
  assert.equal(find(next, "v6e-4x4-a"), find(old, "v6e-4x4-a"));
  assert.notEqual(find(next, "v6e-4x4-c"), find(old, "v6e-4x4-c"));
  assert.equal(next.slices[0], old.slices[0]);
});

test("the map has a row for each shape, then its pools by name", () => {
  const all = rows.mapRows(fleet(), kNoFilter);
  assert.deepEqual(
    all.map((row) => (row.type === "group" ? row.title : row.pool.name)),
    ["v5e 4x8", "v5e-4x8-a", "v5e-4x8-b", "v6e 4x4", "v6e-4x4-a", "v6e-4x4-b", "v6e-4x4-c", "v6e-4x4-d", "v6e-4x4-e", "v6e 8x8", "v6e-8x8-p", "v6e 16x16", "v6e-16x16-q"],
  );
  const group = all.find((row) => row.type === "group" && row.title === "v6e 4x4");
  assert.ok(group?.type === "group");
  assert.equal(group.counts, "2 in use · 1 reserved · 1 broken · 1 draining");
  assert.equal(group.chips, "28 of 80 chips");
});

test("filters: words, namespace, TPU and state", () => {
  const names = (/** @type {object} */ filter) =>
    rows.mapRows(fleet(), { ...kNoFilter, ...filter }).flatMap((row) => (row.type === "pool" ? [row.pool.name] : []));
  assert.deepEqual(names({ text: "NotReady c-1" }), ["v6e-4x4-c"]);
  assert.deepEqual(names({ text: "gke-v6e-4x4-e-3" }), ["v6e-4x4-e"]);
  assert.deepEqual(names({ namespace: "nlp" }), ["v6e-4x4-b"]);
  assert.deepEqual(names({ tpu: "v5e 4x8", state: "Free" }), ["v5e-4x8-b"]);
  assert.deepEqual(names({ text: "nothing has this" }), []);
});

test("the queue is by position, and what never starts is last", () => {
  const queue = rows.queueRows(fleet(), kNoFilter).map(({ slice }) => [slice.name, rows.behindText(slice)]);
  assert.deepEqual(queue, [["big", ""], ["third", "ml/jobset/big"], ["sweep-17", "2 ahead"], ["serve", "never starts"]]);
});

test("a waiting slice matches the pools of its accelerator and topology", () => {
  const all = fleet();
  const third = all.slices.find((slice) => slice.name === "third");
  assert.ok(third);
  const pools = rows.poolsFor(all, third);
  assert.deepEqual(Object.fromEntries([...pools].map(([key, state]) => [key.split("|")[1], state])), {
    "v6e-4x4-a": "taken", "v6e-4x4-b": "taken", "v6e-4x4-c": "unusable", "v6e-4x4-d": "taken", "v6e-4x4-e": "unusable",
  });
  assert.equal(rows.poolsForText(pools), "5 pools match, none is free: 3 in use or reserved, 2 not usable.");
  assert.equal(rows.poolsForText(new Map()), "No pool has this accelerator and topology.");
  assert.equal(rows.poolsForText(new Map([["a", "free"]])), "1 pool matches, 1 free.");
});

test("names that may not be seen are said to be of another namespace", () => {
  assert.equal(model.workloadName({ namespace: "", kind: "", name: "" }), "another namespace");
  const hidden = fleet().pools.find((pool) => pool.name === "v6e-16x16-q");
  assert.ok(hidden);
  assert.equal(model.usersText(hidden), "another namespace");
  assert.deepEqual(sliceCommands("kubectl tpu", fleet().slices[4]), []);
});

test("history is the newest first and has a sum", () => {
  const all = rows.historyRows(history(), kNoFilter);
  assert.deepEqual(all.map(({ record }) => record.what), ["Restarted", "TornDown", "TornDown", "TornDown"]);
  assert.equal(rows.historySummary(history()), "3 interruptions, 23.1 host-hours lost; most on gke-v6e-4x4-a-2 (2).");
  assert.equal(rows.historyRows(history(), { ...kNoFilter, text: "oomkilled" }).length, 2);
});

test("a lane shows what is known of a slice within 24 hours", () => {
  const lanes = rows.timelineLanes(fleet(), history(), kNoFilter, "slices");
  assert.equal(lanes[0].title, "ml/rayjob/train-a v6e-0");
  assert.equal(lanes[0].marks.length, 3, "with the restart, which is about all of its slices");
  assert.equal(lanes[0].summary, "Placed for 52m; 3 records, away for 17s");
  for (const lane of lanes) {
    for (const { from, to } of lane.segments) assert.ok(0 <= from && from <= to && to <= 1, lane.title);
  }
  const eval0 = lanes.find((lane) => lane.title.startsWith("nlp/jobset/eval"));
  assert.deepEqual(eval0?.segments.map((each) => each.state), ["Running", "Lost", "Running", "Running"]);
  const pools = rows.timelineLanes(fleet(), history(), kNoFilter, "pools");
  assert.equal(pools[0].title, "v6e-4x4-a");
});

test("ages are printed as kubectl prints them", () => {
  assert.deepEqual([0, 119, 120, 3599, 3600, 11220, 86400, 200000, 9 * 86400].map(secondsText), ["0s", "119s", "2m", "59m", "1h", "3h7m", "1d", "2d7h", "9d"]);
  assert.equal(age(before(90), seconds(before(0))), "90s");
  assert.equal(age("", 5), "");
  assert.equal(shortTime("soon", 0), "soon");
});

test("commands quote what a shell would read", () => {
  assert.equal(shellWord("pool/v6e-4x4"), "pool/v6e-4x4");
  assert.equal(shellWord("a;rm -rf $HOME 'x'"), `'a;rm -rf $HOME '\\''x'\\'''`);
  const pool = { ...fleet().pools[0], name: "$(touch x)" };
  for (const { command } of poolCommands("kubectl tpu", pool)) assert.match(command, /'[^']*\$\(touch x\)'/);
  assert.equal(sliceCommands("kubectl tpu", fleet().slices[0])[0].command, "kubectl tpu explain rayjob/train-a -n ml");
  assert.equal(recordCommands("kubectl tpu", history()[0])[2].command, "kubectl describe node gke-v6e-4x4-c-1");
});

test("the view in the URL is read as it was written, and has no token", () => {
  const view = readView("#tab=queue&filter=a+b&ns=ml&tpu=v6e+4x4&state=Broken&selected=pool%3Ak%7Ca&lanes=pools&drain=a&drain=b&token=x");
  assert.deepEqual(view.drained, ["a", "b"]);
  assert.deepEqual(readView(`#${writeView(view)}`), view);
  assert.doesNotMatch(writeView(view), /token/);
  assert.equal(writeView(readView("")), "");
  assert.equal(readView("#tab=none").tab, "fleet");
  assert.equal(readToken("#token=abc-_"), "abc-_");
});

test("1,500 pools are grouped and counted", () => {
  const large = model.readFleet(largeFleet({ pools: 1500, running: 1500, waiting: 500 }));
  assert.equal(rows.mapRows(large, kNoFilter).length, 1500 + 5);
  assert.equal(rows.queueRows(large, kNoFilter).length, 500);
  assert.equal(model.totals(large).waiting, 500);
});
