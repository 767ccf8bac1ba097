import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { type Fixture, fixture, syncedFixture } from "../support/fixture.ts";
import { scenarioSource } from "../support/mock/answer.ts";
import type { FaultAction } from "../support/mock/faults.ts";
import { changeLibrary, changeScenario, type MockScenario } from "../support/mock/library.ts";
import { library, scenario } from "../support/organization.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";
import { lastRun, libraryLogLines } from "./run-results.ts";

const NOW = "2030-01-02 at 3:04 PM";
/** Enough for the staging table, in several batches. */
const COUNT = 4_000;

const edit = (
  { service }: Fixture,
  change: (scenarios: readonly MockScenario[]) => readonly MockScenario[],
  lastModified: string,
) =>
  service.edit((organization) => {
    const scenarios = organization.get("alice", "long")?.scenarios ?? [];
    changeLibrary(organization, "alice", "long", { lastModified, scenarios: change(scenarios) });
  });

const state = ({ query }: Fixture) =>
  query(
    `SELECT count(*) FILTER (WHERE removed_at IS NULL)::int AS live, count(*) FILTER (WHERE removed_at IS NOT NULL)::int AS removed,
       count(DISTINCT xmin::text)::int AS writers, (SELECT count(*)::int FROM simcat.scenario_staging) AS staged,
       (SELECT sum(scenario_count)::int FROM simcat.library_sync) AS counted FROM simcat.scenarios`,
  );

test("a list of 4,000 scenarios is stored, compared, edited, shortened and contradicted (fault 29)", async () => {
  const made = await fixture([
    library("alice", "long", {
      scenarios: Array.from({ length: COUNT }, (_, at) => scenario(at + 1, { parentId: at === 0 ? null : at })),
    }),
    library("alice", "short", { scenarios: [1] }),
  ]);

  expect((await made.simcat(["sync"])).code).toBe(0);
  expect(await state(made)).toEqual([
    { live: COUNT + 1, removed: 0, writers: expect.any(Number), staged: 0, counted: COUNT + 1 },
  ]);
  expect(
    await made.query(
      "SELECT sum(scenario_id)::text AS ids, sum(parent_id)::text AS parents FROM simcat.scenarios WHERE library_name = 'long'",
    ),
  ).toEqual([{ ids: "8002000", parents: "7998000" }]);

  const before = await made.query("SELECT xmin::text, ctid::text FROM simcat.scenarios ORDER BY ctid");
  expect((await made.call(["backfill", "--restart"])).code).toBe(0);
  expect(await lastRun(made.query)).toMatchObject({ status: "ok", libraries_read: 2, scenarios_unchanged: COUNT + 1 });
  expect(await made.query("SELECT xmin::text, ctid::text FROM simcat.scenarios ORDER BY ctid")).toEqual(before);

  edit(
    made,
    (scenarios) => scenarios.map((one) => (one.scenarioId === 3_999 ? { ...one, description: "changed" } : one)),
    NOW,
  );
  expect((await made.call(["sync"])).code).toBe(0);
  expect(await lastRun(made.query)).toMatchObject({
    status: "ok",
    scenarios_updated: 1,
    scenarios_unchanged: COUNT - 1,
  });
  expect(await made.query("SELECT scenario_id::int AS id FROM simcat.scenario_history")).toEqual([{ id: 3_999 }]);

  edit(made, (scenarios) => scenarios.filter((one) => one.scenarioId !== 123), "2030-01-03 at 3:04 PM");
  expect((await made.call(["sync"])).code).toBe(0);
  expect(await lastRun(made.query)).toMatchObject({ status: "ok", scenarios_removed: 1 });
  expect(await state(made)).toEqual([
    { live: COUNT, removed: 1, writers: expect.any(Number), staged: 0, counted: COUNT },
  ]);

  edit(
    made,
    (scenarios) => [
      ...scenarios.filter((one) => one.scenarioId !== 200),
      scenario(7, { description: "contradicts" }),
      scenario(8, { parentId: 7 }),
      // The same content as the ninth one, spelled differently.
      scenario(9, { source: scenarioSource(scenario(9, { parentId: 8 })).replace(":9,", ": 9.0,") }),
    ],
    "2030-01-04 at 3:04 PM",
  );
  const contradicted = await made.call(["sync"]);
  expect(contradicted.code).toBe(2);
  expect(
    await made.query(
      "SELECT code, payload::json->>'scenarioId' AS id FROM simcat.rejects WHERE resolved_at IS NULL ORDER BY id, 2",
    ),
  ).toEqual([
    { code: "contradiction", id: "7" },
    { code: "contradiction", id: "7" },
  ]);
  expect(await lastRun(made.query)).toMatchObject({ status: "partial", rejects: 2 });
  expect(await lastRun(made.query)).not.toHaveProperty("scenarios_removed");
  expect(
    await made.query(
      "SELECT scenario_id::int AS id, description, removed_at FROM simcat.scenarios WHERE library_name = 'long' AND scenario_id IN (7, 8, 200) ORDER BY 1",
    ),
  ).toEqual([
    { id: 7, description: null, removed_at: null },
    { id: 8, description: null, removed_at: null },
    { id: 200, description: null, removed_at: null },
  ]);
  expect(await state(made)).toEqual([
    { live: COUNT, removed: 1, writers: expect.any(Number), staged: 0, counted: COUNT },
  ]);
});

