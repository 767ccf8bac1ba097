import { expect, test } from "vitest";
import type { RunRow } from "../../src/db/read/recent-runs.ts";
import type { DatabaseHealth } from "../../src/worker/database-health.ts";
import { judgeReadiness, type ReadinessFacts } from "../../src/worker/readiness.ts";
import { addRunsSince, createWorkerState, lastGoodRun, type WorkerState } from "../../src/worker/worker-state.ts";

const MINUTE = 60_000;
/** Epochs of `performance.now()`, and of the database's clock, which is some years ahead. */
const NOW = 100 * MINUTE;
const DATABASE_NOW = new Date("2031-01-01T00:00:00Z");

const goodRun = (minutesAgo: number, id = 7): RunRow => ({
  id,
  kind: "sync",
  scope: null,
  status: "ok",
  startedAt: new Date(DATABASE_NOW.getTime() - (minutesAgo + 1) * MINUTE),
  finishedAt: new Date(DATABASE_NOW.getTime() - minutesAgo * MINUTE),
  read: 1,
  skipped: 0,
  changed: 0,
  failed: 0,
  removed: 0,
  error: null,
});

const health = (rest: Partial<DatabaseHealth> = {}): DatabaseHealth => ({
  readAt: NOW,
  now: DATABASE_NOW,
  schema: { kind: "current", version: 2 },
  lastGoodRun: goodRun(5),
  ...rest,
});

const state = (rest: Partial<WorkerState> = {}): WorkerState => ({ ...createWorkerState(), phase: "working", ...rest });

const judge = (rest: Partial<ReadinessFacts> = {}) => {
  const facts = { state: state(), health: health(), ...rest };
  return judgeReadiness({
    lastGoodRun: lastGoodRun(facts.state.ended, facts.health),
    databaseError: null,
    threeTicksMs: 45 * MINUTE,
    stuckAfterMs: 3 * MINUTE,
    now: NOW,
    ...facts,
  });
};

const codes = (rest: Partial<ReadinessFacts>) => {
  const { ready, reasons } = judge(rest);
  return [ready, ...reasons.map(({ code }) => code)];
};

const run = (progressAt: number | null) => ({ id: 8, startedAt: new Date(), progressAt, toRead: null, done: 0 });

test("a fresh copy is ready and needs no reason", () => {
  expect(judge()).toEqual({ ready: true, reasons: [] });
});

test("a copy is stale when it is older than three ticks, and not before", () => {
  expect(codes({ health: health({ lastGoodRun: goodRun(45) }) })).toEqual([true]);
  expect(codes({ health: health({ lastGoodRun: goodRun(45.01) }) })).toEqual([false, "stale"]);
});

test("three ticks after the last good run make it stale, however short they are; two do not", () => {
  const before = NOW - 6 * MINUTE;
  const since = (ticks: number) => ({
    state: state({ dueTicks: [before, NOW - 2, NOW - 1, NOW].slice(0, 1 + ticks) }),
  });
  expect(codes(since(2))).toEqual([true]);
  expect(codes(since(3))).toEqual([false, "stale"]);
});

test("the age of the copy grows after the last query", () => {
  const read = health({ readAt: NOW - 41 * MINUTE });
  expect(codes({ health: read, databaseError: "gone" })).toEqual([false, "database_unreachable", "stale"]);
});

test("an active run counts as a good one while it makes progress", () => {
  const never = health({ lastGoodRun: null });
  expect(codes({ health: never })).toEqual([false, "no_good_run"]);
  expect(codes({ health: never, state: state({ current: run(null) }) })).toEqual([false, "no_good_run"]);
  expect(codes({ health: never, state: state({ current: run(NOW - 3 * MINUTE) }) })).toEqual([true]);
  expect(codes({ health: never, state: state({ current: run(NOW - 3 * MINUTE - 1) }) })).toEqual([
    false,
    "no_good_run",
  ]);
});

