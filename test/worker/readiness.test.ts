import { expect, test } from "vitest";
import type { RunRow } from "../../src/db/read/recent-runs.ts";
import type { Basics, CopyState } from "../../src/worker/copy-reads.ts";
import type { Schedule } from "../../src/worker/schedule.ts";
import { createStatusReader, createWorkerState, type WorkerState } from "../../src/worker/worker-status.ts";
import { figuresOf } from "./status-values.ts";

const MINUTE = 60_000;
/** The database's clock is some years ahead. */
const DATABASE_NOW = new Date("2031-01-01T00:00:00Z");
const ago = (minutes: number) => new Date(DATABASE_NOW.getTime() - minutes * MINUTE);

const goodRun = (minutesAgo: number, id = 7): RunRow => ({
  id,
  kind: "sync",
  scope: null,
  status: "ok",
  startedAt: ago(minutesAgo + 1),
  finishedAt: ago(minutesAgo),
  read: 1,
  skipped: 0,
  changed: 0,
  failed: 0,
  removed: 0,
  error: null,
});

const basics = (rest: Partial<Basics> = {}): Basics => ({
  readAt: performance.now(),
  now: DATABASE_NOW,
  schema: { kind: "current", version: 2 },
  lastGoodRun: goodRun(5),
  runs: [],
  ...rest,
});

const reported = { completeAsOf: ago(10), seenAsOf: ago(10), behind: 0 };
const figures = (rest: Parameters<typeof figuresOf>[0] = {}) => ({
  ...figuresOf({ reported, ...rest }),
  readAt: performance.now(),
  now: DATABASE_NOW,
});

interface Facts extends Partial<CopyState> {
  readonly state?: Partial<WorkerState>;
  /** How long ago the third-last tick was due. */
  readonly lateAfterMs?: number;
}

/** The reader of a worker in this state. Three ticks take 45 minutes, and a run may be without progress for three minutes. */
function readerOf({ state = {}, lateAfterMs = 45 * MINUTE, ...copy }: Facts) {
  const schedule: Schedule = {
    next: (notBefore = new Date(0)) => notBefore,
    intervalMs: () => 15 * MINUTE,
    lateBefore: () => performance.now() - lateAfterMs,
    start: () => {},
    stop: () => {},
    isAlive: () => true,
  };
  return createStatusReader({
    state: { ...createWorkerState(), phase: "working", ...state },
    reads: { read: async () => ({ basics: basics(), figures: figures(), error: null, ...copy }) },
    schedule,
    stuckAfterMs: 3 * MINUTE,
    mask: (text) => text.replaceAll("secret", "***"),
  });
}

const judge = async (facts: Facts) => {
  const { ready, reasons } = await readerOf(facts)();
  return { ready, reasons };
};
const codes = async (facts: Facts) => {
  const { ready, reasons } = await judge(facts);
  return [ready, ...reasons.map(({ code }) => code)];
};

const running = (silentMinutes: number | null) => {
  const progressAt = silentMinutes === null ? null : performance.now() - silentMinutes * MINUTE;
  return { current: { id: 8, startedAt: new Date(), progressAt, toRead: null, done: 0 } };
};
const trouble = (code: string, runId: number | null) => ({ trouble: { code, message: `why ${code}`, runId } });
const held = () => basics({ lastGoodRun: { ...goodRun(1), status: "held", error: "5 of 9 would be marked removed" } });
const never = () => basics({ lastGoodRun: null });
const failed = {
  owner: "ann",
  failures: 3,
  lastFailedAt: null,
  lastSuccessAt: null,
  bookmarkSeenAt: null,
  lastError: "down",
};
const failing = { total: 5, shown: ["A", "B/C", "D", "E"].map((name) => ({ ...failed, name })) };

