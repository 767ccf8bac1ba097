import type { Simulation } from "./simulation.ts";

interface Counted {
  owner: string;
  name: string;
  kept: string;
  real: string;
}

/**
 * Libraries whose stored counts of scenarios and results, or whose newest scenario, differ from the rows. A date that was more
 * than a day in the future when its scenario was stored counts only if a later read of the library kept it.
 */
const MISCOUNTED = `
WITH live AS (
  SELECT owner, library_name, scenario_id, last_modified_at, last_modified_at <= changed_at + interval '1 day' AS is_plausible,
    coalesce(is_result, nullif(parent_id, 0) IS NOT NULL) AS is_result
  FROM simcat.scenarios WHERE removed_at IS NULL
), counted AS (
  SELECT l.owner, l.library_name, count(v.scenario_id) AS scenarios, count(*) FILTER (WHERE v.is_result) AS results,
    max(v.last_modified_at) FILTER (WHERE v.is_plausible OR v.last_modified_at = y.last_scenario_at) AS newest
  FROM simcat.libraries l LEFT JOIN live v USING (owner, library_name) LEFT JOIN simcat.library_sync y USING (owner, library_name)
  GROUP BY l.owner, l.library_name
), expected AS (
  SELECT c.*, (
    SELECT max(v.scenario_id) FROM live v
    WHERE (v.owner, v.library_name, v.last_modified_at) = (c.owner, c.library_name, c.newest)
  ) AS newest_id
  FROM counted c
)
SELECT owner, library_name AS name,
  format('%s, %s, %s of #%s', y.scenario_count, y.result_count, y.last_scenario_at, y.last_scenario_id) AS kept,
  format('%s, %s, %s of #%s', e.scenarios, e.results, e.newest, e.newest_id) AS real
FROM expected e FULL JOIN simcat.library_sync y USING (owner, library_name)
WHERE (y.scenario_count, y.result_count, y.last_scenario_at, y.last_scenario_id)
  IS DISTINCT FROM (e.scenarios, e.results, e.newest, e.newest_id)`;

/**
 * Checks that the counts and the newest scenario kept by the runs equal those of the rows after removals, returns, prunes and
 * interruptions.
 */
export async function checkTotals({ server }: Simulation): Promise<string[]> {
  const found = await server.control.query<Counted>(MISCOUNTED);
  return found.map(({ owner, name, kept, real }) => `totals: ${owner}/${name} keeps ${kept} and has ${real}`);
}