test("a long list truncated near its end keeps the copy and leaves nothing staged (fault 3)", async () => {
  const made = await fixture([
    library("alice", "long", { scenarios: Array.from({ length: COUNT }, (_, at) => scenario(at + 1)) }),
  ]);
  made.service.always({ operation: "scenarios" }, { kind: "truncate", how: "chunked", bytes: -100_000 });

  const broken = await made.call(["sync"]);

  expect(broken.code).toBe(69);
  expect(libraryLogLines(broken)).toEqual([{ owner: "alice", library: "long", code: "truncated" }]);
  expect(await state(made)).toEqual([{ live: 0, removed: 0, writers: 0, staged: 0, counted: null }]);

  made.service.once({ operation: "scenarios" }, { kind: "truncate", how: "close", bytes: -100_000 });
  expect((await made.call(["sync"])).code).toBe(0);
  expect(await lastRun(made.query)).toMatchObject({ status: "ok", scenarios_inserted: COUNT, retries: 1 });
  expect(await state(made)).toEqual([
    { live: COUNT, removed: 0, writers: expect.any(Number), staged: 0, counted: COUNT },
  ]);
});

test("descriptions of 5 MB are stored exactly in libraries and scenarios (fault 34)", async () => {
  const long = `${'é🌲\\"\n'.repeat(500_000)}end`;
  expect(Buffer.byteLength(long)).toBe(4_500_003);
  const made = await fixture([
    library("alice", "Fire", {
      description: `${long}l`,
      scenarios: [scenario(1, { description: `${long}s` }), scenario(2)],
    }),
  ]);
  const hash = (text: string) => createHash("md5").update(text).digest("hex");

  expect((await made.call(["sync"])).code).toBe(0);
  const read = () =>
    made.query(
      "SELECT md5(l.description) AS library, md5(s.description) AS scenario, md5(raw->>'description') AS raw FROM simcat.libraries l JOIN simcat.scenarios s USING (owner, library_name) WHERE scenario_id = 1",
    );
  expect(await read()).toEqual([{ library: hash(`${long}l`), scenario: hash(`${long}s`), raw: hash(`${long}s`) }]);

  made.service.edit((organization) => {
    const found = organization.get("alice", "Fire");
    if (found)
      changeLibrary(organization, "alice", "Fire", {
        lastModified: NOW,
        scenarios: changeScenario(found, 1, { description: `${long}t` }),
      });
  });
  expect((await made.call(["sync"])).code).toBe(0);
  expect(await read()).toEqual([{ library: hash(`${long}l`), scenario: hash(`${long}t`), raw: hash(`${long}t`) }]);
});

