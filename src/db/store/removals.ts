import type { LibraryKey } from "../../model.ts";
import type { Connection } from "../connect.ts";
import { REMOVE_LIBRARIES } from "./library-statements.ts";

/**
 * The numbers of the last 24 hours that the guard asks for, from the rows and their history, so that a run that died
 * after its removals counts too. $1: since when removals are held, in seconds; libraries stored later must not dilute the share.
 */
const NUMBERS = `
WITH since AS (SELECT clock_timestamp() - interval '24 hours' AS at),
versions AS (
  SELECT changed_at AS valid_from, 'infinity'::timestamptz AS valid_to, removed_at, run_id, first_seen_at
  FROM simcat.libraries
  UNION ALL
  SELECT valid_from, valid_to, removed_at, run_id, first_seen_at
  FROM simcat.library_history, since WHERE valid_to > since.at
), counted AS (
  SELECT * FROM versions WHERE removed_at IS NULL AND first_seen_at < coalesce(to_timestamp($1::float8), 'infinity')
), moves AS (
  SELECT greatest(valid_from, since.at) AS at, 1 AS delta FROM counted, since
  UNION ALL
  SELECT valid_to, -1 FROM counted WHERE valid_to < 'infinity'
), levels AS (
  SELECT sum(sum(delta)) OVER (ORDER BY at) AS live FROM moves GROUP BY at
)
SELECT (SELECT coalesce(max(live), 0) FROM levels)::int8 AS peak,
  (SELECT count(*) FROM versions v CROSS JOIN since LEFT JOIN simcat.sync_runs r ON r.id = v.run_id
   WHERE v.removed_at > since.at AND NOT coalesce(r.allow_removals, false)) AS removed`;

/**
 * The most libraries that were live within the last 24 hours, and the removals in that time of runs that were not allowed them.
 * `heldSince` (database ms, or null): libraries that were first stored later do not count among the live ones.
 */
export async function readRemovalNumbers(
  connection: Connection,
  heldSince: number | null,
): Promise<{ peakLive: number; removedLately: number }> {
  const since = heldSince === null ? null : heldSince / 1000;
  const { rows } = await connection.query<{ peak: number; removed: number }>(NUMBERS, [since]);
  return { peakLive: rows[0]?.peak ?? 0, removedLately: rows[0]?.removed ?? 0 };
}

/** Nothing is asked any more of a library that is no longer listed. */
const FORGIVE = `
UPDATE simcat.library_sync y SET reread_reason = NULL, failures = 0, last_error = NULL, removal_held_at = NULL
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

const HOLD = `
UPDATE simcat.library_sync y SET removal_held_at = coalesce(to_timestamp($3::float8), now())
FROM unnest($1::text[], $2::text[]) AS i(owner, library_name)
WHERE (y.owner, y.library_name) = (i.owner, i.library_name)`;

const KEYS_AT_ONCE = 10_000;

/** Records that the removal of these libraries is held, since `heldSince` (database ms, null for now), for later runs. */
export async function holdRemovals(
  connection: Connection,
  keys: readonly LibraryKey[],
  heldSince: number | null,
): Promise<void> {
  const since = heldSince === null ? null : heldSince / 1000;
  for (let at = 0; at < keys.length; at += KEYS_AT_ONCE) {
    const some = keys.slice(at, at + KEYS_AT_ONCE);
    await connection.query(HOLD, [some.map((key) => key.owner), some.map((key) => key.name), since]);
  }
}

/** The statement of `holdRemovals` without a row. */
export async function holdNoRemovals(connection: Connection): Promise<void> {
  await connection.query(HOLD, [[], [], null]);
}

/** The statements without a row. */
export async function markNoneRemoved(connection: Connection, runId: number): Promise<void> {
  await connection.query(REMOVE_LIBRARIES, [[], [], runId]);
  for (const text of [FORGIVE, RESOLVE, FORGET]) await connection.query(text, [[], []]);
}
