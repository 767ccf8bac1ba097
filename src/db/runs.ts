import { and, desc, eq, isNull, notInArray, type SQL, sql } from "drizzle-orm";
import { drizzle } from "drizzle-orm/node-postgres";
import pg from "pg";
import type { RunCounts, RunRequest, RunStatus, RunSummary, Selection } from "../run-summary.ts";
import { formatSlice, isInSliceSql } from "../slice.ts";
import type { Connection } from "./connect.ts";
import { excludesLeaseSql, leaseOfScopeSql } from "./lease-names.ts";
import { syncRuns } from "./schema.ts";

/** The selectors of a run, as stored: sorted and without repetition, so that equal scopes are equal values. */
export interface Scope {
  /** Each as [owner, name]. */
  readonly libraries: readonly (readonly string[])[];
  readonly owners: readonly string[];
  /** Such as 3/8. */
  readonly slice?: string;
}

/** The scope of a run without selectors. */
export const WHOLE_SCOPE = null;

const isCompleted = (status: RunStatus) => status === "ok" || status === "partial" || status === "held";

/**
 * A good run completed, and considered libraries: it read, skipped or failed to read some. One that considered none
 * is good only if it is `ok`, because otherwise its listing shared nothing with the copy.
 */
export const isGood = ({ status, counts }: Pick<RunSummary, "status" | "counts">) =>
  status === "ok" ||
  (isCompleted(status) && counts.librariesRead + counts.librariesSkipped + counts.librariesFailed > 0);

/** The same condition over the columns of `sync_runs`. */
export const IS_GOOD =
  "(status = 'ok' OR status IN ('partial', 'held') AND libraries_read + libraries_skipped + libraries_failed > 0)";

/** The fields of a new run's row. */
interface RunStart extends RunRequest {
  /** When this backfill began, or the interrupted one that it continues, in database ms; null for a sync. */
  readonly backfillSince: number | null;
  readonly version: string;
}
export function toScope({ libraries, owners, slice }: Selection): Scope | null {
  if (slice !== undefined) return { libraries: [], owners: [], slice: formatSlice(slice) };
  if (libraries.length === 0 && owners.length === 0) return WHOLE_SCOPE;
  const byText = new Map(libraries.map(({ owner, name }) => [JSON.stringify([owner, name]), [owner, name]]));
  return {
    libraries: [...byText].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, key]) => key),
    owners: [...new Set(owners)].sort(),
  };
}

/** Selects the runs of this scope. */
const hasScope = (scope: Scope | null): SQL =>
  scope === WHOLE_SCOPE ? isNull(syncRuns.scope) : eq(syncRuns.scope, scope);

/** Selects the good runs of this scope. */
const isGoodRun = (scope: Scope | null) => and(hasScope(scope), sql.raw(IS_GOOD));

/** In milliseconds since the epoch. */
const epochMs = (instant: SQL | typeof syncRuns.backfillSince) =>
  sql<number | null>`(extract(epoch FROM ${instant}) * 1000)::float8`;

/** When the newest `--restart` of any scope began, in database ms; null if there was none. */
const RESTARTED_AT = sql<number | null>`(
  SELECT ${epochMs(sql`max(backfill_since)`)} FROM ${syncRuns} WHERE restart)`;

/** Writes the run's row. `restartedAt` is when the newest `--restart` before it began, in database ms. */
export async function insertRun(
  connection: Connection,
  { kind, trigger, selection, allowRemovals, backfillSince, restart, version }: RunStart,
): Promise<{ readonly id: number; readonly restartedAt: number | null }> {
  const [row] = await drizzle(connection)
    .insert(syncRuns)
    .values({
      kind,
      trigger,
      allowRemovals,
      restart,
      version,
      scope: toScope(selection),
      backfillSince: backfillSince === null ? null : new Date(backfillSince),
      status: "running",
    })
    .returning({ id: syncRuns.id, restartedAt: RESTARTED_AT });
  if (row === undefined) throw new Error("INSERT INTO sync_runs returned no row");
  return row;
}

/** Deletes the row of a run that had nothing to do, or of an attempt whose COMMIT was not answered. */
export async function deleteRun(connection: Connection, id: number): Promise<void> {
  await drizzle(connection).delete(syncRuns).where(eq(syncRuns.id, id));
}

/** Whether a library is one of the run's slice: runs of the other slices write at the same time. SQL on a row of the run. */
const isInSliceOfRun = (scope: string) => `(${scope}->>'slice' IS NULL OR ${isInSliceSql(`(${scope}->>'slice')`)})`;

