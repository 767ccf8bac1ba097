import { isEverything } from "../../src/sync/rules/selection.ts";
import type { PerformedRun } from "./perform-run.ts";
import type { Simulation } from "./simulation.ts";

/** Rows that contradict each other, in any of the daily snapshots. */
const INVARIANTS = `
  (SELECT 'two rows of one library on one day' AS what, (day, owner, library_name)::text AS d
   FROM simcat_report.daily_libraries GROUP BY day, owner, library_name HAVING count(*) > 1 LIMIT 3)
  UNION ALL
  (SELECT 'daily_owners has other sums than daily_libraries', d::text FROM (
    SELECT day, owner, libraries, scenarios, parents, results, bytes, sizes_unread FROM simcat_report.daily_owners
    EXCEPT SELECT day, owner, count(*) FILTER (WHERE live), coalesce(sum(scenarios), 0), coalesce(sum(parents), 0),
      coalesce(sum(results), 0), coalesce(sum(bytes), 0), count(*) FILTER (WHERE live AND bytes IS NULL)
    FROM simcat_report.daily_libraries GROUP BY day, owner) d LIMIT 3)
  UNION ALL
  (SELECT 'a snapshot by a run of a part, or by one that failed', r.id::text
   FROM simcat.snapshot_days d JOIN simcat.sync_runs r ON r.id = d.run_id
   WHERE r.scope IS NOT NULL OR r.status IN ('source_unavailable', 'source_untrusted', 'unauthorized') LIMIT 3)`;

/** The newest snapshot, if the run with version $1 took it: libraries that it shows otherwise than the tables. */
const DIFFERING = `
WITH newest AS (
  SELECT d.day FROM simcat.snapshot_days d JOIN simcat.sync_runs r ON r.id = d.run_id
  WHERE r.version = $1 AND d.day = (SELECT max(day) FROM simcat.snapshot_days)
), shown AS (
  SELECT owner, library_name, scenarios, results, bytes, package_name, package_version
  FROM simcat_report.daily_libraries JOIN newest USING (day) WHERE live
), stored AS (
  SELECT owner, library_name, scenario_count, result_count, file_size_bytes, package_name, package_version
  FROM newest, simcat.libraries JOIN simcat.library_sync USING (owner, library_name)
  WHERE removed_at IS NULL
)
(SELECT 'the snapshot has' AS what, d::text AS d FROM (TABLE shown EXCEPT TABLE stored) d LIMIT 3)
UNION ALL
(SELECT 'the tables have' AS what, d::text FROM (TABLE stored EXCEPT TABLE shown) d LIMIT 3)
UNION ALL
(SELECT 'another oldest read' AS what, d::text FROM (
  SELECT owner, oldest_read_at FROM simcat_report.daily_owners JOIN newest USING (day) WHERE libraries > 0
  EXCEPT SELECT owner, min(content_read_at) FROM newest, simcat.libraries JOIN simcat.library_sync USING (owner, library_name)
  WHERE removed_at IS NULL GROUP BY owner) d LIMIT 3)`;

/** Whether the day on which the run with version $1 began, or a later one, has a snapshot, unless the listing was not accepted. */
const TAKEN = `
SELECT r.listing_complete IS NULL OR EXISTS (
  SELECT FROM simcat.snapshot_days d WHERE d.day >= (r.started_at AT TIME ZONE 'UTC')::date
) AS taken
FROM simcat.sync_runs r WHERE r.version = $1`;

/** Checks that good runs of everything, and only they, take the day's snapshot, and that it equals the rows. */
export async function checkSnapshots({ control }: Simulation, performed: PerformedRun): Promise<string[]> {
  const { ended, isCompleted, heard, others, plan } = performed;
  const wrong = await control.query<{ what: string; d: string }>(INVARIANTS);
  if (others.length === 0) {
    wrong.push(...(await control.query<{ what: string; d: string }>(DIFFERING, [heard.run])));
  }
  const counts = ended.summary?.counts;
  const considered = counts ? counts.librariesRead + counts.librariesSkipped + counts.librariesFailed : 0;
  const isGood = ended.status === "ok" || (isCompleted && considered > 0);
  // A cached listing does not confirm the database's clock.
  const isUnsure = heard.listing?.cachedAt !== null;
  const hasFailed = ended.summary?.warnings.some(({ code }) => code === "snapshot_failed");
  if (isGood && isEverything(plan.selection) && !hasFailed && !isUnsure) {
    const [found] = await control.query<{ taken: boolean }>(TAKEN, [heard.run]);
    if (!found?.taken) wrong.push({ what: "missing after", d: heard.run });
  }
  return wrong.map(({ what, d }) => `snapshots: ${what}: ${d}`);
}
