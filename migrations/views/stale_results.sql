CREATE OR REPLACE VIEW simcat_report.stale_results AS
SELECT r.owner, r.library_name, r.parent_id, p.scenario_name AS parent_name, p.last_modified_at AS parent_last_modified_at,
  r.latest_result_id, r.latest_result_name, r.latest_result_modified_at,
  extract(epoch FROM p.last_modified_at - r.latest_result_modified_at)::double precision AS edited_after_seconds,
  r.result_count
FROM simcat_report.latest_result_per_parent r
JOIN simcat.scenarios p ON p.owner = r.owner AND p.library_name = r.library_name AND p.scenario_id = r.parent_id
WHERE p.removed_at IS NULL AND p.last_modified_at > r.latest_result_modified_at;

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
