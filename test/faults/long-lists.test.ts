import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { serviceRows, storedRows } from "../process/service-rows.ts";
import { type Fixture, fixture, syncedFixture } from "../support/fixture.ts";
import { scenarioSource } from "../support/mock/answer.ts";
import type { MockScenario } from "../support/mock/library.ts";
import { library, NEWER, scenario } from "../support/organization.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";
import { always, bytes, encoded, text } from "./answers.ts";
import { lastRun, libraryLogLines } from "./run-results.ts";

/** Enough for the staging table, in several batches. */
const COUNT = 4_000;

const edit = (
  { service }: Fixture,
  change: (scenarios: readonly MockScenario[]) => readonly MockScenario[],
  lastModified: string,
): void => {
  const { scenarios = [] } = service.organization.get("alice", "long") ?? {};
  service.change("alice", "long", { lastModified, scenarios: change(scenarios) });
};

const state = ({ lines }: Fixture) =>
  lines(
    `SELECT count(*) FILTER (WHERE removed_at IS NULL), 'live', count(removed_at), 'removed',
       (SELECT sum(scenario_count) FROM simcat.library_sync), 'counted',
       (SELECT count(*) FROM simcat.scenario_staging), 'staged' FROM simcat.scenarios`,
  );

test("a list of 4,000 scenarios is stored, compared, edited, shortened and contradicted (fault 29)", async () => {
  const made = await fixture([
    library("alice", "long", {
      scenarios: Array.from({ length: COUNT }, (_, at) => scenario(at + 1, { parentId: at === 0 ? null : at })),
    }),
    library("alice", "short", { scenarios: [1] }),
  ]);

  expect((await made.call(["sync"])).code).toBe(0);
  expect(await state(made)).toEqual(["4001 live 0 removed 4001 counted 0 staged"]);
  const sums = "SELECT sum(scenario_id), sum(parent_id) FROM simcat.scenarios WHERE library_name = 'long'";
  expect(await made.lines(sums)).toEqual(["8002000 7998000"]);

  const places = () => made.lines("SELECT xmin, ctid FROM simcat.scenarios ORDER BY ctid");
  const before = await places();
  expect((await made.call(["backfill", "--restart"])).code).toBe(0);
  expect(await lastRun(made.query)).toMatchObject({ status: "ok", libraries_read: 2, scenarios_unchanged: 4_001 });
  expect(await places()).toEqual(before);

  const change = (one: MockScenario) => (one.scenarioId === 3_999 ? { ...one, description: "changed" } : one);
  edit(made, (scenarios) => scenarios.map(change), NEWER);
  expect((await made.call(["sync"])).code).toBe(0);
  expect(await lastRun(made.query)).toMatchObject({ status: "ok", scenarios_updated: 1, scenarios_unchanged: 3_999 });
  expect(await made.lines("SELECT scenario_id FROM simcat.scenario_history")).toEqual(["3999"]);

  edit(made, (scenarios) => scenarios.filter((one) => one.scenarioId !== 123), "2030-01-03 at 3:04 PM");
  expect((await made.call(["sync"])).code).toBe(0);
  expect(await lastRun(made.query)).toMatchObject({ status: "ok", scenarios_removed: 1 });
  expect(await state(made)).toEqual(["4000 live 1 removed 4000 counted 0 staged"]);

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
  expect((await made.call(["sync"])).code).toBe(2);
  const open = "SELECT code, payload::json->>'scenarioId' FROM simcat.rejects WHERE resolved_at IS NULL";
  expect(await made.lines(open)).toEqual(["contradiction 7", "contradiction 7"]);
  expect(await lastRun(made.query)).toMatchObject({ status: "partial", rejects: 2 });
  expect(await lastRun(made.query)).not.toHaveProperty("scenarios_removed");
  const live = `SELECT scenario_id, description FROM simcat.scenarios
    WHERE library_name = 'long' AND scenario_id IN (7, 8, 200) AND removed_at IS NULL ORDER BY 1`;
  expect(await made.lines(live)).toEqual(["7 NULL", "8 NULL", "200 NULL"]);
  expect(await state(made)).toEqual(["4000 live 1 removed 4000 counted 0 staged"]);
});

