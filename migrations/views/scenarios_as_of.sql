CREATE OR REPLACE FUNCTION simcat_report.scenarios_as_of(moment timestamptz) RETURNS SETOF simcat_report.scenarios
LANGUAGE sql STABLE PARALLEL SAFE
BEGIN ATOMIC
  SELECT s.owner, s.library_name, s.scenario_id, s.scenario_name, s.is_result, s.parent_id,
    s.last_modified, s.last_modified_at, s.description, s.first_seen_at, s.valid_from, s.run_id, s.raw,
    coalesce(s.is_result, s.parent_id IS NOT NULL),
    CASE WHEN s.last_modified <> '' AND s.last_modified_at IS NULL THEN 'last_modified' END, NULL::timestamptz
  FROM (SELECT moment AS at WHERE simcat_report.history_covers(moment) OFFSET 0) AS covered
  JOIN simcat_report.scenario_versions s ON s.valid_from <= covered.at
  JOIN simcat_report.library_versions l ON l.owner = s.owner AND l.library_name = s.library_name
    AND l.valid_from <= covered.at AND (l.valid_to IS NULL OR moment < l.valid_to) AND l.removed_at IS NULL
  WHERE (s.valid_to IS NULL OR moment < s.valid_to) AND s.removed_at IS NULL;
END;

COMMENT ON FUNCTION simcat_report.scenarios_as_of(timestamp with time zone) IS 'The scenarios that were live at a time, together with their libraries, as they were: the columns of scenarios. For a time before data_complete_as_of.history_complete_since there are no rows, and a NOTICE says since when the history is complete. Content that was first read after that time is missing, also that of a library which was listed then.';
