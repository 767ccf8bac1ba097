CREATE OR REPLACE VIEW simcat_report.libraries AS
SELECT l.owner, l.library_name, l.library_owner, l.package_name, l.package_version, l.description,
  l.last_modified, l.last_modified_at, l.file_size, l.file_size_bytes,
  n.scenario_count, n.result_count, l.first_seen_at, l.changed_at, l.run_id, l.listed, l.metadata,
  n.scenario_count - n.result_count AS parent_count,
  w.last_work_at,
  CASE WHEN y.last_scenario_at = w.last_work_at THEN y.last_scenario_id END AS last_work_scenario_id,
  simcat_report.work_state(w.last_work_at) AS work_state,
  fresh.complete_as_of, y.reread_reason,
  (SELECT count(*) FROM simcat.rejects x WHERE x.owner = l.owner AND x.library_name = l.library_name AND x.resolved_at IS NULL)
    AS open_rejects,
  nullif(concat_ws(',',
    CASE WHEN l.last_modified <> '' AND l.last_modified_at IS NULL THEN 'last_modified' END,
    CASE WHEN l.file_size IS NOT NULL AND l.file_size_bytes IS NULL THEN 'file_size' END
  ), '') AS unparsed_fields
FROM simcat.libraries l
LEFT JOIN simcat.library_sync y ON y.owner = l.owner AND y.library_name = l.library_name
-- Costs nothing if complete_as_of is not selected: because the right side is distinct, the planner removes the join.
LEFT JOIN (
  SELECT DISTINCT ON (f.owner, f.library_name) f.owner, f.library_name, f.complete_as_of
  FROM simcat_report.library_freshness f
) AS fresh ON fresh.owner = l.owner AND fresh.library_name = l.library_name
CROSS JOIN LATERAL (
  -- Rows that another tool wrote have no counts.
  SELECT coalesce(y.scenario_count, (
    SELECT count(*) FROM simcat.scenarios s
    WHERE s.owner = l.owner AND s.library_name = l.library_name AND s.removed_at IS NULL
  )) AS scenario_count,
  coalesce(y.result_count, (
    SELECT count(*) FROM simcat.scenarios s
    WHERE s.owner = l.owner AND s.library_name = l.library_name AND s.removed_at IS NULL
      AND coalesce(s.is_result, nullif(s.parent_id, 0) IS NOT NULL)
  )) AS result_count
) AS n
CROSS JOIN LATERAL (
  SELECT greatest(CASE WHEN l.last_modified_at <= now() + interval '1 day' THEN l.last_modified_at END, y.last_scenario_at) AS last_work_at
) AS w
WHERE l.removed_at IS NULL;

COMMENT ON VIEW simcat_report.libraries IS 'Live libraries, one row each: those that the service lists and that are stored. A library that is listed but not stored yet is only in library_freshness.';
COMMENT ON COLUMN simcat_report.libraries.owner IS 'Owner of the library: the user who uploaded it, byte for byte. First part of its key.';
COMMENT ON COLUMN simcat_report.libraries.library_name IS 'Name of the library, byte for byte. Second part of its key.';
COMMENT ON COLUMN simcat_report.libraries.library_owner IS 'The owner that the metadata names, a user or an organization. May differ from owner. NULL: not sent, or no metadata stored yet.';
COMMENT ON COLUMN simcat_report.libraries.package_name IS 'The simulation package. NULL: not sent, or no metadata stored yet.';
COMMENT ON COLUMN simcat_report.libraries.package_version IS 'Version of the package, as sent. Compare versions part by part with version_order(). NULL: not sent, or no metadata stored yet.';
COMMENT ON COLUMN simcat_report.libraries.description IS 'Description of the library, as sent. It may be long. NULL: not sent, or no metadata stored yet.';
COMMENT ON COLUMN simcat_report.libraries.last_modified IS 'The service''s lastModified text, as sent. Its format and time zone are unknown: do not sort or compare it. NULL: not sent.';
COMMENT ON COLUMN simcat_report.libraries.last_modified_at IS 'last_modified as a time: the start of the minute, day or other period that the text names. A text without a time zone is read in SIMCAT_SERVICE_TIMEZONE. NULL: no text, or an unknown format.';
COMMENT ON COLUMN simcat_report.libraries.file_size IS 'The size text, as sent, such as 240 KB. NULL: not sent, or no metadata stored yet.';
COMMENT ON COLUMN simcat_report.libraries.file_size_bytes IS 'file_size in bytes; 1 KB is 1024 bytes. As rounded as the text. NULL: not sent, or not understood. Never 0 for an unknown size, so a sum omits unknown sizes.';
COMMENT ON COLUMN simcat_report.libraries.scenario_count IS 'Number of live scenarios in the library, results included.';
COMMENT ON COLUMN simcat_report.libraries.result_count IS 'Number of those scenarios that are results: is_result is true, or it was not sent and there is a parent.';
COMMENT ON COLUMN simcat_report.libraries.first_seen_at IS 'When simcat first stored it. Not when the service created it. Kept when it is removed and returns, unless it was pruned.';
COMMENT ON COLUMN simcat_report.libraries.changed_at IS 'When simcat stored this version, which is valid from then on. Not when it was edited.';
COMMENT ON COLUMN simcat_report.libraries.run_id IS 'The run that wrote this version (run_history.run_id).';
COMMENT ON COLUMN simcat_report.libraries.listed IS 'The list entry as received, unknown fields included. NULL: no list entry stored yet.';
COMMENT ON COLUMN simcat_report.libraries.metadata IS 'The metadata as received, unknown fields included. NULL: no metadata stored yet.';
COMMENT ON COLUMN simcat_report.libraries.parent_count IS 'Number of live scenarios in the library that are not results.';
COMMENT ON COLUMN simcat_report.libraries.last_work_at IS 'The newest last_modified_at of the library and its live scenarios. Dates more than a day in the future are ignored, those of scenarios as of the time at which the library''s content was stored. NULL: no known date.';
COMMENT ON COLUMN simcat_report.libraries.last_work_scenario_id IS 'The scenario with that date; of several, the one with the greatest number. NULL: the library''s own date is newer than those of all scenarios, or no date is known.';
COMMENT ON COLUMN simcat_report.libraries.work_state IS 'work_state(last_work_at): active (within 30 days), quiet (within 90 days), stale (longer ago), unknown (no known date).';
COMMENT ON COLUMN simcat_report.libraries.complete_as_of IS 'Everything that the service had of this library up to this time, and dated, is stored. NULL: not known.';
COMMENT ON COLUMN simcat_report.libraries.reread_reason IS 'Why the library must be read again whatever its date is: rejects, failure, shrunk or restored. NULL: no reason.';
COMMENT ON COLUMN simcat_report.libraries.open_rejects IS 'Number of open rejects: items of the library that could not be stored and have not been received in a valid form since.';
COMMENT ON COLUMN simcat_report.libraries.unparsed_fields IS 'Names of the fields whose text was not understood, separated by commas: last_modified, file_size. NULL: none.';