test("another schema version is not ready", () => {
  expect(codes({ health: health({ schema: { kind: "newer", version: 3 } }) })).toEqual([false, "schema_newer"]);
  expect(codes({ health: health({ schema: { kind: "behind", version: 1, missing: 1 } }) })).toEqual([
    false,
    "schema_behind",
  ]);
});

test("is not ready before the database has answered, or after a stop request", () => {
  expect(codes({ state: createWorkerState(), health: null })).toEqual([false, "starting"]);
  expect(codes({ state: state({ phase: "stopping" }) })).toEqual([false, "stopping"]);
});

test("reports a held last run of any process from its row; later trouble takes precedence", () => {
  const held = health({ lastGoodRun: { ...goodRun(1), status: "held", error: "5 of 9 would be marked removed" } });
  expect(judge({ health: held })).toEqual({
    ready: true,
    reasons: [{ code: "held", message: "5 of 9 would be marked removed" }],
  });
  const trouble = { code: "busy", message: "another run is at work", runId: null };
  expect(codes({ health: held, state: state({ trouble }) })).toEqual([true, "busy"]);
});

test("reports trouble with a fresh copy until a later run is completed", () => {
  const trouble = { code: "unauthorized", message: "the service refused the key", runId: 8 };
  expect(judge({ state: state({ trouble }) })).toEqual({
    ready: true,
    reasons: [{ code: "unauthorized", message: "the service refused the key" }],
  });
  expect(codes({ state: state({ trouble }), health: health({ lastGoodRun: goodRun(1, 9) }) })).toEqual([true]);
});

const ended = (minutesAgo: number, row: Partial<RunRow> = {}) => ({
  row: { ...goodRun(minutesAgo, 9), ...row },
  endedAt: NOW - minutesAgo * MINUTE,
});

test("a good run of this process counts, even if the last query preceded its end (fault 92)", () => {
  const asked = health({ readAt: NOW - 60 * MINUTE, lastGoodRun: goodRun(5, 7) });
  const gone = { health: asked, databaseError: "gone" };
  expect(codes(gone)).toEqual([false, "database_unreachable", "stale"]);
  expect(codes({ ...gone, state: state({ ended: [ended(1)] }) })).toEqual([false, "database_unreachable"]);
  expect(codes({ ...gone, state: state({ ended: [ended(46)] }) })).toEqual([false, "database_unreachable", "stale"]);
  expect(codes({ ...gone, health: null, state: state({ ended: [ended(1)] }) })).toEqual([
    false,
    "database_unreachable",
  ]);
});

test("the last good run is the newer one of memory and database", () => {
  const asked = health({ readAt: NOW - 10 * MINUTE, now: DATABASE_NOW, lastGoodRun: goodRun(5, 7) });
  const idOf = (...args: Parameters<typeof lastGoodRun>) => lastGoodRun(...args)?.row.id;
  expect(idOf([ended(9)], asked)).toBe(9);
  // The later query includes that run, and those of other processes.
  expect(idOf([ended(11)], asked)).toBe(7);
  expect(idOf([ended(1, { id: 10, status: "database_failed" }), ended(9)], asked)).toBe(9);
  expect(idOf([ended(1, { status: "unauthorized" })], asked)).toBe(7);
  expect(idOf([], asked)).toBe(7);
  expect(idOf([], null)).toBeUndefined();
  expect(lastGoodRun([], asked)?.endedAt).toBe(NOW - 15 * MINUTE);
});

test("merges the queried rows with the runs that ended since, each once", () => {
  const rows = [{ ...goodRun(6, 8), status: "running" as const }, goodRun(20, 7)];
  const since = [ended(1, { id: 10 }), ended(5, { id: 8 }), ended(21, { id: 7, status: "failed" })];
  const merged = addRunsSince(rows, NOW - 6 * MINUTE, since);
  expect(merged.map(({ id, status }) => [id, status])).toEqual([
    [10, "ok"],
    [8, "ok"],
    [7, "ok"],
  ]);
});