/** Counts the rows of `library_sync` on which the run left this trace: no other run wrote to them since it began. */
const countTraces = (trace: SQL) =>
  sql`(SELECT count(*) FROM simcat.library_sync y WHERE ${trace} >= ${syncRuns.startedAt} AND ${sql.raw(isInSliceOfRun("sync_runs.scope"))})`;

/**
 * Marks the running runs as abandoned whose leases exclude this one. The caller has taken it, so none of them can write any
 * more. Most of its counts are lost; what it read and what failed is known.
 */
export async function abandonRuns(connection: Connection, lease: string): Promise<void> {
  await drizzle(connection)
    .update(syncRuns)
    .set({
      status: "abandoned",
      finishedAt: sql`clock_timestamp()`,
      librariesRead: countTraces(sql`y.content_read_at`),
      librariesFailed: countTraces(sql`y.last_failed_at`),
      error:
        "the run could not record its end: its process was killed or ran out of memory, or it lost its database or its lease. What it had stored is kept; of its counts, only those of read and failed libraries are known",
    })
    .where(
      and(
        eq(syncRuns.status, "running"),
        sql.raw(excludesLeaseSql(leaseOfScopeSql("sync_runs.scope"), pg.escapeLiteral(lease))),
      ),
    );
}

/** Whether the run's own process has recorded its end. */
export async function isFinished(connection: Connection, id: number): Promise<boolean> {
  const hasEnded = and(eq(syncRuns.id, id), notInArray(syncRuns.status, ["running", "abandoned"]));
  return (await drizzle(connection).$count(syncRuns, hasEnded)) === 1;
}

/**
 * A run that was not completed counts no failure beyond a library's first one: after an outage, every library is tried by the
 * next run.
 */
const UNCOUNT_FAILURES = `
UPDATE simcat.library_sync y SET failures = y.failures - 1
FROM simcat.sync_runs r
WHERE r.id = $1 AND r.status = 'running' AND y.failures > 1 AND y.last_failed_at >= r.started_at
  AND ${isInSliceOfRun("r.scope")}`;

/** What a run records of the listing that it accepted. */
export interface AcceptedListing {
  /** Whether it shows all libraries as of a known time. */
  readonly complete: boolean;
  /** The time as of which it shows the service, in database ms; null if that is unknown. */
  readonly asOf: number | null;
}

/** Records how the run ended. */
export async function finishRun(
  connection: Connection,
  id: number,
  { status, error, counts }: Pick<RunSummary, "status" | "error" | "counts">,
  listing: AcceptedListing | null,
): Promise<void> {
  if (!isCompleted(status)) await connection.query(UNCOUNT_FAILURES, [id]);
  await drizzle(connection)
    .update(syncRuns)
    .set({
      ...counts,
      status,
      error,
      listingComplete: listing?.complete ?? null,
      listingAsOf: listing?.asOf == null ? null : new Date(listing.asOf),
      finishedAt: sql`clock_timestamp()`,
    })
    .where(eq(syncRuns.id, id));
}

/** When the newest backfill of this scope began, in database ms, if it was not completed; otherwise null. */
export async function readUnfinishedBackfill(connection: Connection, selection: Selection): Promise<number | null> {
  const [newest] = await drizzle(connection)
    .select({
      // Held with nothing read: the listing lacked all libraries that were left.
      isCompleted: sql<boolean>`${sql.raw(IS_GOOD)} AND NOT (status = 'held' AND libraries_read = 0)`,
      since: epochMs(syncRuns.backfillSince),
    })
    .from(syncRuns)
    .where(and(eq(syncRuns.kind, "backfill"), hasScope(toScope(selection))))
    .orderBy(desc(syncRuns.id))
    .limit(1);
  return newest === undefined || newest.isCompleted ? null : newest.since;
}

/** The library counts of a finished run. */
export type LibraryCounts = Pick<RunCounts, "librariesListed" | "librariesRead" | "librariesChanged">;

/** The counts of the newest good syncs of this scope, newest first. */
export function readSyncCounts(connection: Connection, scope: Scope | null, limit: number): Promise<LibraryCounts[]> {
  const { librariesListed, librariesRead, librariesChanged } = syncRuns;
  return drizzle(connection)
    .select({ librariesListed, librariesRead, librariesChanged })
    .from(syncRuns)
    .where(and(eq(syncRuns.kind, "sync"), isGoodRun(scope)))
    .orderBy(desc(syncRuns.id))
    .limit(limit);
}
