import type { Connection } from "../connect.ts";
import { statement } from "../statement.ts";

/** Days that have not begun. The clock may have been set back by less than an hour. */
const FUTURE_DAYS = `
SELECT day::text FROM simcat.snapshot_days
WHERE day > ((now() + interval '1 hour') AT TIME ZONE 'UTC')::date ORDER BY day`;

/** Deletes the snapshots from this day on, and opens the rows again that they ended. */
const REMOVE_DAYS = statement(`
WITH libraries AS (
  DELETE FROM simcat.library_days WHERE from_day >= $day::date
), reopened AS (
  UPDATE simcat.library_days SET to_day = NULL WHERE from_day < $day::date AND to_day >= $day::date
), owners AS (
  DELETE FROM simcat.owner_days WHERE day >= $day::date
)
DELETE FROM simcat.snapshot_days WHERE day >= $day::date`);

/** No row is inserted if this day or a later one has a snapshot: the clock may have been set back. */
const BEGIN_DAY = statement(`
INSERT INTO simcat.snapshot_days (day, run_id, taken_at)
SELECT today.day, $run_id::int8, now() FROM (SELECT (now() AT TIME ZONE 'UTC')::date AS day) AS today
WHERE NOT EXISTS (SELECT FROM simcat.snapshot_days s WHERE s.day >= today.day)
RETURNING day::text`);

/** A change of one of these begins a new row. Another read does not: snapshots grow with what changed. */
const STATE = "is_stored, live, scenarios, results, bytes, package_name, package_version, last_work_at";
const stateOf = (row: string) => STATE.replaceAll(/\w+/g, (column) => `${row}.${column}`);

/** A library that is not live has NULLs: it was removed, or it is listed and nothing of it is stored yet. */
const SAVE_LIBRARIES = statement(`
WITH open AS (
  SELECT * FROM simcat.library_days WHERE to_day IS NULL
), present AS (
  SELECT l.owner, l.library_name, true AS is_stored, true AS live, y.scenario_count AS scenarios, y.result_count AS results,
    l.file_size_bytes AS bytes, l.package_name, l.package_version,
    greatest(CASE WHEN l.last_modified_at <= now() + interval '1 day' THEN l.last_modified_at END, y.last_scenario_at) AS last_work_at,
    y.content_read_at AS last_read_at
  FROM simcat.libraries l LEFT JOIN simcat.library_sync y USING (owner, library_name)
  WHERE l.removed_at IS NULL
  UNION ALL
  SELECT y.owner, y.library_name, false, false, NULL, NULL, NULL, NULL, NULL, NULL, NULL
  FROM simcat.library_sync y WHERE NOT EXISTS (
    SELECT FROM simcat.libraries l WHERE l.owner = y.owner AND l.library_name = y.library_name)
), changed AS MATERIALIZED (
  SELECT owner, library_name, present.live IS NULL AND NOT open.is_stored AS is_forgotten,
    coalesce(present.is_stored, true) AS is_stored, coalesce(present.live, false) AS live, present.scenarios, present.results,
    present.bytes, present.package_name, present.package_version, present.last_work_at, present.last_read_at
  FROM present FULL JOIN open USING (owner, library_name)
  WHERE open.from_day IS NULL OR present.live IS NULL AND (open.live OR NOT open.is_stored)
    OR present.live IS NOT NULL AND (${stateOf("present")}) IS DISTINCT FROM (${stateOf("open")})
), ended AS (
  UPDATE simcat.library_days d SET to_day = $day::date FROM changed c
  WHERE (d.owner, d.library_name) = (c.owner, c.library_name) AND d.to_day IS NULL
)
INSERT INTO simcat.library_days (owner, library_name, from_day, ${STATE}, last_read_at)
SELECT owner, library_name, $day::date, ${STATE}, last_read_at FROM changed WHERE is_forgotten IS NOT TRUE`);

/** The sum of sizes is at most what its column can hold. The oldest read is that of now, not that of a row's first day. */
const SAVE_OWNERS = statement(`
INSERT INTO simcat.owner_days (day, owner, libraries, scenarios, results, bytes, sizes_unread, oldest_read_at, not_stored, active, quiet,
  stale)
SELECT $day::date, owner, count(*) FILTER (WHERE live), coalesce(sum(scenarios), 0), coalesce(sum(results), 0),
  least(coalesce(sum(bytes), 0), 9223372036854775807), count(*) FILTER (WHERE live AND bytes IS NULL),
  min(y.content_read_at) FILTER (WHERE live), count(*) FILTER (WHERE NOT is_stored),
  count(*) FILTER (WHERE last_work_at >= now() - interval '30 days'),
  count(*) FILTER (WHERE last_work_at >= now() - interval '90 days' AND last_work_at < now() - interval '30 days'),
  count(*) FILTER (WHERE last_work_at < now() - interval '90 days')
FROM simcat.library_days LEFT JOIN simcat.library_sync y USING (owner, library_name)
WHERE to_day IS NULL GROUP BY owner`);

/**
 * Takes the snapshot of this UTC day, unless there is one. The counts of scenarios are those that `library_sync` keeps.
 * @returns the days with a snapshot that have not begun, because the clock was ahead, or is behind now: if the clock is confirmed, their
 * snapshots are removed, otherwise none is taken
 */
export async function saveSnapshot(connection: Connection, runId: number, isClockConfirmed: boolean) {
  const { rows: future } = await connection.query<{ day: string }>(FUTURE_DAYS);
  const futureDays = future.map(({ day }) => day);
  const [firstFuture] = futureDays;
  if (firstFuture !== undefined && isClockConfirmed) await connection.query(REMOVE_DAYS({ day: firstFuture }));
  const { rows } = await connection.query<{ day: string }>(BEGIN_DAY({ run_id: runId }));
  for (const { day } of rows) {
    await connection.query(SAVE_LIBRARIES({ day }));
    await connection.query(SAVE_OWNERS({ day }));
  }
  return futureDays;
}
