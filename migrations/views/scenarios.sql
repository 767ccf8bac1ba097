-- The join costs nothing if library_complete_as_of is not selected: the planner removes it, because the right side is distinct.
CREATE OR REPLACE VIEW simcat_report.scenarios AS
SELECT s.owner, s.library_name, s.scenario_id, s.scenario_name, s.is_result, nullif(s.parent_id, 0) AS parent_id,
  s.last_modified, s.last_modified_at, s.description, s.first_seen_at, s.changed_at, s.run_id, s.raw,
  coalesce(s.is_result, nullif(s.parent_id, 0) IS NOT NULL) AS counts_as_result,
  CASE WHEN s.last_modified <> '' AND s.last_modified_at IS NULL THEN 'last_modified' END AS unparsed_fields,
  fresh.complete_as_of AS library_complete_as_of
FROM simcat.scenarios s
LEFT JOIN (
  SELECT DISTINCT ON (f.owner, f.library_name) f.owner, f.library_name, f.complete_as_of
  FROM simcat_report.library_freshness f
) AS fresh ON fresh.owner = s.owner AND fresh.library_name = s.library_name
WHERE s.removed_at IS NULL
  -- The foreign key guarantees a library. Asked this way round, 1,000,000 scenarios take half the time of a join.
  AND NOT EXISTS (
    SELECT FROM simcat.libraries l WHERE l.owner = s.owner AND l.library_name = s.library_name AND l.removed_at IS NOT NULL
  );

COMMENT ON VIEW simcat_report.scenarios IS 'Live scenarios, one row each: neither they nor their library are removed.';
COMMENT ON COLUMN simcat_report.scenarios.owner IS 'Owner of the library: the user who uploaded it, byte for byte. First part of its key.';
COMMENT ON COLUMN simcat_report.scenarios.library_name IS 'Name of the library, byte for byte. Second part of its key.';
COMMENT ON COLUMN simcat_report.scenarios.scenario_id IS 'Number of the scenario, unique only within its library. It may exceed the integers that a double represents exactly.';
COMMENT ON COLUMN simcat_report.scenarios.scenario_name IS 'Name of the scenario, as sent. People rename scenarios, so it does not prove which scenario is the parent. NULL: not sent.';
COMMENT ON COLUMN simcat_report.scenarios.is_result IS 'The service''s flag: true for a result, false for a parent scenario. NULL: not sent.';
COMMENT ON COLUMN simcat_report.scenarios.parent_id IS 'scenario_id of the parent in the same library, as sent. NULL: no parent (0 counts as none). The parent may be missing, or the scenario itself: see scenario_parents.';
COMMENT ON COLUMN simcat_report.scenarios.last_modified IS 'The service''s lastModified text, as sent. Its format and time zone are unknown: do not sort or compare it. NULL: not sent.';
COMMENT ON COLUMN simcat_report.scenarios.last_modified_at IS 'last_modified as a time: the start of the minute, day or other period that the text names. A text without a time zone is read in SIMCAT_SERVICE_TIMEZONE. NULL: no text, or an unknown format.';
COMMENT ON COLUMN simcat_report.scenarios.description IS 'Description of the scenario, as sent. NULL: not sent.';
COMMENT ON COLUMN simcat_report.scenarios.first_seen_at IS 'When simcat first stored it. Not when the service created it. Kept when it is removed and returns, unless it was pruned.';
COMMENT ON COLUMN simcat_report.scenarios.changed_at IS 'When simcat stored this version, which is valid from then on. Not when it was edited.';
COMMENT ON COLUMN simcat_report.scenarios.run_id IS 'The run that wrote this version (run_history.run_id).';
COMMENT ON COLUMN simcat_report.scenarios.raw IS 'The scenario as received, unknown fields included.';
COMMENT ON COLUMN simcat_report.scenarios.counts_as_result IS 'Whether result_count counts it: is_result, or if that was not sent, whether there is a parent.';
COMMENT ON COLUMN simcat_report.scenarios.unparsed_fields IS 'last_modified if its text has an unknown format, so that last_modified_at is NULL. NULL: every text was understood.';
COMMENT ON COLUMN simcat_report.scenarios.library_complete_as_of IS 'complete_as_of of the library (library_freshness): what the service had of it up to this time, and dated, is stored. NULL: not known, or a row of scenarios_as_of().';
