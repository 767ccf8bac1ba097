import type { Pool } from "../db/connect.ts";
import type { RunRow } from "../db/read/recent-runs.ts";
import { GOOD_STATUSES } from "../db/runs.ts";
import type { RunReport } from "../run-report.ts";
import type { DatabaseHealth } from "./database-health.ts";

/** The worker's state: written by the sync loop and its runs, read by the HTTP routes. */
export interface WorkerState {
  phase: "starting" | "working" | "stopping";
  /** Null until the database has answered once. */
  pool: Pool | null;
  current: CurrentRun | null;
  trouble: Trouble | null;
  /** The runs of this process that have ended, newest first, at most 30. */
  ended: readonly EndedRun[];
  missedTicks: Readonly<Record<MissReason, number>>;
  /** The last three due ticks, as `performance.now()`. */
  dueTicks: readonly number[];
}

/** The run in progress. */
export interface CurrentRun {
  /** Null until the run has its row in `sync_runs`. */
  readonly id: number | null;
  readonly startedAt: Date;
  /** When the service last answered with success or a library was stored, as `performance.now()`; null before that. */
  readonly progressAt: number | null;
  /** The number of libraries to read; null until the run is planned. */
  readonly toRead: number | null;
  /** The number of libraries that were stored or have failed. */
  readonly done: number;
}

/** A run that has ended, and when, as `performance.now()`. */
export interface EndedRun {
  readonly row: RunRow;
  readonly endedAt: number;
}

/** Why the last run ended neither as ok nor as partial, or did not start. */
export interface Trouble {
  /** A run status, `busy` or `configuration`. */
  readonly code: string;
  readonly message: string;
  /** Null if the run never had a row in `sync_runs`. */
  readonly runId: number | null;
}

/** Why no run started at a due tick. */
export type MissReason = "running" | "database" | "asleep";

const MAX_ENDED_RUNS = 30;

export function createWorkerState(): WorkerState {
  const missedTicks = { running: 0, database: 0, asleep: 0 };
  return { phase: "starting", pool: null, current: null, trouble: null, ended: [], missedTicks, dueTicks: [] };
}

export function addEndedRun(state: WorkerState, run: EndedRun): void {
  state.ended = [run, ...state.ended].slice(0, MAX_ENDED_RUNS);
}

export function updateRun(state: WorkerState, change: Partial<CurrentRun>): void {
  if (state.current !== null) state.current = { ...state.current, ...change };
}

/** The row of a run of this process, as it is in the database too. `finishedAt` is by the database's clock. */
export function toRunRow({ id, kind, status, durationMs, counts, error }: RunReport, finishedAt: Date): RunRow {
  return {
    id,
    kind,
    scope: null,
    status,
    startedAt: new Date(finishedAt.getTime() - durationMs),
    finishedAt,
    read: counts.librariesRead,
    skipped: counts.librariesSkipped,
    changed: counts.librariesChanged,
    failed: counts.librariesFailed,
    removed: counts.librariesRemoved,
    error,
  };
}

/**
 * The newest good run without selectors, from this process's memory or the database. A health read that precedes the end of
 * our last run does not include that run. A later one does, and also includes the runs of other processes.
 */
export function lastGoodRun(ended: readonly EndedRun[], health: DatabaseHealth | null): EndedRun | null {
  const own = ended.find(({ row }) => GOOD_STATUSES.includes(row.status));
  if (own !== undefined && (health === null || own.endedAt > health.readAt)) return own;
  if (health === null || health.lastGoodRun === null) return null;
  const row = health.lastGoodRun;
  const agoMs = health.now.getTime() - (row.finishedAt ?? row.startedAt).getTime();
  return { row, endedAt: health.readAt - agoMs };
}

/** The rows that were read at `readAt`, and the runs of this process that have ended since, newest first. */
export function addRunsSince(rows: readonly RunRow[], readAt: number, ended: readonly EndedRun[]): RunRow[] {
  const since = ended.filter(({ endedAt }) => endedAt > readAt).map(({ row }) => row);
  const ids = new Set(since.map(({ id }) => id));
  return [...since, ...rows.filter(({ id }) => !ids.has(id))].sort((a, b) => b.id - a.id);
}
