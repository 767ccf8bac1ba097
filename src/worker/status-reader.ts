import { type Connection, oneRow } from "../db/connect.ts";
import { readStatus, type StatusRows } from "../db/read/read-status.ts";
import { type RunRow, readRecentRuns } from "../db/read/recent-runs.ts";
import { readSnapshot } from "../db/transaction.ts";
import type { StatusPage } from "../report/status-page.ts";
import { isSettled } from "../sync/rules/settle.ts";
import { cacheWithTtl } from "./cached-read.ts";
import { type CopyFigures, readCopyFigures, readDatabaseHealth } from "./database-health.ts";
import type { GaugeValues } from "./metrics.ts";
import { judgeReadiness, type Readiness } from "./readiness.ts";
import type { Schedule } from "./schedule.ts";
import { addRunsSince, type CurrentRun, lastGoodRun, type WorkerState } from "./worker-state.ts";

/** The state of the worker and its database at one moment. */
export interface StatusSnapshot {
  readonly readiness: Readiness;
  /** The newest one, from this process's memory or the database. */
  readonly lastGoodRun: RunRow | null;
  readonly nextRun: Date;
  readonly currentRun: CurrentRun | null;
  /** Why the database could not be read; null if it could. */
  readonly databaseError: string | null;
  /** Time since the last good run ended; null before the first. */
  readonly sinceGoodRunMs: number | null;
}

export interface StatusReader {
  /** Reads the database again if the last read is older than `maxAgeMs`. */
  snapshot(maxAgeMs: number): Promise<StatusSnapshot>;
  gauges(): Promise<GaugeValues>;
  page(): Promise<StatusPage>;
}

interface StatusReaderOptions {
  readonly state: Readonly<WorkerState>;
  readonly schedule: Schedule;
  readonly stuckAfterMs: number;
  readonly version: string;
  readonly timezone: string;
  readonly serviceHost: string;
  /** Replaces the secrets in a message. */
  readonly mask: (message: string) => string;
}

const PAGE_RUNS = 30;
const PAGE_AGE_MS = 2_000;
const SCRAPE_AGE_MS = 5_000;
const HEALTH_TIMEOUT_MS = 3_000;
/** Runs change the figures, and they are read again after each run of this process. One read of a million libraries takes seconds. */
const FIGURES_AGE_MS = 60_000;
const FIGURES_TIMEOUT_MS = 60_000;
/** The page reads a row of every library. */
const PAGE_TIMEOUT_MS = 10_000;

export function createStatusReader(options: StatusReaderOptions): StatusReader {
  const { state, schedule, stuckAfterMs, version, timezone, serviceHost, mask } = options;
  const health = cacheWithTtl(
    async () => (state.pool === null ? null : readDatabaseHealth(state.pool, HEALTH_TIMEOUT_MS)),
    HEALTH_TIMEOUT_MS + 500,
  );
  const figures = cacheWithTtl(
    async () => (state.pool === null ? null : readCopyFigures(state.pool, FIGURES_TIMEOUT_MS)),
    HEALTH_TIMEOUT_MS,
  );
  const pageRows = cacheWithTtl(async () => {
    const { pool } = state;
    if (pool === null) return null;
    const readAt = performance.now();
    const signal = AbortSignal.timeout(PAGE_TIMEOUT_MS);
    const status = await readStatus(pool, isSettled, signal);
    const read = async (connection: Connection) => ({
      runs: await readRecentRuns(connection, PAGE_RUNS),
      database: oneRow(await connection.query<{ name: string }>("SELECT current_database() AS name")).name,
    });
    return { status, ...(await readSnapshot(pool, "reading runs", read, signal)), readAt };
  }, PAGE_TIMEOUT_MS);

  async function snapshot(maxAgeMs: number): Promise<StatusSnapshot> {
    const { value, error } = await health(maxAgeMs);
    const now = performance.now();
    const databaseError = error === null ? null : mask(error.message);
    const threeTicksMs = schedule.threeTicksMs();
    const good = lastGoodRun(state.ended, value);
    const facts = { state, health: value, lastGoodRun: good, databaseError, threeTicksMs, stuckAfterMs, now };
    return {
      readiness: judgeReadiness(facts),
      lastGoodRun: good?.row ?? null,
      nextRun: schedule.next(),
      currentRun: state.current,
      databaseError,
      sinceGoodRunMs: good === null ? null : now - good.endedAt,
    };
  }

  /** An unreachable database is not asked for more, because a client is waiting for the answer. */
  const unlessUnreachable = ({ databaseError }: StatusSnapshot, maxAgeMs: number) =>
    state.pool !== null && databaseError === null ? maxAgeMs : Number.POSITIVE_INFINITY;

  return {
    snapshot,
    async gauges() {
      const current = await snapshot(SCRAPE_AGE_MS);
      const [last] = state.ended;
      const sinceRunMs = last === undefined ? FIGURES_AGE_MS : performance.now() - last.endedAt;
      const { value } = await figures(unlessUnreachable(current, Math.min(FIGURES_AGE_MS, sinceRunMs)));
      return {
        lastSuccess: current.lastGoodRun?.finishedAt ?? null,
        sinceLastSuccessMs: current.sinceGoodRunMs,
        openRejects: value?.openRejects ?? null,
        oldestReadMs: oldestReadNow(value),
        isReady: current.readiness.ready,
        isRunning: state.current !== null,
        nextRun: current.nextRun,
        intervalMs: schedule.intervalMs(),
      };
    },
    async page() {
      const current = await snapshot(PAGE_AGE_MS);
      const { value, error } = await pageRows(unlessUnreachable(current, PAGE_AGE_MS));
      const sinceReadMs = value === null ? 0 : performance.now() - value.readAt;
      return {
        version,
        timezone,
        serviceHost,
        now: new Date(),
        ready: current.readiness.ready,
        reasons: current.readiness.reasons,
        nextRun: current.nextRun,
        currentRun: current.currentRun,
        missedTicks: state.missedTicks,
        rows: value && {
          database: value.database,
          runs: addRunsSince(value.runs, value.readAt, state.ended).slice(0, PAGE_RUNS),
          status: {
            ...advance(value.status, sinceReadMs),
            lastGoodRun: current.lastGoodRun ?? value.status.lastGoodRun,
          },
        },
        outdatedMs: error === null && current.databaseError === null ? null : sinceReadMs,
      };
    },
  };
}

/** The rows with the database's clock moved on, so that ages in them are right. */
function advance(status: StatusRows, ms: number): StatusRows {
  return { ...status, now: new Date(status.now.getTime() + ms) };
}

/** The age keeps growing while the database cannot be read. */
function oldestReadNow(figures: CopyFigures | null): number | null {
  if (figures === null || figures.oldestReadMs === null) return null;
  return figures.oldestReadMs + performance.now() - figures.readAt;
}
