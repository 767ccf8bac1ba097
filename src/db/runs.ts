import { and, desc, eq, inArray, isNull, notInArray, type SQL, sql } from "drizzle-orm";
import { drizzle } from "drizzle-orm/node-postgres";
import type { RunCounts, RunReport, RunRequest, RunStatus, Selection } from "../run-report.ts";
import type { Connection } from "./connect.ts";
import { syncRuns } from "./schema.ts";

/** The lease that runs and `prune` hold, so that one of them writes at a time. */
export const SYNC_LEASE = "sync";

/** The selectors of a run, as stored: sorted and without repetition, so that equal scopes are equal values. */
export interface RunScope {
  /** Each as [owner, name]. */
  readonly libraries: readonly (readonly string[])[];
  readonly owners: readonly string[];
}

/** The scope of a run without selectors. */
export const WHOLE_SCOPE = null;

/** The statuses of completed runs. */
export const GOOD_STATUSES: readonly RunStatus[] = ["ok", "partial", "held"];

/** The fields of a new run's row. */
interface RunStart extends RunRequest {
  /** When this backfill began, or the interrupted one that it continues, in database ms; null for a sync. */
  readonly backfillSince: number | null;
  readonly version: string;
}

export function toScope({ libraries, owners }: Selection): RunScope | null {
  if (libraries.length === 0 && owners.length === 0) return WHOLE_SCOPE;
  const byText = new Map(libraries.map(({ owner, name }) => [JSON.stringify([owner, name]), [owner, name]]));
  return {
    libraries: [...byText].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, key]) => key),
    owners: [...new Set(owners)].sort(),
  };
}

/** Selects the runs of this scope. */
const hasScope = (scope: RunScope | null): SQL =>
  scope === WHOLE_SCOPE ? isNull(syncRuns.scope) : eq(syncRuns.scope, scope);

/** Selects the completed runs of this scope. */
export const isGoodRun = (scope: RunScope | null) => and(hasScope(scope), inArray(syncRuns.status, [...GOOD_STATUSES]));

/** In milliseconds since the epoch. */
const toMs = (instant: SQL | typeof syncRuns.backfillSince) =>
  sql<number | null>`(extract(epoch FROM ${instant}) * 1000)::float8`;

/** When the newest `--restart` of any scope began, in database ms; null if there was none. */
const RESTARTED_AT = sql<number | null>`(
  SELECT ${toMs(sql`max(backfill_since)`)} FROM ${syncRuns} WHERE restart)`;

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

/** Marks each running run as abandoned. The caller has taken the lease, so none of them can be alive. */
export async function abandonRuns(connection: Connection): Promise<void> {
  await drizzle(connection)
    .update(syncRuns)
    .set({
      status: "abandoned",
      finishedAt: sql`clock_timestamp()`,
      error: "the process ended without a report (killed, or out of memory); what it had stored is kept",
    })
    .where(eq(syncRuns.status, "running"));
}

/** Whether the run's own process has recorded its end. */
export async function isFinished(connection: Connection, id: number): Promise<boolean> {
  const hasEnded = and(eq(syncRuns.id, id), notInArray(syncRuns.status, ["running", "abandoned"]));
  return (await drizzle(connection).$count(syncRuns, hasEnded)) === 1;
}

/** Records how the run ended. */
export async function finishRun(
  connection: Connection,
  id: number,
  { status, error, counts }: Pick<RunReport, "status" | "error" | "counts">,
  listingComplete: boolean | null,
): Promise<void> {
  await drizzle(connection)
    .update(syncRuns)
    .set({ ...counts, status, error, listingComplete, finishedAt: sql`clock_timestamp()` })
    .where(eq(syncRuns.id, id));
}

/** When the newest backfill of this scope began, in database ms, if it was not completed; otherwise null. */
export async function readUnfinishedBackfill(connection: Connection, selection: Selection): Promise<number | null> {
  const [newest] = await drizzle(connection)
    .select({ status: syncRuns.status, since: toMs(syncRuns.backfillSince) })
    .from(syncRuns)
    .where(and(eq(syncRuns.kind, "backfill"), hasScope(toScope(selection))))
    .orderBy(desc(syncRuns.id))
    .limit(1);
  if (newest === undefined || GOOD_STATUSES.some((status) => status === newest.status)) return null;
  return newest.since;
}

/** The library counts of a finished run. */
export type LibraryCounts = Pick<RunCounts, "librariesListed" | "librariesRead" | "librariesChanged">;

/** The counts of the newest good syncs of this scope, newest first. */
export function readSyncCounts(
  connection: Connection,
  scope: RunScope | null,
  limit: number,
): Promise<LibraryCounts[]> {
  const { librariesListed, librariesRead, librariesChanged } = syncRuns;
  return drizzle(connection)
    .select({ librariesListed, librariesRead, librariesChanged })
    .from(syncRuns)
    .where(and(eq(syncRuns.kind, "sync"), isGoodRun(scope)))
    .orderBy(desc(syncRuns.id))
    .limit(limit);
}
