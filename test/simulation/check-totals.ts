import type { Simulation } from "./simulation.ts";

interface Counted {
  owner: string;
  name: string;
  kept: string;
  real: string;
}

/** Libraries whose stored counts of scenarios and results differ from the counts of the rows. */
const MISCOUNTED = `
SELECT owner, library_name AS name, format('%s, %s', y.scenario_count, y.result_count) AS kept,
  format('%s, %s', n.scenarios, n.results) AS real
FROM simcat.libraries l FULL JOIN simcat.library_sync y USING (owner, library_name)
CROSS JOIN LATERAL (
  SELECT count(*) AS scenarios, count(*) FILTER (WHERE coalesce(s.is_result, nullif(s.parent_id, 0) IS NOT NULL)) AS results
  FROM simcat.scenarios s
  WHERE s.owner = coalesce(l.owner, y.owner) AND s.library_name = coalesce(l.library_name, y.library_name) AND s.removed_at IS NULL
) AS n
WHERE (y.scenario_count, y.result_count)
  IS DISTINCT FROM CASE WHEN l.owner IS NOT NULL THEN (n.scenarios, n.results) ELSE (NULL::int8, NULL::int8) END`;

/** Checks that the counts kept by the runs equal those of the rows after removals, returns, prunes and interruptions. */
export async function checkTotals({ server }: Simulation): Promise<string[]> {
  const found = await server.control.query<Counted>(MISCOUNTED);
  return found.map(({ owner, name, kept, real }) => `totals: ${owner}/${name} keeps ${kept} and has ${real}`);
}
