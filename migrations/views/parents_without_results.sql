CREATE OR REPLACE VIEW simcat_report.parents_without_results AS
-- Grouped, not NOT EXISTS: planners take that for a nested loop over the whole library, minutes long for a large one.
SELECT g.owner, g.library_name, g.scenario_id, max(g.scenario_name) AS scenario_name, max(g.last_modified) AS last_modified,
  max(g.last_modified_at) AS last_modified_at, max(g.first_seen_at) AS first_seen_at
FROM (
  SELECT s.owner, s.library_name, s.scenario_id, s.scenario_name, s.last_modified, s.last_modified_at, s.first_seen_at,
    true AS is_parent
  FROM simcat_report.scenarios s
  WHERE NOT coalesce(s.is_result, s.parent_id IS NOT NULL)
  UNION ALL
  SELECT r.owner, r.library_name, r.parent_id, NULL, NULL, NULL, NULL, false
  FROM simcat_report.scenarios r
  WHERE r.parent_id IS NOT NULL AND r.is_result IS NOT FALSE AND r.parent_id <> r.scenario_id
) AS g
GROUP BY g.owner, g.library_name, g.scenario_id
HAVING bool_and(g.is_parent);

COMMENT ON VIEW simcat_report.parents_without_results IS 'Scenarios that were never run, or whose results are all removed: live scenarios that are not results and have no live result.';
COMMENT ON COLUMN simcat_report.parents_without_results.owner IS 'Owner of the library: the user who uploaded it, byte for byte. First part of its key.';
COMMENT ON COLUMN simcat_report.parents_without_results.library_name IS 'Name of the library, byte for byte. Second part of its key.';
COMMENT ON COLUMN simcat_report.parents_without_results.scenario_id IS 'Number of the scenario, unique only within its library. It may exceed the integers that a double represents exactly.';
COMMENT ON COLUMN simcat_report.parents_without_results.scenario_name IS 'Name of the scenario, as sent. People rename scenarios, so it does not prove which scenario is the parent. NULL: not sent.';
COMMENT ON COLUMN simcat_report.parents_without_results.last_modified IS 'The service''s lastModified text, as sent. Its format and time zone are unknown: do not sort or compare it. NULL: not sent.';
COMMENT ON COLUMN simcat_report.parents_without_results.last_modified_at IS 'last_modified as a time: the start of the minute, day or other period that the text names. A text without a time zone is read in SIMCAT_SERVICE_TIMEZONE. NULL: no text, or an unknown format.';
COMMENT ON COLUMN simcat_report.parents_without_results.first_seen_at IS 'When simcat first stored it. Not when the service created it. Kept when it is removed and returns.';
