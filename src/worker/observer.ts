import { readStatus, type StatusRows } from "../db/read/read-status.ts";
import { type RunRow, readRecentRuns } from "../db/read/recent-runs.ts";
import { readSnapshot } from "../db/transaction.ts";
import type { StatusPage } from "../report/status-page.ts";
import { isSettled } from "../sync/rules/settle.ts";
import type { Gauges } from "./gauges.ts";
import { keepFresh } from "./keep-fresh.ts";
import { addEndedRuns, type EndedRun, lastGoodRun } from "./known-runs.ts";
import { judgeReadiness, type Readiness } from "./readiness.ts";
import type { Schedule } from "./schedule.ts";
import type { CurrentRun, WorkerState } from "./state.ts";
import { type Figures, readFigures, readVitals } from "./vitals.ts";

/** Everything that the routes tell, at one moment. */
export interface Observation {
  readonly readiness: Readiness;
  /** The newer one of this process's memory and the database. */
  readonly lastGoodRun: RunRow | null;
  readonly nextRun: Date;
  readonly currentRun: CurrentRun | null;
  /** Why the database could not be asked just now; null when it could. */
  readonly databaseError: string | null;
  /** Since the last good run ended; null before the first. */
  readonly sinceGoodRunMs: number | null;
}

export interface Observer {
  /** The database is asked anew when what is known is older than this. */
  look(maxAgeMs: number): Promise<Observation>;
  gauges(): Promise<Gauges>;
  page(): Promise<StatusPage>;
}

export interface Observed {
  readonly state: Readonly<WorkerState>;
  readonly schedule: Schedule;
  readonly stuckAfterMs: number;
  readonly version: string;
  readonly timezone: string;
  /** Takes the secrets out of a message. */
  readonly mask: (message: string) => string;
}

/** Bars of the chart. */
const RUNS = 30;
const PAGE_AGE_MS = 2_000;
const SCRAPE_AGE_MS = 5_000;
const PATIENCE_MS = 3_000;
/** Runs change the figures, and those of this process are followed. At a million libraries one reading takes seconds. */
const FIGURES_AGE_MS = 60_000;
const FIGURES_PATIENCE_MS = 60_000;
/** The page reads a row of every library: with a million of them that takes a moment. */
const PAGE_PATIENCE_MS = 10_000;

export function openObserver({ state, schedule, stuckAfterMs, version, timezone, mask }: Observed): Observer {
  const vitals = keepFresh(
    async () => (state.pool === null ? null : readVitals(state.pool, PATIENCE_MS)),
    PATIENCE_MS + 500,
  );
  const figures = keepFresh(
    async () => (state.pool === null ? null : readFigures(state.pool, FIGURES_PATIENCE_MS)),
    PATIENCE_MS,
  );
  const rows = keepFresh(async () => {
    const { pool } = state;
    if (pool === null) return null;
    const readAt = performance.now();
    const signal = AbortSignal.timeout(PAGE_PATIENCE_MS);
    const status = await readStatus(pool, isSettled, signal);
    const runs = await readSnapshot(pool, "reading runs", (connection) => readRecentRuns(connection, RUNS), signal);
    return { status, runs, readAt };
  }, PAGE_PATIENCE_MS);

  async function look(maxAgeMs: number): Promise<Observation> {
    const { value, error } = await vitals(maxAgeMs);
    const now = performance.now();
    const databaseError = error === null ? null : mask(error.message);
    const threeTicksMs = schedule.threeTicksMs();
    const good: EndedRun | null = lastGoodRun(state.ended, value);
    const facts = { state, vitals: value, lastGoodRun: good, databaseError, threeTicksMs, stuckAfterMs, now };
    return {
      readiness: judgeReadiness(facts),
      lastGoodRun: good?.row ?? null,
      nextRun: schedule.next(),
      currentRun: state.current,
      databaseError,
      sinceGoodRunMs: good === null ? null : now - good.endedAt,
    };
  }

  /** A database that does not answer the small question is not asked the large one: somebody waits for the answer. */
  const unlessAway = ({ databaseError }: Observation, maxAgeMs: number) =>
    state.pool !== null && databaseError === null ? maxAgeMs : Number.POSITIVE_INFINITY;

  return {
    look,
    async gauges() {
      const seen = await look(SCRAPE_AGE_MS);
      const [last] = state.ended;
      const sinceRunMs = last === undefined ? FIGURES_AGE_MS : performance.now() - last.endedAt;
      const { value } = await figures(unlessAway(seen, Math.min(FIGURES_AGE_MS, sinceRunMs)));
      return {
        lastSuccess: seen.lastGoodRun?.finishedAt ?? null,
        sinceLastSuccessMs: seen.sinceGoodRunMs,
        openRejects: value?.openRejects ?? null,
        oldestReadMs: oldestNow(value),
        isReady: seen.readiness.ready,
        isRunning: state.current !== null,
        nextRun: seen.nextRun,
        intervalMs: schedule.intervalMs(),
      };
    },
    async page() {
      const seen = await look(PAGE_AGE_MS);
      const { value, error } = await rows(unlessAway(seen, PAGE_AGE_MS));
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
        rows: value && {
          runs: addEndedRuns(value.runs, value.readAt, state.ended).slice(0, RUNS),
          status: { ...later(value.status, sinceMs), lastGoodRun: seen.lastGoodRun ?? value.status.lastGoodRun },
        },
        outdatedMs: error === null && seen.databaseError === null ? null : sinceMs,
      };
    },
  };
}

function later(status: StatusRows, ms: number): StatusRows {
  return { ...status, now: new Date(status.now.getTime() + ms) };
}

/** Ages go on growing while the database cannot be asked. */
function oldestNow(figures: Figures | null): number | null {
  if (figures === null || figures.oldestReadMs === null) return null;
  return figures.oldestReadMs + performance.now() - figures.readAt;
}
