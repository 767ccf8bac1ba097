-- The window has the order of DISTINCT ON, so that the rows are sorted once.
CREATE OR REPLACE VIEW simcat_report.latest_result_per_parent AS
SELECT r.owner, r.library_name, r.parent_id, p.scenario_name AS parent_name, p.scenario_id IS NULL AS parent_missing,
  r.result_count, r.scenario_id AS latest_result_id, r.scenario_name AS latest_result_name,
  r.last_modified_at AS latest_result_modified_at
FROM (
  SELECT DISTINCT ON (s.owner, s.library_name, s.parent_id)
    s.owner, s.library_name, s.parent_id, s.scenario_id, s.scenario_name, s.last_modified_at,
    count(*) OVER (
      PARTITION BY s.owner, s.library_name, s.parent_id ORDER BY s.last_modified_at DESC NULLS LAST, s.scenario_id DESC
      ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING
    ) AS result_count
  FROM simcat_report.scenarios s
  WHERE s.parent_id IS NOT NULL AND s.is_result IS NOT FALSE AND s.parent_id <> s.scenario_id
  ORDER BY s.owner, s.library_name, s.parent_id, s.last_modified_at DESC NULLS LAST, s.scenario_id DESC
) AS r
LEFT JOIN simcat.scenarios p
  ON p.owner = r.owner AND p.library_name = r.library_name AND p.scenario_id = r.parent_id AND p.removed_at IS NULL;

COMMENT ON VIEW simcat_report.latest_result_per_parent IS 'One row for each parent that has results: their number, and the latest of them by last_modified_at, then by number. Results without a date are the oldest.';
COMMENT ON COLUMN simcat_report.latest_result_per_parent.owner IS 'Owner of the library: the user who uploaded it, byte for byte. First part of its key.';
COMMENT ON COLUMN simcat_report.latest_result_per_parent.library_name IS 'Name of the library, byte for byte. Second part of its key.';
COMMENT ON COLUMN simcat_report.latest_result_per_parent.parent_id IS 'scenario_id of the parent that the results name.';
COMMENT ON COLUMN simcat_report.latest_result_per_parent.parent_name IS 'Name of the parent. NULL: the parent is missing or has no name.';
COMMENT ON COLUMN simcat_report.latest_result_per_parent.parent_missing IS 'Whether no live scenario of the library has the number parent_id.';
COMMENT ON COLUMN simcat_report.latest_result_per_parent.result_count IS 'Number of live results that name this parent.';
COMMENT ON COLUMN simcat_report.latest_result_per_parent.latest_result_id IS 'scenario_id of the latest result.';
COMMENT ON COLUMN simcat_report.latest_result_per_parent.latest_result_name IS 'Name of the latest result. NULL: not sent.';
COMMENT ON COLUMN simcat_report.latest_result_per_parent.latest_result_modified_at IS 'last_modified_at of the latest result. NULL: no result of the parent has a known date.';
