import { expect, test } from "vitest";
import type { RunRow } from "../../src/db/read/recent-runs.ts";
import { judgeReadiness, type Observed } from "../../src/worker/readiness.ts";
import { openState, type WorkerState } from "../../src/worker/state.ts";
import type { Vitals } from "../../src/worker/vitals.ts";

const MINUTE = 60_000;
/** Of `performance.now()`, and of the database's clock, which is some years ahead. */
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

const vitals = (rest: Partial<Vitals> = {}): Vitals => ({
  readAt: NOW,
  now: DATABASE_NOW,
  schema: { kind: "current", version: 2 },
  lastGoodRun: goodRun(5),
  openRejects: 0,
  oldestReadMs: 0,
  ...rest,
});

const state = (rest: Partial<WorkerState> = {}): WorkerState => ({ ...openState(), phase: "working", ...rest });

const judge = (rest: Partial<Observed> = {}) =>
  judgeReadiness({
    state: state(),
    vitals: vitals(),
    databaseError: null,
    threeTicksMs: 45 * MINUTE,
    stuckAfterMs: 3 * MINUTE,
    now: NOW,
    ...rest,
  });

const codes = (rest: Partial<Observed>) => {
  const { ready, reasons } = judge(rest);
  return [ready, ...reasons.map(({ code }) => code)];
};

const run = (progressAt: number | null) => ({ id: 8, startedAt: new Date(), progressAt, toRead: null, done: 0 });

test("a fresh copy is ready, for no reason", () => {
  expect(judge()).toEqual({ ready: true, reasons: [] });
});

test("a copy is stale when it is older than three ticks take, and not a moment before", () => {
  expect(codes({ vitals: vitals({ lastGoodRun: goodRun(45) }) })).toEqual([true]);
  expect(codes({ vitals: vitals({ lastGoodRun: goodRun(45.01) }) })).toEqual([false, "stale"]);
});

test("three ticks since the last good run make it stale, however short they are; two do not", () => {
  const before = NOW - 6 * MINUTE;
  const since = (ticks: number) => ({
    state: state({ dueTicks: [before, NOW - 2, NOW - 1, NOW].slice(0, 1 + ticks) }),
  });
  expect(codes(since(2))).toEqual([true]);
  expect(codes(since(3))).toEqual([false, "stale"]);
});

test("what was read a while ago goes on ageing", () => {
  const read = vitals({ readAt: NOW - 41 * MINUTE });
  expect(codes({ vitals: read, databaseError: "gone" })).toEqual([false, "database_unreachable", "stale"]);
});

test("a run that makes progress stands in for a good one, as long as it does", () => {
  const never = vitals({ lastGoodRun: null });
  expect(codes({ vitals: never })).toEqual([false, "no_good_run"]);
  expect(codes({ vitals: never, state: state({ current: run(null) }) })).toEqual([false, "no_good_run"]);
  expect(codes({ vitals: never, state: state({ current: run(NOW - 3 * MINUTE) }) })).toEqual([true]);
  expect(codes({ vitals: never, state: state({ current: run(NOW - 3 * MINUTE - 1) }) })).toEqual([
    false,
    "no_good_run",
  ]);
});

test("a schema of another version is no schema to be ready with", () => {
  expect(codes({ vitals: vitals({ schema: { kind: "newer", version: 3 } }) })).toEqual([false, "schema_newer"]);
  expect(codes({ vitals: vitals({ schema: { kind: "behind", version: 1, missing: 1 } }) })).toEqual([
    false,
    "schema_behind",
  ]);
});

test("before the database has answered, and once told to stop, it is not ready", () => {
  expect(codes({ state: openState(), vitals: null })).toEqual([false, "starting"]);
  expect(codes({ state: state({ phase: "stopping" }) })).toEqual([false, "stopping"]);
});

test("a held last run is told by its row, whoever ran it; trouble since then comes before it", () => {
  const held = vitals({ lastGoodRun: { ...goodRun(1), status: "held", error: "5 of 9 would be marked removed" } });
  expect(judge({ vitals: held })).toEqual({
    ready: true,
    reasons: [{ code: "held", message: "5 of 9 would be marked removed" }],
  });
  const trouble = { code: "busy", message: "another run is at work", runId: null };
  expect(codes({ vitals: held, state: state({ trouble }) })).toEqual([true, "busy"]);
});

test("trouble is told beside a fresh copy, until a later run comes to its end", () => {
  const trouble = { code: "unauthorized", message: "the service refused the key", runId: 8 };
  expect(judge({ state: state({ trouble }) })).toEqual({
    ready: true,
    reasons: [{ code: "unauthorized", message: "the service refused the key" }],
  });
  expect(codes({ state: state({ trouble }), vitals: vitals({ lastGoodRun: goodRun(1, 9) }) })).toEqual([true]);
});
