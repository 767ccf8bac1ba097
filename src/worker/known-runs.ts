import type { RunRow } from "../db/read/recent-runs.ts";
import type { RunReport, RunStatus } from "../model.ts";
import type { Vitals } from "./vitals.ts";

/** A run and the moment of its end, of `performance.now()`. */
export interface EndedRun {
  readonly row: RunRow;
  readonly endedAt: number;
}

const GOOD: readonly RunStatus[] = ["ok", "partial", "held"];

/** The row of a run of this process, as the database has it too. `finishedAt` is by the database's clock. */
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
 * The last good run over everything: the newer one of memory and database. An answer of the database from before a
 * run of this process ended does not include that run; a later one does, and includes the runs of other processes.
 */
export function lastGoodRun(ended: readonly EndedRun[], vitals: Vitals | null): EndedRun | null {
  const own = ended.find(({ row }) => GOOD.includes(row.status));
  if (own !== undefined && (vitals === null || own.endedAt > vitals.readAt)) return own;
  if (vitals === null || vitals.lastGoodRun === null) return null;
  const row = vitals.lastGoodRun;
  const agoMs = vitals.now.getTime() - (row.finishedAt ?? row.startedAt).getTime();
  return { row, endedAt: vitals.readAt - agoMs };
}

/** The rows that were read at a moment, and the runs of this process that ended since; the newest first. */
export function addEndedRuns(rows: readonly RunRow[], readAt: number, ended: readonly EndedRun[]): RunRow[] {
  const since = ended.filter(({ endedAt }) => endedAt > readAt).map(({ row }) => row);
  const ids = new Set(since.map(({ id }) => id));
  return [...since, ...rows.filter(({ id }) => !ids.has(id))].sort((a, b) => b.id - a.id);
}
