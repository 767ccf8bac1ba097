import { expect, test } from "vitest";
import type { RunRow } from "../../src/db/read/recent-runs.ts";
import type { Basics, CopyFigures, CopyReads } from "../../src/worker/copy-reads.ts";
import { createSchedule } from "../../src/worker/schedule.ts";
import { createStatusReader, type WorkerState } from "../../src/worker/worker-status.ts";
import { failing, runRow } from "../support/status-rows.ts";
import { basicsOf, figuresOf } from "./status-values.ts";

const MINUTE = 60_000;
/** The database's clock is some years ahead. */
const DATABASE_NOW = new Date("2031-01-01T00:00:00Z");
const ago = (minutes: number) => new Date(DATABASE_NOW.getTime() - minutes * MINUTE);

const goodRun = (minutesAgo: number, status: RunRow["status"] = "ok") =>
  runRow(7, {
    ...{ status, startedAt: ago(minutesAgo + 1), finishedAt: ago(minutesAgo) },
    error: status === "ok" ? null : "5 of 9 would be marked removed",
  });

const basics = (rest: Partial<Basics> = {}) =>
  basicsOf({ now: () => DATABASE_NOW, lastGoodRun: goodRun(5), holder: "host:42", ...rest });

const figures = (rest: Partial<CopyFigures> = {}) => figuresOf({ completeAsOf: ago(10), seenAsOf: ago(10), ...rest });

interface Facts extends Partial<Awaited<ReturnType<CopyReads["read"]>>> {
  readonly state?: Partial<WorkerState>;
  /** How long ago the third-last tick was due. */
  readonly lateAfterMs?: number;
  readonly pausedUntil?: Date;
  readonly stop?: AbortSignal;
}

/** The reader of a worker in this state. Three ticks take 45 minutes, and a run may be without progress for three minutes. */
function readerOf({ state = {}, lateAfterMs = 45 * MINUTE, pausedUntil, stop, ...copy }: Facts) {
  const sources = {
    state: { current: null, trouble: null, ...state },
    reads: {
      read: async () => ({ basics: basics(), figures: figures(), error: null, ...copy }),
      refresh: async () => {},
    },
    schedule: {
      ...createSchedule({ schedule: "*/15 * * * *", timezone: "UTC" }),
      next: () => new Date(),
      pausedUntil: () => pausedUntil ?? null,
      lateAfterMs: () => lateAfterMs,
    },
    mask: (text: string) => text.replaceAll("secret", "***"),
  };
  return createStatusReader(sources, 3 * MINUTE, stop ?? new AbortController().signal);
}

const running = (silentMinutes: number | null) => {
  const progressAt = silentMinutes === null ? null : performance.now() - silentMinutes * MINUTE;
  return { current: { id: 8, startedAt: new Date(), progressAt, toRead: null, done: 0 } };
};
const waiting = { current: { ...running(null).current, id: null } };
const trouble = (code: string, runId: number) => ({ trouble: { code, message: `why ${code}`, runId } });
const endedAgo = (minutes: number) => ({ basics: basics({ lastGoodRun: goodRun(minutes) }) });
const held = () => ({ basics: basics({ lastGoodRun: goodRun(1, "held") }) });
const never = () => ({ basics: basics({ lastGoodRun: null }) });
const other = (isDead: boolean) => ({
  basics: basics({ lastGoodRun: null, runs: [runRow(9, { status: "running", isDead })] }),
});
const schemaOf = (kind: "behind" | "newer" | "older") => ({
  basics: basics({ schema: { kind, version: 3, missing: 1 } }),
});
const paused = () => ({ pausedUntil: new Date(), state: trouble("source_unavailable", 8) });
const gone = { error: new Error("no secret") };
const fiveFail = { failing: { total: 5, shown: ["A", "B/C", "D", "E"].map((name) => failing("ann", name)) } };

