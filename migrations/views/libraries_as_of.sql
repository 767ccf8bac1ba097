CREATE OR REPLACE FUNCTION simcat_report.libraries_as_of(moment timestamptz) RETURNS SETOF simcat_report.libraries
LANGUAGE sql STABLE PARALLEL SAFE
BEGIN ATOMIC
  SELECT l.owner, l.library_name, l.library_owner, l.package_name, l.package_version, l.description,
    l.last_modified, l.last_modified_at, l.file_size, l.file_size_bytes,
    n.scenario_count, n.result_count, l.first_seen_at, l.valid_from, l.run_id, l.listed, l.metadata,
    n.scenario_count - n.result_count, w.last_work_at, CASE WHEN n.newest_at = w.last_work_at THEN n.newest_id END,
    -- The state that this time had then. In seconds, because the days of a difference are those of the session's zone.
    simcat_report.work_state(w.last_work_at + make_interval(secs => extract(epoch FROM now() - least(moment, now()))::float8)),
    c.complete_as_of, c.reread_reason, c.open_rejects,
    nullif(concat_ws(',',
      CASE WHEN l.last_modified <> '' AND l.last_modified_at IS NULL THEN 'last_modified' END,
      CASE WHEN l.file_size IS NOT NULL AND l.file_size_bytes IS NULL THEN 'file_size' END
    ), '')
  FROM (SELECT moment AS at WHERE simcat_report.history_covers(moment) OFFSET 0) AS covered
  JOIN simcat_report.library_versions l ON l.valid_from <= covered.at
  LEFT JOIN LATERAL (
    SELECT count(*) AS scenario_count,
      count(*) FILTER (WHERE coalesce(s.is_result, s.parent_id IS NOT NULL)) AS result_count,
      max(s.last_modified_at) FILTER (WHERE s.last_modified_at <= least(moment, now()) + interval '1 day') AS newest_at,
      (array_agg(s.scenario_id ORDER BY s.last_modified_at DESC, s.scenario_id DESC)
        FILTER (WHERE s.last_modified_at <= least(moment, now()) + interval '1 day'))[1] AS newest_id
    FROM simcat_report.scenario_versions s WHERE s.owner = l.owner AND s.library_name = l.library_name
      AND s.valid_from <= moment AND (s.valid_to IS NULL OR moment < s.valid_to) AND s.removed_at IS NULL
  ) AS n ON true
  CROSS JOIN LATERAL (
    SELECT greatest(CASE WHEN l.last_modified_at <= least(moment, now()) + interval '1 day' THEN l.last_modified_at END, n.newest_at) AS last_work_at
  ) AS w
  -- The state of the copy is only known for the present.
  LEFT JOIN LATERAL (
    SELECT v.complete_as_of, v.reread_reason, v.open_rejects FROM simcat_report.libraries v
    WHERE moment >= now() AND v.owner = l.owner AND v.library_name = l.library_name
  ) AS c ON true
  WHERE (l.valid_to IS NULL OR moment < l.valid_to) AND l.removed_at IS NULL;
END;

COMMENT ON FUNCTION simcat_report.libraries_as_of(timestamp with time zone) IS 'The libraries that were live at a time, as they were: the columns of libraries, with the counts of that time. complete_as_of, reread_reason and open_rejects are known only for the present: NULL for an earlier time. For a time before data_complete_as_of.history_complete_since there are no rows, and a NOTICE says since when the history is complete. Content that was first read after that time is missing, also that of a library which was listed then.';
