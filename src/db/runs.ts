import { and, desc, eq, isNull, sql } from "drizzle-orm";
import { drizzle } from "drizzle-orm/node-postgres";
import type { RunCounts, RunKind, RunStatus, Selection, Trigger } from "../model.ts";
import type { Connection } from "./connect.ts";
import { syncRuns } from "./schema.ts";

export interface RunStart {
  readonly kind: RunKind;
  readonly trigger: Trigger;
  readonly selection: Selection;
  readonly allowRemovals: boolean;
  /** Since when this backfill, with the interrupted ones that it goes on from, has been reading; null for a sync. */
  readonly backfillSince: number | null;
  /** Compare row by row whatever was read before this run, also when a later run reads it. */
  readonly restart: boolean;
  readonly version: string;
}

/** The selectors as stored: null stands for everything. Sorted and each once, so that equal scopes are equal values. */
export function toScope({ libraries, owners }: Selection) {
  if (libraries.length === 0 && owners.length === 0) return null;
  const keys = new Map(libraries.map(({ owner, name }) => [JSON.stringify([owner, name]), [owner, name]]));
  return {
    libraries: [...keys.keys()].sort().map((text) => keys.get(text)),
    owners: [...new Set(owners)].sort(),
  };
}

/** Since when the newest `--restart` of any scope has been reading, in milliseconds; null when there was none. */
const RESTARTED_AT = sql<number | null>`(
  SELECT (extract(epoch FROM max(backfill_since)) * 1000)::float8 FROM simcat.sync_runs WHERE restart)`;

/** Writes the run's row. Answers its id, and since when the newest `--restart` before it has been reading. */
export async function insertRun(
  connection: Connection,
  start: RunStart,
): Promise<{ readonly id: number; readonly restartedAt: number | null }> {
  const { kind, trigger, allowRemovals, backfillSince, restart, version } = start;
  const [row] = await drizzle(connection)
    .insert(syncRuns)
    .values({
      kind,
      trigger,
      allowRemovals,
      restart,
      version,
      scope: toScope(start.selection),
      backfillSince: backfillSince === null ? null : new Date(backfillSince),
      status: "running",
    })
    .returning({ id: syncRuns.id, restartedAt: RESTARTED_AT });
  if (row === undefined) throw new Error("INSERT INTO sync_runs returned no row");
  return row;
}

/** Takes back the row of a run that had nothing to do, or of an attempt whose COMMIT was not answered. */
export async function deleteRun(connection: Connection, id: number): Promise<void> {
  await connection.query("DELETE FROM simcat.sync_runs WHERE id = $1", [id]);
}

/** Whether its row says how it ended, in its own words. */
export async function isFinished(connection: Connection, id: number): Promise<boolean> {
  const { rowCount } = await connection.query(
    "SELECT FROM simcat.sync_runs WHERE id = $1 AND status NOT IN ('running', 'abandoned')",
    [id],
  );
  return rowCount === 1;
}

export async function finishRun(
  connection: Connection,
  id: number,
  end: { readonly status: RunStatus; readonly error: string | null; readonly counts: Readonly<RunCounts> },
): Promise<void> {
  await drizzle(connection)
    .update(syncRuns)
    .set({ ...end.counts, status: end.status, error: end.error, finishedAt: sql`clock_timestamp()` })
    .where(eq(syncRuns.id, id));
}

/**
 * Since when the newest backfill of this scope has been reading, in milliseconds, if it did not reach its end.
 * Null when there is none to go on from.
 */
export async function readUnfinishedBackfill(connection: Connection, selection: Selection): Promise<number | null> {
  const scope = toScope(selection);
  const [row] = await drizzle(connection)
    .select({
      status: syncRuns.status,
      since: sql<number | null>`(extract(epoch FROM ${syncRuns.backfillSince}) * 1000)::float8`,
    })
    .from(syncRuns)
    .where(
      and(
        eq(syncRuns.kind, "backfill"),
        scope === null ? isNull(syncRuns.scope) : sql`${syncRuns.scope} = ${JSON.stringify(scope)}::jsonb`,
      ),
    )
    .orderBy(desc(syncRuns.id))
    .limit(1);
  if (row === undefined || ["ok", "partial", "held"].includes(row.status)) return null;
  return row.since;
}

const IDLE_RUNS = `
WITH recent AS (
  SELECT id, libraries_listed >= 10 AND libraries_read * 10 >= libraries_listed * 9 AND libraries_changed = 0 AS idle
  FROM simcat.sync_runs
  WHERE kind = 'sync' AND scope IS NULL AND status IN ('ok', 'partial', 'held')
  ORDER BY id DESC LIMIT 100
)
SELECT count(*) AS idle FROM recent WHERE idle AND id > (SELECT coalesce(max(id), 0) FROM recent WHERE NOT idle)`;

/** How many of the newest syncs, in a row, read nine in ten libraries and found nothing changed. */
export async function countIdleRuns(connection: Connection): Promise<number> {
  const { rows } = await connection.query<{ idle: number }>(IDLE_RUNS);
  return rows[0]?.idle ?? 0;
}