test.each<[string, () => Facts, unknown[]]>([
  ["a fresh copy needs no reason", () => ({}), [true]],
  ["a copy is not late at the third-last tick", () => ({ basics: basics({ lastGoodRun: goodRun(44.9) }) }), [true]],
  ["a copy is late before it", () => ({ basics: basics({ lastGoodRun: goodRun(45.1) }) }), [false, "stale"]],
  ["a short interval makes it late sooner", () => ({ lateAfterMs: 4 * MINUTE }), [false, "stale"]],
  ["before the first good run", () => ({ basics: never() }), [false, "no_good_run"]],
  ["a run that has read nothing yet", () => ({ basics: never(), state: running(null) }), [false, "no_good_run"]],
  [
    "a run that makes progress is ready, and not up to date",
    () => ({ basics: never(), state: running(2.9) }),
    [true, "no_good_run"],
  ],
  ["a run without progress is stuck", () => ({ basics: never(), state: running(3.1) }), [false, "no_good_run"]],
  ["a late copy while a run makes progress", () => ({ lateAfterMs: MINUTE, state: running(1) }), [true, "stale"]],
  ["a newer schema", () => ({ basics: basics({ schema: { kind: "newer", version: 3 } }) }), [false, "schema_newer"]],
  [
    "an older schema",
    () => ({ basics: basics({ schema: { kind: "behind", version: 1, missing: 1 } }) }),
    [false, "schema_behind"],
  ],
  ["before the database has answered", () => ({ basics: null, state: { phase: "starting" } }), [false, "starting"]],
  ["after a stop request", () => ({ state: { phase: "stopping" } }), [false, "stopping"]],
  ["without the database", () => ({ error: new Error("gone") }), [false, "database_unreachable"]],
  [
    "the age of the copy grows without the database",
    () => ({ basics: basics({ readAt: performance.now() - 41 * MINUTE }), error: new Error("gone") }),
    [false, "database_unreachable", "stale"],
  ],
  ["a held last run", () => ({ basics: held() }), [true, "held"]],
  ["later trouble takes precedence", () => ({ basics: held(), state: trouble("busy", null) }), [true, "busy"]],
  ["trouble of a run after the last good one", () => ({ state: trouble("unauthorized", 8) }), [true, "unauthorized"]],
  ["a later good run ends the trouble", () => ({ state: trouble("unauthorized", 6) }), [true]],
  [
    "a pause that the service asked for",
    () => ({ state: { pausedUntil: new Date(Date.now() + MINUTE), ...trouble("source_unavailable", 8) } }),
    [true, "retry_after", "source_unavailable"],
  ],
  ["a pause that has passed", () => ({ state: { pausedUntil: new Date(Date.now() - 1) } }), [true]],
  [
    "one failing library does not affect readiness",
    () => ({ figures: figures({ failing }) }),
    [true, "failing_libraries"],
  ],
  [
    "libraries that are behind",
    () => ({ figures: figures({ reported: { ...reported, completeAsOf: ago(46), behind: 1 } }) }),
    [true, "incomplete"],
  ],
  [
    "libraries that are behind for two ticks",
    () => ({ figures: figures({ reported: { ...reported, completeAsOf: ago(44), behind: 1 } }) }),
    [true],
  ],
  [
    "libraries whose date only has to settle",
    () => ({ figures: figures({ reported: { ...reported, completeAsOf: ago(99) } }) }),
    [true],
  ],
  [
    "libraries that were never stored",
    () => ({ figures: figures({ reported: { ...reported, completeAsOf: null, behind: 1 } }) }),
    [true, "incomplete"],
  ],
  [
    "listings of a cache, or incomplete ones, for three ticks",
    () => ({ figures: figures({ reported: { ...reported, seenAsOf: ago(46) } }) }),
    [true, "incomplete"],
  ],
  [
    "listings of a cache for two ticks",
    () => ({ figures: figures({ reported: { ...reported, seenAsOf: ago(44) } }) }),
    [true],
  ],
  [
    "no run has seen all libraries",
    () => ({ figures: figures({ reported: { ...reported, completeAsOf: null, seenAsOf: null } }) }),
    [true, "incomplete"],
  ],
  [
    "items that could not be stored",
    () => ({ figures: figures({ rejects: { total: 1, groups: 1, shown: [] } }) }),
    [true, "open_rejects"],
  ],
  ["a role that may not read the views", () => ({ figures: figures({ reported: null }) }), [true, "freshness_unknown"]],
  ["before the libraries were counted", () => ({ figures: null }), [true, "freshness_unknown"]],
])("readiness: %s (fault 173)", async (_, facts, expected) => {
  expect(await codes(facts())).toEqual(expected);
});

test("names the failing libraries, why a removal is held, and no secret", async () => {
  const all = { basics: held(), figures: figures({ failing }), error: new Error("no secret") };
  expect((await judge(all)).reasons.map(({ message }) => message)).toEqual([
    "no ***",
    "5 of 9 would be marked removed",
    "5 libraries fail: ann/A, ann/B%2FC, ann/D and 2 more; simcat status lists the errors",
  ]);
});

test("a copy becomes late although the database's clock was set back (fault 164)", async () => {
  const read = readerOf({ basics: basics({ lastGoodRun: goodRun(-600) }), lateAfterMs: -1 });
  expect((await read()).reasons.map(({ code }) => code)).toEqual(["stale"]);
  expect((await read()).sinceGoodRunMs).toBeGreaterThanOrEqual(0);
});
