-- The join costs nothing if is_move is not selected: the planner removes it, because the right side is distinct.
CREATE OR REPLACE VIEW simcat_report.events AS
SELECT CASE WHEN e.scenario_id IS NULL THEN 'library' ELSE 'scenario' END AS entity, e.kind, e.owner, e.library_name, e.scenario_id,
  e.scenario_name, e.parent_id, e.is_result, e.service_date, e.seen_at, e.run_id,
  array_to_string(e.fields, ',') AS fields,
  CASE WHEN e.scenario_id IS NOT NULL OR e.kind = 'changed' THEN 0 WHEN e.kind = 'removed' THEN -1 ELSE 1 END AS library_change,
  e.scenarios AS scenario_change, e.results AS result_change, e.bytes AS byte_change, move.run_id IS NOT NULL AS is_move
FROM simcat.events e
LEFT JOIN (
  SELECT DISTINCT m.run_id, side.owner, m.library_name
  FROM simcat_report.library_moves m CROSS JOIN LATERAL (VALUES (m.old_owner), (m.new_owner)) AS side(owner)
) AS move ON move.run_id = e.run_id AND move.owner = e.owner AND move.library_name = e.library_name;

COMMENT ON VIEW simcat_report.events IS 'One row for each event, as it was stored: of a library, or of a single scenario. Its signed numbers add up to the live libraries, scenarios, results and bytes, for any owner and up to any time, also after a prune of the history. Only simcat prune --events deletes rows of it: data_complete_as_of.events_complete_since. For numbers by day or owner use this view; activity has a row for each scenario that was loaded, went or returned with its library.';
COMMENT ON COLUMN simcat_report.events.entity IS 'library or scenario.';
COMMENT ON COLUMN simcat_report.events.kind IS 'loaded (initial content, one row for each library: it was listed when the history began, and is counted when it is read first; a scenario of it that could only be stored later has its own row), added, changed, removed or returned.';
COMMENT ON COLUMN simcat_report.events.owner IS 'Owner of the library: the user who uploaded it, byte for byte. First part of its key.';
COMMENT ON COLUMN simcat_report.events.library_name IS 'Name of the library, byte for byte. Second part of its key.';
COMMENT ON COLUMN simcat_report.events.scenario_id IS 'Number of the scenario. NULL: an event of the library itself.';
COMMENT ON COLUMN simcat_report.events.scenario_name IS 'Name of the scenario after the event. NULL: no name, or an event of the library itself.';
COMMENT ON COLUMN simcat_report.events.parent_id IS 'The parent of the scenario. NULL: no parent, or an event of the library itself.';
COMMENT ON COLUMN simcat_report.events.is_result IS 'Whether the scenario was a result: the flag is true, or it was not sent and there is a parent. NULL: an event of the library itself.';
COMMENT ON COLUMN simcat_report.events.service_date IS 'last_modified_at of the version that the event stored, or of the last one if it was removed. NULL: no known date.';
COMMENT ON COLUMN simcat_report.events.seen_at IS 'When simcat stored the event. Not when it happened.';
COMMENT ON COLUMN simcat_report.events.run_id IS 'The run that stored the event (run_history.run_id).';
COMMENT ON COLUMN simcat_report.events.fields IS 'The fields in which the version differs from the one before, separated by commas; changes has their values. NULL: none, or no version before.';
COMMENT ON COLUMN simcat_report.events.library_change IS 'By how much the event changed the number of live libraries: 1, 0 or -1.';
COMMENT ON COLUMN simcat_report.events.scenario_change IS 'By how much the event changed the number of live scenarios. A library that was loaded, removed or returned takes its scenarios with it.';
COMMENT ON COLUMN simcat_report.events.result_change IS 'By how much the event changed the number of live results.';
COMMENT ON COLUMN simcat_report.events.byte_change IS 'By how much the event changed the sum of file_size_bytes of the live libraries, as far as the sizes could be read.';
COMMENT ON COLUMN simcat_report.events.is_move IS 'Whether the library moved to another owner, or its owner was renamed, in this run (library_moves): it was removed from the old owner and added to the new one, with as many scenarios, results and bytes.';
