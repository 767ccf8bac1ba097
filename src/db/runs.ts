import {
  COUNT_COLUMNS,
  type RunCounts,
  type RunRequest,
  type RunStatus,
  type RunSummary,
  type Selection,
} from "../run-summary.ts";
import { formatSlice, isInSliceSql } from "../slice.ts";
import { type Connection, oneRow } from "./connect.ts";
import { excludesLeaseSql, leaseOfScopeSql } from "./lease-names.ts";
import { statement } from "./statement.ts";

/** The selectors of a run, as stored: sorted and without repetition, so that equal scopes are equal values. */
export interface Scope {
  /** Each as [owner, name], as it was asked for: the owner is empty if only the name was given. */
  readonly libraries: readonly (readonly string[])[];
  readonly owners: readonly string[];
  /** Such as 3/8. */
  readonly slice?: string;
}

const isCompleted = (status: RunStatus) => status === "ok" || status === "partial" || status === "held";

/**
 * A good run is `ok`; or it completed, its listing was accepted because it shared something with the copy, and it considered
 * libraries: it read, skipped or failed to read some.
 */
export const isGood = (status: RunStatus, counts: Readonly<RunCounts>, isAccepted: boolean) =>
  status === "ok" ||
  (isCompleted(status) && isAccepted && counts.librariesRead + counts.librariesSkipped + counts.librariesFailed > 0);

/** The same condition over the columns of `sync_runs`. */
export const IS_GOOD = `(status = 'ok' OR status IN ('partial', 'held') AND listing_complete IS NOT NULL
  AND libraries_read + libraries_skipped + libraries_failed > 0)`;

/** Null for a run without selectors. */
export function toScope({ libraries, owners, slice }: Selection): Scope | null {
  if (slice !== undefined) return { libraries: [], owners: [], slice: formatSlice(slice) };
  if (libraries.length === 0 && owners.length === 0) return null;
  const byText = new Map(libraries.map(({ owner, name }) => [JSON.stringify([owner, name]), [owner, name]]));
  return {
    libraries: [...byText].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, key]) => key),
    owners: [...new Set(owners)].sort(),
  };
}

const INSERT_RUN = statement(`
INSERT INTO simcat.sync_runs (kind, trigger, scope, allow_removals, restart, backfill_since, status, version)
VALUES ($kind, $trigger, $scope, $allowRemovals, $restart, to_timestamp($backfillSince::float8 / 1000), 'running', $version)
RETURNING id, (SELECT extract(epoch FROM max(backfill_since)) * 1000 FROM simcat.sync_runs WHERE restart)::float8 AS "restartedAt"`);

/**
 * Writes the run's row. `backfillSince`: when this backfill began, or the interrupted one that it continues, null for a sync.
 * `restartedAt`: when the newest `--restart` of any scope before it began. Both in database ms.
 */
export async function insertRun(
  connection: Connection,
  { selection, ...start }: RunRequest & { readonly backfillSince: number | null; readonly version: string },
) {
  const row = { ...start, scope: toScope(selection) };
  return oneRow(await connection.query<{ id: number; restartedAt: number | null }>(INSERT_RUN(row)));
}

/** Deletes the row of a run that had nothing to do, or of an attempt whose COMMIT was not answered. */
export async function deleteRun(connection: Connection, id: number): Promise<void> {
  await connection.query("DELETE FROM simcat.sync_runs WHERE id = $1", [id]);
}

/** Whether a library is one of the run's slice: runs of the other slices write at the same time. SQL on a row of the run. */
const isInSliceOfRun = (scope: string) => `(${scope}->>'slice' IS NULL OR ${isInSliceSql(`(${scope}->>'slice')`)})`;

/** Counts the rows of `library_sync` on which the run left this trace: no other run wrote to them since it began. */
const countTraces = (column: string) =>
  `(SELECT count(*) FROM simcat.library_sync y WHERE y.${column} >= r.started_at AND ${isInSliceOfRun("r.scope")})`;

