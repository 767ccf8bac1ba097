import { readStatus, type StatusRows } from "../db/read/read-status.ts";
import { type RunRow, readRecentRuns } from "../db/read/recent-runs.ts";
import { readSnapshot } from "../db/snapshot.ts";
import type { StatusPage } from "../report/status-page.ts";
import { isSettled } from "../sync/rules/settle.ts";
import type { Gauges } from "./gauges.ts";
import { keepFresh } from "./keep-fresh.ts";
import { judgeReadiness, type Readiness } from "./readiness.ts";
import type { Schedule } from "./schedule.ts";
import type { CurrentRun, WorkerState } from "./state.ts";
import { readVitals, type Vitals } from "./vitals.ts";

/** Everything that the routes tell, at one moment. */
export interface Observation {
  readonly readiness: Readiness;
  readonly lastGoodRun: RunRow | null;
  readonly nextRun: Date;
  readonly currentRun: CurrentRun | null;
  /** Why the database could not be asked just now; null when it could. */
  readonly databaseError: string | null;
  readonly gauges: Gauges;
}

export interface Observer {
  /** The database is asked anew when what is known is older than this. */
  look(maxAgeMs: number): Promise<Observation>;
  page(): Promise<StatusPage>;
}

export interface Observed {
  readonly state: Readonly<WorkerState>;
  readonly schedule: Schedule;
  readonly stuckAfterMs: number;
  readonly version: string;
  readonly timezone: string;
}

/** Bars of the chart. */
const RUNS = 30;
const PAGE_AGE_MS = 2_000;
const PATIENCE_MS = 3_000;
/** The page reads a row of every library: with a million of them that takes a moment. */
const PAGE_PATIENCE_MS = 10_000;

export function openObserver({ state, schedule, stuckAfterMs, version, timezone }: Observed): Observer {
  const vitals = keepFresh(
    async () => (state.pool === null ? null : readVitals(state.pool, PATIENCE_MS)),
    PATIENCE_MS + 500,
  );
  const rows = keepFresh(async () => {
    const { pool } = state;
    if (pool === null) return null;
    const signal = AbortSignal.timeout(PAGE_PATIENCE_MS);
    const status = await readStatus(pool, isSettled, signal);
    const runs = await readSnapshot(pool, "reading runs", (connection) => readRecentRuns(connection, RUNS), signal);
    return { status, runs, readAt: performance.now() };
  }, PAGE_PATIENCE_MS);

  async function look(maxAgeMs: number): Promise<Observation> {
    const { value, error } = await vitals(maxAgeMs);
    const now = performance.now();
    const databaseError = error?.message ?? null;
    const threeTicksMs = schedule.threeTicksMs();
    const readiness = judgeReadiness({ state, vitals: value, databaseError, threeTicksMs, stuckAfterMs, now });
    const nextRun = schedule.next();
    return {
      readiness,
      lastGoodRun: value?.lastGoodRun ?? null,
      nextRun,
      currentRun: state.current,
      databaseError,
      gauges: {
        ...sinceThen(value, now),
        openRejects: value?.openRejects ?? null,
        isReady: readiness.ready,
        isRunning: state.current !== null,
        nextRun,
        intervalMs: schedule.intervalMs(),
      },
    };
  }

  return {
    look,
    async page() {
      const seen = await look(PAGE_AGE_MS);
      // A database that does not answer the small question is not asked the large one: somebody waits for the page.
      const { value, error } = await rows(seen.databaseError === null ? PAGE_AGE_MS : Number.POSITIVE_INFINITY);
      const sinceMs = value === null ? 0 : performance.now() - value.readAt;
      return {
        version,
        timezone,
        now: new Date(),
        ready: seen.readiness.ready,
        reasons: seen.readiness.reasons,
        nextRun: seen.nextRun,
        currentRun: seen.currentRun,
        missedTicks: state.missedTicks,
        rows: value && { runs: value.runs, status: later(value.status, sinceMs) },
        outdatedMs: error === null && seen.databaseError === null ? null : sinceMs,
      };
    },
  };
}

function later(status: StatusRows, ms: number): StatusRows {
  return { ...status, now: new Date(status.now.getTime() + ms) };
}

/** Ages go on growing while the database cannot be asked. */
function sinceThen(vitals: Vitals | null, now: number) {
  const since = vitals === null ? 0 : now - vitals.readAt;
  const lastSuccess = vitals?.lastGoodRun?.finishedAt ?? null;
  return {
    lastSuccess,
    sinceLastSuccessMs:
      vitals === null || lastSuccess === null ? null : vitals.now.getTime() - lastSuccess.getTime() + since,
    oldestReadMs: vitals?.oldestReadMs == null ? null : vitals.oldestReadMs + since,
  };
}
