CREATE OR REPLACE VIEW simcat_report.removed AS
SELECT l.removed_at, 'library' AS what, l.owner, l.library_name, NULL::bigint AS scenario_id, l.library_name AS name,
  false AS went_with_library, l.last_modified_at, l.first_seen_at, l.run_id,
  l.file_size_bytes, coalesce(y.scenario_count, (
    SELECT count(*) FROM simcat.scenarios s
    WHERE s.owner = l.owner AND s.library_name = l.library_name AND s.removed_at IS NULL
  )) AS scenario_count
FROM simcat.libraries l LEFT JOIN simcat.library_sync y ON y.owner = l.owner AND y.library_name = l.library_name
WHERE l.removed_at IS NOT NULL
UNION ALL
SELECT s.removed_at, 'scenario', s.owner, s.library_name, s.scenario_id, s.scenario_name,
  false, s.last_modified_at, s.first_seen_at, s.run_id, NULL, NULL
FROM simcat.scenarios s WHERE s.removed_at IS NOT NULL
UNION ALL
SELECT l.removed_at, 'scenario', s.owner, s.library_name, s.scenario_id, s.scenario_name,
  true, s.last_modified_at, s.first_seen_at, l.run_id, NULL, NULL
FROM simcat.libraries l JOIN simcat.scenarios s ON s.owner = l.owner AND s.library_name = l.library_name
WHERE l.removed_at IS NOT NULL AND s.removed_at IS NULL;

COMMENT ON VIEW simcat_report.removed IS 'Everything that was removed and did not return: removed libraries, removed scenarios, and the scenarios of removed libraries. Each stored item is either here or in libraries and scenarios.';
COMMENT ON COLUMN simcat_report.removed.removed_at IS 'When simcat found it missing. Not a proof of deletion: an unpublished item looks the same.';
COMMENT ON COLUMN simcat_report.removed.what IS 'library or scenario.';
COMMENT ON COLUMN simcat_report.removed.owner IS 'Owner of the library: the user who uploaded it, byte for byte. First part of its key.';
COMMENT ON COLUMN simcat_report.removed.library_name IS 'Name of the library, byte for byte. Second part of its key.';
COMMENT ON COLUMN simcat_report.removed.scenario_id IS 'Number of the scenario. NULL: a library.';
COMMENT ON COLUMN simcat_report.removed.name IS 'Name of the library or the scenario. NULL: a scenario without a name.';
COMMENT ON COLUMN simcat_report.removed.went_with_library IS 'Whether the scenario was removed only because its library was removed.';
COMMENT ON COLUMN simcat_report.removed.last_modified_at IS 'last_modified as a time: the start of the minute, day or other period that the text names. A text without a time zone is read in SIMCAT_SERVICE_TIMEZONE. NULL: no text, or an unknown format.';
COMMENT ON COLUMN simcat_report.removed.first_seen_at IS 'When simcat first stored it. Not when the service created it. Kept when it is removed and returns, unless it was pruned.';
COMMENT ON COLUMN simcat_report.removed.run_id IS 'The run that marked it as removed (run_history.run_id).';
COMMENT ON COLUMN simcat_report.removed.file_size_bytes IS 'Size of the library when it was removed. NULL: not known, or a scenario.';
COMMENT ON COLUMN simcat_report.removed.scenario_count IS 'Number of the scenarios that were removed with the library. NULL: a scenario.';
