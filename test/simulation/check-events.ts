import { DERIVE_EVENTS } from "../support/derive-events.ts";
import type { Simulation } from "./simulation.ts";

/** Owners whose events do not add up to their live libraries. `checkTotals` compares the counts of scenarios with the rows. */
const MISSUMMED = `
WITH live AS (
  SELECT owner, count(*) AS libraries, sum(coalesce(file_size_bytes, 0)) AS bytes, sum(scenario_count) AS scenarios,
    sum(result_count) AS results
  FROM simcat.libraries JOIN simcat.library_sync USING (owner, library_name) WHERE removed_at IS NULL GROUP BY owner
), summed AS (
  SELECT owner, sum(library_change) AS libraries, sum(byte_change) AS bytes, sum(scenario_change) AS scenarios, sum(result_change) AS results
  FROM simcat_report.events GROUP BY owner
)
SELECT format('events: %s adds up to %s and has %s', owner, s, l) AS line
FROM (SELECT owner, format('%s, %s, %s, %s', libraries, bytes, scenarios, results) AS l FROM live) AS live
FULL JOIN (SELECT owner, format('%s, %s, %s, %s', libraries, bytes, scenarios, results) AS s FROM summed) AS summed USING (owner)
WHERE coalesce(l, '0, 0, 0, 0') <> coalesce(s, '0, 0, 0, 0')`;

/** What happened at each time since the latest prune, by library. A scenario may be loaded with its library or be added. */
const SUMS = `
SELECT seen_at, owner, library_name, count(*) FILTER (WHERE scenario_id IS NULL) AS of_library, sum(scenarios) AS scenarios,
  sum(results) AS results, sum(bytes) AS bytes
FROM simcat.events WHERE seen_at > coalesce((SELECT max(cutoff) FROM simcat.prunes), '-infinity') GROUP BY 1, 2, 3`;

const DIFFERING = `
(SELECT 'events: the versions do not show ' || s AS line FROM (SELECT * FROM sim.stored EXCEPT ALL ${SUMS}) AS s)
UNION ALL
(SELECT 'events: lack ' || s FROM (${SUMS} EXCEPT ALL SELECT * FROM sim.stored) AS s)`;

/** Scenarios of which two versions in a row say the same. A parent of 0 is none. */
const NEEDLESS = `
SELECT DISTINCT format('versions: two in a row of %s/%s #%s say the same', owner, library_name, scenario_id) AS line
FROM (
  SELECT *, lead(content) OVER (PARTITION BY owner, library_name, scenario_id ORDER BY begins) AS next
  FROM (
    SELECT owner, library_name, scenario_id, begins,
      (scenario_name, is_result, nullif(parent_id, 0), last_modified, description, removed_at)::text AS content
    FROM (
      SELECT owner, library_name, scenario_id, changed_at AS begins, scenario_name, is_result, parent_id, last_modified, description, removed_at
      FROM simcat.scenarios
      UNION ALL
      SELECT owner, library_name, scenario_id, valid_from, scenario_name, is_result, parent_id, last_modified, description, removed_at
      FROM simcat.scenario_history
    ) AS version
  ) AS written
) AS pair
WHERE content = next`;

/** Checks that the events add up to the live rows. */
export async function checkEvents({ control }: Simulation): Promise<string[]> {
  const found = await control.query<{ line: string }>(MISSUMMED);
  return found.map(({ line }) => line);
}

/** Checks that each sum of events equals a recount from the versions, and that each version differs from the one before. */
export async function recountEvents({ control }: Simulation): Promise<string[]> {
  const { query } = control;
  await query(`BEGIN; CREATE TABLE sim.stored AS ${SUMS}; DELETE FROM simcat.events; ${DERIVE_EVENTS}`);
  const found = await query<{ line: string }>(DIFFERING);
  await query("ROLLBACK");
  found.push(...(await query<{ line: string }>(NEEDLESS)));
  return found.map(({ line }) => line);
}
