import type { LibraryKey } from "../../src/model.ts";
import type { PerformedRun } from "./perform-run.ts";
import type { Simulation } from "./simulation.ts";

/** The rows that a run wrote last according to the tables: each row's newest version has the id of its run. */
const WRITTEN = `
SELECT count(*) FILTER (WHERE changed_at = first_seen_at)::int4 AS inserted, count(*)::int4 AS changed,
  count(*) FILTER (WHERE removed_at IS NOT NULL)::int4 AS removed,
  (SELECT count(*)::int4 FROM simcat.libraries WHERE run_id = $1 AND removed_at IS NOT NULL) AS libraries
FROM simcat.scenarios WHERE run_id = $1`;

/** Checks that a finished run reported the numbers of rows that it wrote. */
export async function checkCounts(
  { control }: Simulation,
  { ended, isCompleted, others }: PerformedRun,
): Promise<string[]> {
  const { summary } = ended;
  if (summary === null || others.length > 0 || !isCompleted) return [];
  const [found] = await control.query(WRITTEN, [summary.id]);
  const { scenariosInserted: inserted, scenariosUpdated: updated, scenariosRemoved: removed } = summary.counts;
  const told = { inserted, changed: inserted + updated + removed, removed, libraries: summary.counts.librariesRemoved };
  if (JSON.stringify(found) === JSON.stringify(told)) return [];
  return [`counts: run ${summary.id} told ${JSON.stringify(told)} and wrote ${JSON.stringify(found)}`];
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
export async function checkTotals({ control }: Simulation): Promise<string[]> {
  const found = await control.query<LibraryKey & { kept: string; real: string }>(MISCOUNTED);
  return found.map(({ owner, name, kept, real }) => `totals: ${owner}/${name} keeps ${kept} and has ${real}`);
}

/** Checks that `library_sync`, after a full read without faults, reports everything as listed and nothing as owed. */
export async function checkBookkeeping({ control, service }: Simulation): Promise<string[]> {
  const rows = await control.query(
    `SELECT owner, library_name AS name, listed_text AS listed, bookmark, reread_reason, failures, last_error AS error FROM simcat.library_sync`,
  );
  const found = new Set(rows.map((row) => JSON.stringify(row)));
  const expected = service.organization.libraries().map(({ owner, name, lastModified: listed }) => {
    const row = { owner, name, listed, bookmark: listed, reread_reason: null, failures: 0, error: null };
    return JSON.stringify(row);
  });
  return expected.filter((row) => !found.has(row)).map((row) => `bookkeeping: there is no row ${row}`);
}
