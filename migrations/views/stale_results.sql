CREATE OR REPLACE VIEW simcat_report.stale_results AS
SELECT owner, library_name, parent_id,
  (SELECT o.scenario_name FROM simcat.scenarios o WHERE (o.owner, o.library_name, o.scenario_id) = (r.owner, r.library_name, r.parent_id)) AS parent_name,
  p.last_modified_at AS parent_last_modified_at, r.latest_result_id,
  (SELECT o.scenario_name FROM simcat.scenarios o WHERE (o.owner, o.library_name, o.scenario_id) = (r.owner, r.library_name, r.latest_result_id)) AS latest_result_name,
  r.latest_result_modified_at,
  date_part('epoch', p.last_modified_at - r.latest_result_modified_at) AS edited_after_seconds,
  r.result_count
-- A full join and lookups, as in parents_without_results. ORDER BY makes the view one side of it: up to Postgres 15, a filter by owner
-- would not reach a view that joins tables itself.
FROM (SELECT * FROM simcat_report.latest_result_per_parent ORDER BY owner, library_name, parent_id) AS r
FULL JOIN (
  SELECT one.owner, one.library_name, one.scenario_id AS parent_id, one.last_modified_at
  FROM simcat.scenarios one WHERE one.removed_at IS NULL ORDER BY one.owner, one.library_name, one.scenario_id
) AS p USING (owner, library_name, parent_id)
WHERE coalesce(p.last_modified_at > r.latest_result_modified_at, false);

COMMENT ON VIEW simcat_report.stale_results IS 'Live scenarios that were edited after their latest result, one row each: the result does not show the edit. The latest result is that of latest_result_per_parent. Scenarios and results without a known date are omitted.';
COMMENT ON COLUMN simcat_report.stale_results.owner IS 'Owner of the library: the user who uploaded it, byte for byte. First part of its key.';
COMMENT ON COLUMN simcat_report.stale_results.library_name IS 'Name of the library, byte for byte. Second part of its key.';
COMMENT ON COLUMN simcat_report.stale_results.parent_id IS 'scenario_id of the edited scenario.';
COMMENT ON COLUMN simcat_report.stale_results.parent_name IS 'Name of the edited scenario. NULL: not sent.';
COMMENT ON COLUMN simcat_report.stale_results.parent_last_modified_at IS 'last_modified_at of the edited scenario.';
COMMENT ON COLUMN simcat_report.stale_results.latest_result_id IS 'scenario_id of its latest result.';
COMMENT ON COLUMN simcat_report.stale_results.latest_result_name IS 'Name of its latest result. NULL: not sent.';
COMMENT ON COLUMN simcat_report.stale_results.latest_result_modified_at IS 'last_modified_at of its latest result.';
COMMENT ON COLUMN simcat_report.stale_results.edited_after_seconds IS 'Seconds from the latest result to the edit: parent_last_modified_at - latest_result_modified_at.';
COMMENT ON COLUMN simcat_report.stale_results.result_count IS 'Number of live results of the scenario.';
