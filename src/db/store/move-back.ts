import { type Connection, oneRow } from "../connect.ts";
import { statement } from "../statement.ts";

/** When something was stored, by the clock of the database. A version's start is before its end. */
const ROW_TIMES = ["first_seen_at", "changed_at", "removed_at"];
const VERSION_TIMES = ["valid_from", "valid_to", ...ROW_TIMES];
const TIMES = {
  events: ["seen_at"],
  libraries: ROW_TIMES,
  scenarios: ROW_TIMES,
  library_history: VERSION_TIMES,
  scenario_history: VERSION_TIMES,
  library_sync: ["first_listed_at", "bookmark_seen_at", "removal_held_at", "last_failed_at"],
  rejects: ["first_seen_at", "last_seen_at", "resolved_at"],
  sync_runs: ["started_at", "finished_at", "backfill_since"],
  prunes: ["pruned_at", "cutoff"],
};
const COLUMNS = Object.entries(TIMES).flatMap(([table, columns]) => columns.map((column) => ({ table, column })));

/** Each version has an event. Times within the next hour are no proof, because the clock may have been set back a little. */
const WAS_AHEAD = `
SELECT EXISTS (SELECT FROM simcat.events WHERE seen_at > now() + interval '1 hour')
  OR EXISTS (SELECT FROM simcat.sync_runs WHERE finished_at > now() + interval '1 hour')
  OR EXISTS (SELECT FROM simcat.prunes WHERE pruned_at > now() + interval '1 hour') AS "wasAhead"`;

const FUTURE_TIMES = `
SELECT at::text FROM (${COLUMNS.map(({ table, column }) => `SELECT ${column} AS at FROM simcat.${table} WHERE ${column} > now()`).join(" UNION ")}) AS future
ORDER BY future.at`;

/** A read in the future took place after the last run before the clock was ahead: it counts from that run's end, if there was one. */
const MOVE_READS = `
UPDATE simcat.library_sync y SET content_read_at = least(y.content_read_at, before.at, now()),
  last_success_at = least(y.last_success_at, before.at, now()), settles_at = CASE WHEN y.settles_at <= now() AND before.at IS NOT NULL THEN y.settles_at END,
  content_as_of = CASE WHEN before.at IS NULL THEN '-infinity' ELSE y.content_as_of END
FROM (
  SELECT max(finished_at) AS at FROM simcat.sync_runs
  WHERE id < (SELECT min(id) FROM simcat.sync_runs WHERE finished_at > now())
) AS before
WHERE greatest(y.content_read_at, y.last_success_at) > now()`;

/** While the clock was ahead, a date in the future may have counted as past work. */
const FIND_WORK = `
UPDATE simcat.library_sync y SET (last_scenario_at, last_scenario_id) = (
  SELECT s.last_modified_at, s.scenario_id FROM simcat.scenarios s
  WHERE (s.owner, s.library_name) = (y.owner, y.library_name) AND s.removed_at IS NULL AND s.last_modified_at <= now() + interval '1 day'
  ORDER BY s.last_modified_at DESC, s.scenario_id DESC LIMIT 1)
WHERE y.last_scenario_at > now() + interval '1 day'`;

const MOVE_BACK = COLUMNS.map(({ table, column }) =>
  statement(`
UPDATE simcat.${table} t SET ${column} = now() + f.n * interval '1 microsecond'
FROM unnest($times::timestamptz[]) WITH ORDINALITY AS f(at, n) WHERE t.${column} = f.at`),
);

/**
 * Moves what was stored while the clock was ahead to now, so that later versions do not have to wait for that time. Times stay in
 * their order, a microsecond apart, and equal ones stay equal.
 * @returns the latest time that was in the future; null if the clock was not ahead
 */
export async function moveBack(connection: Connection): Promise<string | null> {
  const { wasAhead } = oneRow(await connection.query<{ wasAhead: boolean }>(WAS_AHEAD));
  if (!wasAhead) return null;
  const { rows } = await connection.query<{ at: string }>(FUTURE_TIMES);
  const times = rows.map(({ at }) => at);
  await connection.query(MOVE_READS);
  await connection.query(FIND_WORK);
  for (const move of MOVE_BACK) await connection.query(move({ times }));
  return times.at(-1) ?? null;
}