test("a long list truncated near its end keeps the copy and leaves nothing staged (fault 3)", async () => {
  const made = await fixture([
    library("alice", "long", { scenarios: Array.from({ length: COUNT }, (_, at) => scenario(at + 1)) }),
  ]);
  made.service.always({ operation: "scenarios" }, { kind: "truncate", how: "chunked", bytes: -100_000 });

  const broken = await made.call(["sync"]);

  expect(broken.code).toBe(69);
  expect(libraryLogLines(broken)).toEqual(["alice/long truncated"]);
  expect(await state(made)).toEqual(["0 live 0 removed NULL counted 0 staged"]);

  made.service.once({ operation: "scenarios" }, { kind: "truncate", how: "close", bytes: -100_000 });
  expect((await made.call(["sync"])).code).toBe(0);
  expect(await lastRun(made.query)).toMatchObject({ status: "ok", scenarios_inserted: COUNT, retries: 1 });
  expect(await state(made)).toEqual(["4000 live 0 removed 4000 counted 0 staged"]);
});

test("descriptions of 5 MB are stored exactly in libraries and scenarios (fault 34)", async () => {
  const long = `${'é🌲\\"\n'.repeat(500_000)}end`;
  expect(Buffer.byteLength(long)).toBe(4_500_003);
  const scenarios = (end: string) => [scenario(1, { description: long + end }), scenario(2)];
  const made = await fixture([library("alice", "Fire", { description: long, scenarios: scenarios("s") })]);
  // A difference of two such texts would take minutes to print.
  const isStored = async () => isDeepStrictEqual(await storedRows(made.query), serviceRows(made.service.organization));

  expect((await made.call(["sync"])).code).toBe(0);
  expect(await isStored()).toBe(true);

  made.service.change("alice", "Fire", { lastModified: NEWER, scenarios: scenarios("t") });
  expect((await made.call(["sync"])).code).toBe(0);
  expect(await isStored()).toBe(true);
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
  const metadata = `{"libraryName":"metadata","description":"${"x".repeat(17 * 1024 * 1024)}"}`;
  const bomb = gzipSync(gzipSync(Buffer.concat([Buffer.from('["'), Buffer.alloc(200 * 1024 * 1024, "x")])));
  const made = await fixture(["bomb", "item", "metadata"].map((name) => library("alice", name, { scenarios: [1, 3] })));
  made.service.script([
    always({ library: "item", operation: "scenarios" }, text(`[{"scenarioId":1},${huge},{"scenarioId":3}]`)),
    always({ library: "metadata", operation: "metadata" }, text(metadata)),
    always({ library: "bomb", operation: "scenarios" }, [bytes(bomb), encoded("gzip, gzip")]),
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
  expect(libraryLogLines(ended)).toEqual(["alice/bomb too_large", "alice/item rejects", "alice/metadata rejects"]);
  expect(
    await made.lines("SELECT library_name, kind, code, length(payload) > 60000 FROM simcat.rejects ORDER BY 1"),
  ).toEqual(["item scenario too_large true", "metadata metadata too_large true"]);
  expect(await made.lines("SELECT library_name, scenario_id FROM simcat.scenarios ORDER BY 1, 2")).toEqual([
    "item 1",
    "item 3",
    "metadata 1",
    "metadata 3",
  ]);
  const { mb, ms } = JSON.parse(readFileSync(MEASURED_IN, "utf8"));
  expect(mb).toBeLessThan(300);
  expect(ms).toBeLessThan(5_000);
});

test("a list entry over 16 MiB makes the listing incomplete (fault 159)", async () => {
  const made = await syncedFixture([library("alice", "Fire"), library("alice", "Water")]);
  const entry = `{"libraryName":"Water","uploadUser":"alice","more":"${"x".repeat(17 * 1024 * 1024)}"}`;
  made.service.always({ operation: "listing" }, text(`[{"libraryName":"Fire","uploadUser":"alice"},${entry}]`));

  expect((await made.call(["sync", "--allow-removals"])).code).toBe(2);
  expect(await made.lines("SELECT owner, code FROM simcat.rejects")).toEqual(["NULL too_large"]);
  expect(await made.query("SELECT FROM simcat.libraries WHERE removed_at IS NULL")).toHaveLength(2);
});