test.each<[string, () => Facts, unknown[]]>([
  ["a fresh copy needs no reason", () => ({}), [true]],
  ["a copy is not late at the third-last tick", () => endedAgo(44.9), [true]],
  ["a copy is late before it", () => endedAgo(45.1), [false, "stale"]],
  ["a short interval makes it late sooner", () => ({ lateAfterMs: 4 * MINUTE }), [false, "stale"]],
  ["before the first good run", never, [false, "no_good_run"]],
  ["a run that has read nothing yet", () => ({ ...never(), state: running(null) }), [false, "no_good_run"]],
  ["a run that makes progress is not up to date", () => ({ ...never(), state: running(2.9) }), [true, "no_good_run"]],
  ["a run without progress is stuck", () => ({ ...never(), state: running(3.1) }), [false, "no_good_run"]],
  ["a run of another process, before the first good one", () => other(false), [true, "no_good_run"]],
  ["that run is dead", () => other(true), [false, "no_good_run"]],
  ["a late copy while a run makes progress", () => ({ lateAfterMs: MINUTE, state: running(1) }), [true, "stale"]],
  ["a newer schema", () => schemaOf("newer"), [false, "schema_newer"]],
  ["a schema that lacks migrations", () => schemaOf("behind"), [false, "schema_behind"]],
  ["a schema older than the baseline", () => schemaOf("older"), [false, "schema_older"]],
  ["before the database has answered", () => ({ basics: null, figures: null }), [false, "starting"]],
  ["after a stop request", () => ({ stop: AbortSignal.abort() }), [false, "stopping"]],
  ["without the database", () => gone, [false, "database_unreachable"]],
  ["a late copy without the database", () => ({ ...endedAgo(46), ...gone }), [false, "database_unreachable", "stale"]],
  ["a held last run", held, [true, "held"]],
  ["later trouble takes precedence", () => ({ ...held(), state: trouble("busy", 7) }), [true, "busy"]],
  ["another run that is over", () => ({ basics: basics({ holder: null }), state: trouble("busy", 7) }), [true]],
  ["another run, while this one waits", () => ({ state: { ...trouble("busy", 7), ...waiting } }), [true, "busy"]],
  ["another run, before this began (fault 220)", () => ({ state: { ...trouble("busy", 7), ...running(1) } }), [true]],
  ["trouble of a run after the last good one", () => ({ state: trouble("unauthorized", 8) }), [true, "unauthorized"]],
  ["a later good run ends the trouble", () => ({ state: trouble("unauthorized", 6) }), [true]],
  ["but not a wrong configuration", () => ({ state: trouble("configuration", 6) }), [true, "configuration"]],
  ["a pause that the service asked for", paused, [true, "retry_after", "source_unavailable"]],
])("readiness: %s (faults 173 and 383)", async (_, facts, expected) => {
  const { ready, reasons } = await readerOf(facts())();
  expect([ready, ...reasons.map(({ code }) => code)]).toEqual(expected);
});

test.each<[string, Partial<CopyFigures> | null, string | null]>([
  ["one failing library", fiveFail, "failing_libraries"],
  ["libraries that are behind", { completeAsOf: ago(46), behind: 1 }, "incomplete"],
  ["libraries that are behind for two ticks", { completeAsOf: ago(44), behind: 1 }, null],
  ["libraries whose date only has to settle", { completeAsOf: ago(99) }, null],
  ["libraries that were never stored", { completeAsOf: null, behind: 1 }, "incomplete"],
  ["listings of a cache, or incomplete ones, for three ticks", { seenAsOf: ago(46) }, "incomplete"],
  ["listings of a cache for two ticks", { seenAsOf: ago(44) }, null],
  ["no run has seen all libraries", { completeAsOf: null, seenAsOf: null }, "incomplete"],
  ["items that could not be stored", { rejects: { total: 1, groups: 1, shown: [] } }, "open_rejects"],
  ["libraries that were not counted, or may not be", null, "freshness_unknown"],
])("a worker stays ready: %s (faults 161 and 173)", async (_, counted, code) => {
  const { ready, reasons } = await readerOf({ figures: counted && figures(counted) })();
  expect([ready, ...reasons.map((reason) => reason.code)]).toEqual(code === null ? [true] : [true, code]);
});

test("says that an old listing came from a cache, also if a library is behind (fault 396)", async () => {
  const { reasons } = await readerOf({ figures: figures({ completeAsOf: ago(99), behind: 1, seenAsOf: ago(46) }) })();
  expect(reasons.map(({ message }) => message)).toEqual([
    expect.stringMatching(/^the copy shows the service as of .*cache/),
  ]);
});

test("says what is wrong with the copy, and no secret", async () => {
  const rejects = { total: 1, groups: 1, shown: [] };
  const bad = figures({ ...fiveFail, rejects, completeAsOf: null, seenAsOf: null });
  const { reasons } = await readerOf({ ...held(), figures: bad, ...gone })();
  expect(reasons.map(({ message }) => message)).toEqual([
    "no ***",
    "5 of 9 would be marked removed",
    "5 libraries fail: ann/A, ann/B%2FC, ann/D and 2 more; simcat status lists the errors",
    "1 received item could not be stored; simcat status lists them",
    "no run has seen and stored every library yet, or a cache does not say how old its answers are",
  ]);
});

test("a copy becomes late although the database's clock was set back (fault 164)", async () => {
  const read = readerOf({ ...endedAgo(-600), lateAfterMs: -1 });
  expect((await read()).reasons.map(({ code }) => code)).toEqual(["stale"]);
  expect((await read()).sinceGoodRunMs).toBeGreaterThanOrEqual(0);
});
