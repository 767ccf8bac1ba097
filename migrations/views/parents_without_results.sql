-- Both sides are read from an index in its order, which ORDER BY asks for. A full join never compares the pairs of a library's
-- scenarios, whatever the planner expects. The other columns are looked up for the rows that are shown: after LIMIT.
CREATE OR REPLACE VIEW simcat_report.parents_without_results AS
SELECT owner, library_name, scenario_id,
  (SELECT o.scenario_name FROM simcat.scenarios o WHERE (o.owner, o.library_name, o.scenario_id) = (s.owner, s.library_name, s.scenario_id)) AS scenario_name,
  (SELECT o.last_modified FROM simcat.scenarios o WHERE (o.owner, o.library_name, o.scenario_id) = (s.owner, s.library_name, s.scenario_id)) AS last_modified,
  s.last_modified_at::timestamptz AS last_modified_at,
  (SELECT o.first_seen_at FROM simcat.scenarios o WHERE (o.owner, o.library_name, o.scenario_id) = (s.owner, s.library_name, s.scenario_id))::timestamptz AS first_seen_at
FROM (
  SELECT one.owner, one.library_name, one.scenario_id, one.last_modified_at, true AS is_parent
  FROM simcat.scenarios one WHERE one.removed_at IS NULL AND NOT coalesce(one.is_result, one.parent_id <> 0, false)
  ORDER BY one.owner, one.library_name, one.scenario_id
) AS s
FULL JOIN (
  -- Not GROUP BY, which may hash.
  SELECT DISTINCT ON (r.owner, r.library_name, nullif(r.parent_id, 0)) r.owner, r.library_name, nullif(r.parent_id, 0) AS scenario_id, true AS has_results
  FROM simcat.scenarios r WHERE r.removed_at IS NULL AND r.is_result IS NOT FALSE AND nullif(r.parent_id, 0) <> r.scenario_id
  ORDER BY r.owner, r.library_name, nullif(r.parent_id, 0)
) AS run USING (owner, library_name, scenario_id)
WHERE coalesce(s.is_parent, false) AND run.has_results IS NOT TRUE AND NOT EXISTS (
  SELECT FROM simcat.libraries l WHERE l.owner = s.owner AND l.library_name = s.library_name AND l.removed_at IS NOT NULL
);

COMMENT ON VIEW simcat_report.parents_without_results IS 'Scenarios that were never run, or whose results are all removed: live scenarios that are not results and have no live result.';
COMMENT ON COLUMN simcat_report.parents_without_results.owner IS 'Owner of the library: the user who uploaded it, byte for byte. First part of its key.';
COMMENT ON COLUMN simcat_report.parents_without_results.library_name IS 'Name of the library, byte for byte. Second part of its key.';
COMMENT ON COLUMN simcat_report.parents_without_results.scenario_id IS 'Number of the scenario, unique only within its library. It may exceed the integers that a double represents exactly.';
COMMENT ON COLUMN simcat_report.parents_without_results.scenario_name IS 'Name of the scenario, as sent. People rename scenarios, so it does not prove which scenario is the parent. NULL: not sent.';
COMMENT ON COLUMN simcat_report.parents_without_results.last_modified IS 'The service''s lastModified text, as sent. Its format and time zone are unknown: do not sort or compare it. NULL: not sent.';
COMMENT ON COLUMN simcat_report.parents_without_results.last_modified_at IS 'last_modified as a time: the start of the minute, day or other period that the text names. A text without a time zone is read in SIMCAT_SERVICE_TIMEZONE. NULL: no text, or an unknown format.';
COMMENT ON COLUMN simcat_report.parents_without_results.first_seen_at IS 'When simcat first stored it. Not when the service created it. Kept when it is removed and returns, unless it was pruned.';