/** Writes the greatest memory (in MB) and the longest blocked time (in ms) of a command to a file when it ends. */
const MEASURE = `
import { readFileSync, writeFileSync } from "node:fs";
import { monitorEventLoopDelay } from "node:perf_hooks";
const delay = monitorEventLoopDelay();
delay.enable();
process.on("exit", () => {
  const [, kb] = /VmHWM:\\s+(\\d+) kB/.exec(readFileSync("/proc/self/status", "utf8"));
  writeFileSync(process.env.MEASURED_IN, JSON.stringify({ mb: kb / 1024, ms: delay.max / 1e6 }));
});`;

test("items over 16 MiB are rejected without their memory, as is a small bomb (fault 159)", async () => {
  const keys = Array.from({ length: 2_000_000 }, (_, at) => `"k${at}":0`).join();
  const huge = `{"scenarioId":2,${keys}}`;
  const text = (name: string) => `{"libraryName":"${name}","description":"${"x".repeat(17 * 1024 * 1024)}"}`;
  const bomb = Buffer.concat([Buffer.from('["'), Buffer.alloc(200 * 1024 * 1024, "x")]);
  const made = await fixture(["bomb", "item", "metadata"].map((name) => library("alice", name, { scenarios: [1, 3] })));
  const answer = (name: string, operation: "metadata" | "scenarios", action: FaultAction | readonly FaultAction[]) => ({
    match: { library: name, operation },
    times: "always" as const,
    action,
  });
  made.service.script([
    answer("item", "scenarios", { kind: "wrongBody", text: `[{"scenarioId":1},${huge},{"scenarioId":3}]` }),
    answer("metadata", "metadata", { kind: "wrongBody", text: text("metadata") }),
    answer("bomb", "scenarios", [
      { kind: "wrongBody", base64: gzipSync(gzipSync(bomb)).toString("base64") },
      { kind: "headers", set: { "content-encoding": "gzip, gzip" } },
    ]),
  ]);
  const directory = temporaryDirectory();
  writeFileSync(join(directory, "measure.mjs"), MEASURE);
  const MEASURED_IN = join(directory, "measured.json");

  const ended = await made.simcat(["sync"], {
    SIMCAT_MAX_BODY: "150MiB",
    NODE_OPTIONS: `--import=${join(directory, "measure.mjs")}`,
    MEASURED_IN,
  });

  expect(ended.code).toBe(2);
  expect(libraryLogLines(ended).filter(({ code }) => code === "too_large")).toEqual([
    { owner: "alice", library: "bomb", code: "too_large" },
  ]);
  expect(
    await made.query(
      "SELECT library_name AS name, kind, code, length(payload) > 60000 AS long FROM simcat.rejects ORDER BY library_name",
    ),
  ).toEqual([
    { name: "item", kind: "scenario", code: "too_large", long: true },
    { name: "metadata", kind: "metadata", code: "too_large", long: true },
  ]);
  expect(
    await made.query("SELECT library_name AS name, scenario_id::int AS id FROM simcat.scenarios ORDER BY 1, 2"),
  ).toEqual(["item", "metadata"].flatMap((name) => [1, 3].map((id) => ({ name, id }))));
  const { mb, ms } = JSON.parse(readFileSync(MEASURED_IN, "utf8"));
  expect(mb).toBeLessThan(300);
  expect(ms).toBeLessThan(5_000);
});

test("a list entry over 16 MiB makes the listing incomplete (fault 159)", async () => {
  const made = await syncedFixture([library("alice", "Fire"), library("alice", "Water")]);
  const entry = `{"libraryName":"Water","uploadUser":"alice","more":"${"x".repeat(17 * 1024 * 1024)}"}`;
  made.service.script([
    {
      match: { operation: "listing" },
      times: "always",
      action: { kind: "wrongBody", text: `[{"libraryName":"Fire","uploadUser":"alice"},${entry}]` },
    },
  ]);

  expect((await made.call(["sync", "--allow-removals"])).code).toBe(2);
  expect(await made.query("SELECT owner, code FROM simcat.rejects")).toEqual([{ owner: null, code: "too_large" }]);
  expect(await made.query("SELECT FROM simcat.libraries WHERE removed_at IS NULL")).toHaveLength(2);
});
