import type { Connection } from "../connect.ts";
import { statement } from "../statement.ts";

/**
 * The guard's numbers of the last 24 hours. They come from the rows and their history, so that the removals of a run that died
 * count too. Libraries stored after `$held_since` (seconds, or NULL) do not count, because they would dilute the share.
 */
const NUMBERS = statement(`
WITH since AS (SELECT clock_timestamp() - interval '24 hours' AS at),
versions AS (
  SELECT changed_at AS valid_from, 'infinity'::timestamptz AS valid_to, removed_at, run_id, first_seen_at
  FROM simcat.libraries
  UNION ALL
  SELECT valid_from, valid_to, removed_at, run_id, first_seen_at
  FROM simcat.library_history, since WHERE valid_to > since.at
), counted AS (
  SELECT * FROM versions WHERE removed_at IS NULL AND first_seen_at < coalesce(to_timestamp($held_since::float8), 'infinity')
), moves AS (
  SELECT greatest(valid_from, since.at) AS at, 1 AS delta FROM counted, since
  UNION ALL
  SELECT valid_to, -1 FROM counted WHERE valid_to < 'infinity'
), levels AS (
  SELECT sum(sum(delta)) OVER (ORDER BY at) AS live FROM moves GROUP BY at
)
SELECT (SELECT coalesce(max(live), 0) FROM levels)::int8 AS peak,
  (SELECT count(*) FROM versions v CROSS JOIN since LEFT JOIN simcat.sync_runs r ON r.id = v.run_id
   WHERE v.removed_at > since.at AND NOT coalesce(r.allow_removals, false)) AS removed`);

/**
 * Returns the peak number of live libraries within the last 24 hours, and the removals in that time by runs without
 * --allow-removals. Libraries that were first stored after `heldSince` (database ms, or null) do not count as live.
 */
export async function readRemovalNumbers(
  connection: Connection,
  heldSince: number | null,
): Promise<{ peakLive: number; removedLately: number }> {
  const held_since = heldSince === null ? null : heldSince / 1000;
  const { rows } = await connection.query<{ peak: number; removed: number }>(NUMBERS({ held_since }));
  const [row] = rows;
  if (row === undefined) throw new Error("the query for the removals of the last 24 hours returned no row");
  return { peakLive: row.peak, removedLately: row.removed };
}
