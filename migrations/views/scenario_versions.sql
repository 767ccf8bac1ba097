CREATE OR REPLACE VIEW simcat_report.scenario_versions AS
SELECT owner, library_name, scenario_id, changed_at AS valid_from, NULL::timestamptz AS valid_to, removed_at, scenario_name,
  is_result, nullif(parent_id, 0) AS parent_id, last_modified, last_modified_at, description, first_seen_at, run_id, raw
FROM simcat.scenarios
UNION ALL
SELECT owner, library_name, scenario_id, valid_from, valid_to, removed_at, scenario_name,
  is_result, nullif(parent_id, 0), last_modified, last_modified_at, description, first_seen_at, run_id, raw
FROM simcat.scenario_history;

COMMENT ON VIEW simcat_report.scenario_versions IS 'Every kept version of every scenario, removed ones included. A version is valid from valid_from (inclusive) to valid_to (exclusive), without gaps. Complete since data_complete_as_of.history_complete_since. A scenario is live only while its library is, which is not checked here: scenarios_as_of() checks both.';
COMMENT ON COLUMN simcat_report.scenario_versions.owner IS 'Owner of the library: the user who uploaded it, byte for byte. First part of its key.';
COMMENT ON COLUMN simcat_report.scenario_versions.library_name IS 'Name of the library, byte for byte. Second part of its key.';
COMMENT ON COLUMN simcat_report.scenario_versions.scenario_id IS 'Number of the scenario, unique only within its library. It may exceed the integers that a double represents exactly.';
COMMENT ON COLUMN simcat_report.scenario_versions.valid_from IS 'When this version was stored: the first moment at which it is valid (inclusive).';
COMMENT ON COLUMN simcat_report.scenario_versions.valid_to IS 'When the next version was stored: the end of this version (exclusive). NULL: it is the newest.';
COMMENT ON COLUMN simcat_report.scenario_versions.removed_at IS 'When it was removed. NULL: not removed in this version.';
COMMENT ON COLUMN simcat_report.scenario_versions.scenario_name IS 'Name of the scenario, as sent. People rename scenarios, so it does not prove which scenario is the parent. NULL: not sent.';
COMMENT ON COLUMN simcat_report.scenario_versions.is_result IS 'The service''s flag: true for a result, false for a parent scenario. NULL: not sent.';
COMMENT ON COLUMN simcat_report.scenario_versions.parent_id IS 'scenario_id of the parent in the same library, as sent. NULL: no parent (0 counts as none). The parent may be missing, or the scenario itself: see scenario_parents.';
COMMENT ON COLUMN simcat_report.scenario_versions.last_modified IS 'The service''s lastModified text, as sent. Its format and time zone are unknown: do not sort or compare it. NULL: not sent.';
COMMENT ON COLUMN simcat_report.scenario_versions.last_modified_at IS 'last_modified as a time: the start of the minute, day or other period that the text names. A text without a time zone is read in SIMCAT_SERVICE_TIMEZONE. NULL: no text, or an unknown format.';
COMMENT ON COLUMN simcat_report.scenario_versions.description IS 'Description of the scenario, as sent. NULL: not sent.';
COMMENT ON COLUMN simcat_report.scenario_versions.first_seen_at IS 'When simcat first stored it. Not when the service created it. Kept when it is removed and returns, unless it was pruned.';
COMMENT ON COLUMN simcat_report.scenario_versions.run_id IS 'The run that wrote this version (run_history.run_id).';
COMMENT ON COLUMN simcat_report.scenario_versions.raw IS 'The scenario as received, unknown fields included.';
