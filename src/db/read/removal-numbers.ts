import type { LibraryKey, Listing } from "../../model.ts";
import { type Connection, oneRow } from "../connect.ts";
import { statement } from "../statement.ts";
import { streamRows } from "./stream-rows.ts";

/** The guard's numbers of the last 24 hours, without the libraries that a run with `--allow-removals` removed. */
export interface RemovalNumbers {
  /** The largest number of live libraries, without those that were stored after removals were held or under incomplete listings. */
  readonly peakLive: number;
  /** How many libraries were removed and are still removed. */
  readonly gone: number;
  /** Libraries that were removed and are live again. */
  readonly cameBack: readonly LibraryKey[];
}

/** A row counts if it was first stored before removals were held, and before the last complete listing or by a run with one, cached or not. */
const COUNTS = `first_seen_at < stored.held AND (first_seen_at < stored.until OR EXISTS (
    SELECT FROM complete WHERE first_seen_at BETWEEN complete.started_at AND complete.finished_at))`;

/**
 * The numbers come from the rows and their history, so that the removals of a run that died count too. Libraries stored after
 * `$held_since` (ms, or NULL) or since the last complete listing do not count, because they would dilute the share.
 */
const NUMBERS = statement(`
WITH since AS (SELECT clock_timestamp() - interval '24 hours' AS at),
stored AS (
  SELECT coalesce(max(least(listing_as_of, finished_at)), 'infinity') AS until,
    coalesce(to_timestamp($held_since::float8 / 1000), 'infinity') AS held
  FROM simcat.sync_runs WHERE listing_complete
), complete AS MATERIALIZED (
  SELECT started_at, finished_at FROM simcat.sync_runs, stored WHERE listing_complete AND finished_at >= stored.until
), allowed AS (
  SELECT id FROM simcat.sync_runs WHERE allow_removals
), history AS (
  SELECT h.*, l.removed_at IS NULL AS is_back
  FROM since, simcat.library_history h JOIN simcat.libraries l USING (owner, library_name)
  WHERE h.valid_to > since.at AND (l.removed_at IS NULL OR l.run_id NOT IN (SELECT id FROM allowed))
), moves AS (
  SELECT greatest(changed_at, since.at) AS at, 1 AS delta FROM simcat.libraries, stored, since
  WHERE removed_at IS NULL AND ${COUNTS}
  UNION ALL
  SELECT unnest(ARRAY[greatest(valid_from, since.at), valid_to]), unnest(ARRAY[1, -1]) FROM history, stored, since
  WHERE removed_at IS NULL AND ${COUNTS}
), levels AS (
  SELECT sum(sum(delta)) OVER (ORDER BY at) AS live FROM moves GROUP BY at
)
SELECT (SELECT coalesce(max(live), 0) FROM levels)::int8 AS "peakLive",
  (SELECT count(*) FROM simcat.libraries, since
   WHERE removed_at > since.at AND run_id NOT IN (SELECT id FROM allowed)) AS gone,
  (SELECT coalesce(json_agg(keys), '[]') FROM (
    SELECT DISTINCT owner, library_name AS name FROM history, since
    WHERE is_back AND removed_at > since.at AND run_id NOT IN (SELECT id FROM allowed)) AS keys) AS "cameBack"`);

/** Returns the numbers; libraries that were first stored after `heldSince` (database ms, or null) do not count as live. */
export async function readRemovalNumbers(connection: Connection, heldSince: number | null): Promise<RemovalNumbers> {
  const bound = NUMBERS({ held_since: heldSince });
  return oneRow(await connection.query<RemovalNumbers & Record<string, unknown>>(bound));
}

const SELECT_OLDER =
  "SELECT owner, library_name AS name FROM simcat.libraries WHERE removed_at IS NULL AND first_seen_at < to_timestamp($1::float8 / 1000)";

/** Whether a live library that was first stored before this moment, in database ms, is listed. */
export async function listsOlder(connection: Connection, { libraries }: Listing, moment: number): Promise<boolean> {
  let isListed = false;
  const query = { text: SELECT_OLDER, values: [moment] };
  await streamRows<LibraryKey & Record<string, unknown>>(connection, query, (key) => {
    isListed ||= libraries.has(key);
  });
  return isListed;
}
