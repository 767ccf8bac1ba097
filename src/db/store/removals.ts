import type { LibraryKey } from "../../model.ts";
import type { Connection } from "../connect.ts";
import { REMOVE_LIBRARIES } from "./library-statements.ts";

/**
 * The numbers of the last 24 hours that the guard asks for, from the rows and their history, so that a run that died
 * after its removals counts too.
 */
const NUMBERS = `
WITH since AS (SELECT clock_timestamp() - interval '24 hours' AS at),
versions AS (
  SELECT changed_at AS valid_from, 'infinity'::timestamptz AS valid_to, removed_at, run_id FROM simcat.libraries
  UNION ALL
  SELECT valid_from, valid_to, removed_at, run_id FROM simcat.library_history, since WHERE valid_to > since.at
), moves AS (
  SELECT greatest(valid_from, since.at) AS at, 1 AS delta FROM versions, since WHERE removed_at IS NULL
  UNION ALL
  SELECT valid_to, -1 FROM versions WHERE removed_at IS NULL AND valid_to < 'infinity'
), levels AS (
  SELECT sum(sum(delta)) OVER (ORDER BY at) AS live FROM moves GROUP BY at
)
SELECT (SELECT coalesce(max(live), 0) FROM levels)::int8 AS peak,
  (SELECT count(*) FROM versions v CROSS JOIN since LEFT JOIN simcat.sync_runs r ON r.id = v.run_id
   WHERE v.removed_at > since.at AND NOT coalesce(r.allow_removals, false)) AS removed`;

/** The most libraries that were live within the last 24 hours, and the removals in that time of runs that were not allowed them. */
export async function readRemovalNumbers(connection: Connection): Promise<{ peakLive: number; removedLately: number }> {
  const { rows } = await connection.query<{ peak: number; removed: number }>(NUMBERS);
  return { peakLive: rows[0]?.peak ?? 0, removedLately: rows[0]?.removed ?? 0 };
}

/** Nothing is asked any more of a library that is no longer listed. */
const FORGIVE = `
UPDATE simcat.library_sync y SET owes = NULL, failures = 0, last_error = NULL
FROM unnest($1::text[], $2::text[]) AS i(owner, library_name)
WHERE (y.owner, y.library_name) = (i.owner, i.library_name)`;

const RESOLVE = `
UPDATE simcat.rejects r SET resolved_at = now() FROM unnest($1::text[], $2::text[]) AS i(owner, library_name)
WHERE (r.owner, r.library_name) = (i.owner, i.library_name) AND r.resolved_at IS NULL`;

/** Rows of `library_sync` for libraries that were listed once, never stored, and are gone. */
const FORGET = `
DELETE FROM simcat.library_sync y USING unnest($1::text[], $2::text[]) AS i(owner, library_name)
WHERE (y.owner, y.library_name) = (i.owner, i.library_name)`;

/**
 * Marks libraries as removed; their scenarios' rows are not touched.
 * @returns how many were marked
 */
export async function markRemoved(
  connection: Connection,
  runId: number,
  stored: readonly LibraryKey[],
  neverStored: readonly LibraryKey[],
): Promise<number> {
  const columns = (keys: readonly LibraryKey[]) => [keys.map((key) => key.owner), keys.map((key) => key.name)];
  if (neverStored.length > 0) {
    await connection.query(FORGET, columns(neverStored));
    await connection.query(RESOLVE, columns(neverStored));
  }
  if (stored.length === 0) return 0;
  const { rowCount } = await connection.query(REMOVE_LIBRARIES, [...columns(stored), runId]);
  await connection.query(FORGIVE, columns(stored));
  await connection.query(RESOLVE, columns(stored));
  return rowCount ?? 0;
}

/** The statements without a row. */
export async function markNoneRemoved(connection: Connection, runId: number): Promise<void> {
  await connection.query(REMOVE_LIBRARIES, [[], [], runId]);
  for (const text of [FORGIVE, RESOLVE, FORGET]) await connection.query(text, [[], []]);
}
