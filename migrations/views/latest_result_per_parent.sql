-- The results are read from scenarios_parent_index, in its order. Names are looked up for the rows that are shown: after LIMIT.
CREATE OR REPLACE VIEW simcat_report.latest_result_per_parent AS
SELECT r.owner, r.library_name, r.parent_id,
  (SELECT o.scenario_name FROM simcat.scenarios o WHERE (o.owner, o.library_name, o.scenario_id) = (r.owner, r.library_name, r.parent_id) AND o.removed_at IS NULL)
    AS parent_name,
  NOT EXISTS (SELECT FROM simcat.scenarios o WHERE (o.owner, o.library_name, o.scenario_id) = (r.owner, r.library_name, r.parent_id) AND o.removed_at IS NULL)
    AS parent_missing,
  r.result_count, r.latest_result_id,
  (SELECT o.scenario_name FROM simcat.scenarios o WHERE (o.owner, o.library_name, o.scenario_id) = (r.owner, r.library_name, r.latest_result_id)) AS latest_result_name,
  r.latest_result_modified_at
FROM (
  SELECT s.owner, s.library_name, nullif(s.parent_id, 0) AS parent_id, count(*) AS result_count, max(s.last_modified_at)::timestamptz(6) AS latest_result_modified_at,
    (array_agg(s.scenario_id ORDER BY s.last_modified_at DESC NULLS LAST, s.scenario_id DESC))[1] AS latest_result_id
  FROM simcat.scenarios s WHERE s.removed_at IS NULL AND s.is_result IS NOT FALSE AND nullif(s.parent_id, 0) <> s.scenario_id
  GROUP BY s.owner, s.library_name, nullif(s.parent_id, 0)
) AS r
WHERE NOT EXISTS (SELECT FROM simcat.libraries l WHERE l.owner = r.owner AND l.library_name = r.library_name AND l.removed_at IS NOT NULL);

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
