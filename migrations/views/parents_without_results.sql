-- The numbers that results name are one sorted array for each library: width_bucket searches it in few steps. A hash of 10,000 arrays
-- stays in memory, where one of 200,000 parents does not. A full join, and columns that may be NULL in it, have the planner compute the
-- arrays once, whatever number of scenarios it expects.
CREATE OR REPLACE VIEW simcat_report.parents_without_results AS
SELECT owner, library_name, CASE WHEN s.is_parent THEN s.scenario_id END AS scenario_id,
  CASE WHEN s.is_parent THEN s.scenario_name END AS scenario_name, CASE WHEN s.is_parent THEN s.last_modified END AS last_modified,
  s.last_modified_at::timestamptz AS last_modified_at, CASE WHEN s.is_parent THEN s.first_seen_at END::timestamptz AS first_seen_at
FROM (
  SELECT one.owner, one.library_name, one.scenario_id, one.scenario_name, one.last_modified, one.last_modified_at, one.first_seen_at, true AS is_parent
  FROM simcat.scenarios one WHERE one.removed_at IS NULL AND NOT coalesce(one.is_result, one.parent_id <> 0, false)
) AS s
FULL JOIN (
  -- DISTINCT ON keeps the subquery apart, and lets a filter by library into it.
  SELECT DISTINCT ON (l.owner, l.library_name) l.owner, l.library_name, true AS is_live, (
    SELECT array_agg(DISTINCT nullif(r.parent_id, 0) ORDER BY nullif(r.parent_id, 0)) FROM simcat.scenarios r
    WHERE r.owner = l.owner AND r.library_name = l.library_name AND r.removed_at IS NULL AND r.is_result IS NOT FALSE AND nullif(r.parent_id, 0) <> r.scenario_id
  ) AS run
  FROM simcat.libraries l WHERE l.removed_at IS NULL
) AS l USING (owner, library_name)
WHERE coalesce(s.is_parent AND l.is_live, false) AND l.run[width_bucket(s.scenario_id, l.run)] IS DISTINCT FROM s.scenario_id;

COMMENT ON VIEW simcat_report.parents_without_results IS 'Scenarios that were never run, or whose results are all removed: live scenarios that are not results and have no live result.';
COMMENT ON COLUMN simcat_report.parents_without_results.owner IS 'Owner of the library: the user who uploaded it, byte for byte. First part of its key.';
COMMENT ON COLUMN simcat_report.parents_without_results.library_name IS 'Name of the library, byte for byte. Second part of its key.';
COMMENT ON COLUMN simcat_report.parents_without_results.scenario_id IS 'Number of the scenario, unique only within its library. It may exceed the integers that a double represents exactly.';
COMMENT ON COLUMN simcat_report.parents_without_results.scenario_name IS 'Name of the scenario, as sent. People rename scenarios, so it does not prove which scenario is the parent. NULL: not sent.';
COMMENT ON COLUMN simcat_report.parents_without_results.last_modified IS 'The service''s lastModified text, as sent. Its format and time zone are unknown: do not sort or compare it. NULL: not sent.';
COMMENT ON COLUMN simcat_report.parents_without_results.last_modified_at IS 'last_modified as a time: the start of the minute, day or other period that the text names. A text without a time zone is read in SIMCAT_SERVICE_TIMEZONE. NULL: no text, or an unknown format.';
COMMENT ON COLUMN simcat_report.parents_without_results.first_seen_at IS 'When simcat first stored it. Not when the service created it. Kept when it is removed and returns, unless it was pruned.';