/** The caller has taken the lease, so no run whose lease it excludes can write any more. Most counts of such a run are lost. */
const ABANDON_RUNS = statement(`
UPDATE simcat.sync_runs r SET status = 'abandoned', finished_at = clock_timestamp(), error = $error,
  libraries_read = ${countTraces("content_read_at")}, libraries_failed = ${countTraces("last_failed_at")}
WHERE status = 'running' AND ${excludesLeaseSql(leaseOfScopeSql("r.scope"), "$lease::text")}`);

const ABANDONED =
  "the run could not record its end: its process was killed or ran out of memory, or it lost its database or its lease. What it had stored is kept; of its counts, only those of read and failed libraries are known";

export async function abandonRuns(connection: Connection, lease: string): Promise<void> {
  await connection.query(ABANDON_RUNS({ lease, error: ABANDONED }));
}

/** Whether the run's own process has saved its end. */
export async function isFinished(connection: Connection, id: number): Promise<boolean> {
  const { rowCount } = await connection.query(
    "SELECT FROM simcat.sync_runs WHERE id = $1 AND status NOT IN ('running', 'abandoned')",
    [id],
  );
  return rowCount === 1;
}

/** A run that was not completed counts only first failures: after an outage, the next run tries every library. */
const UNCOUNT_FAILURES = `
UPDATE simcat.library_sync y SET failures = y.failures - 1
FROM simcat.sync_runs r
WHERE r.id = $1 AND r.status = 'running' AND y.failures > 1 AND y.last_failed_at >= r.started_at
  AND ${isInSliceOfRun("r.scope")}`;

const FINISH_RUN = statement(`
UPDATE simcat.sync_runs SET status = $status, error = $error, finished_at = clock_timestamp(), listing_complete = $complete,
  listing_as_of = to_timestamp($asOf::float8 / 1000),
  ${Object.entries(COUNT_COLUMNS)
    .map(([count, column]) => `${column} = $${count}`)
    .join(", ")}
WHERE id = $id`);

/** Facts of the listing that a run accepted. Such a listing shares something with the copy, if there is a copy. */
export interface AcceptedListing {
  /** Whether it shows all libraries as of a known time. */
  readonly complete: boolean;
  /** The time as of which it shows the service, in database ms; null if that is unknown. */
  readonly asOf: number | null;
}

/** Saves how the run ended. */
export async function finishRun(
  connection: Connection,
  { id, status, error, counts }: Pick<RunSummary, "id" | "status" | "error" | "counts">,
  listing: AcceptedListing | null,
): Promise<void> {
  if (!isCompleted(status)) await connection.query(UNCOUNT_FAILURES, [id]);
  const { complete = null, asOf = null } = listing ?? {};
  await connection.query(FINISH_RUN({ id, status, error, complete, asOf, ...counts }));
}

/** A held backfill that read nothing was not completed: the listing lacked all libraries that were left. */
const SELECT_NEWEST_BACKFILL = `
SELECT ${IS_GOOD} AND NOT (status = 'held' AND libraries_read = 0) AS "isCompleted",
  (extract(epoch FROM backfill_since) * 1000)::float8 AS since
FROM simcat.sync_runs WHERE kind = 'backfill' AND scope IS NOT DISTINCT FROM $1 ORDER BY id DESC LIMIT 1`;

/** When the newest backfill of this scope began, in database ms, if it was not completed; otherwise null. */
export async function readUnfinishedBackfill(connection: Connection, selection: Selection): Promise<number | null> {
  const { rows } = await connection.query<{ isCompleted: boolean; since: number }>(SELECT_NEWEST_BACKFILL, [
    toScope(selection),
  ]);
  return rows[0] === undefined || rows[0].isCompleted ? null : rows[0].since;
}

/** The library counts of a finished run. */
export type LibraryCounts = Pick<RunCounts, "librariesListed" | "librariesRead" | "librariesChanged">;

/** The counts of the last hundred good syncs of everything, newest first. */
export async function readSyncCounts(connection: Connection): Promise<LibraryCounts[]> {
  const { rows } = await connection.query<LibraryCounts>(
    `SELECT libraries_listed AS "librariesListed", libraries_read AS "librariesRead", libraries_changed AS "librariesChanged"
     FROM simcat.sync_runs WHERE kind = 'sync' AND scope IS NULL AND ${IS_GOOD} ORDER BY id DESC LIMIT 100`,
  );
  return rows;
}
