-- One scan of the events, in their order. The scenarios that were loaded, went or returned with a library come from their versions.
CREATE OR REPLACE VIEW simcat_report.activity AS
SELECT x.entity, x.kind, e.owner, e.library_name, x.scenario_id, x.is_result, x.service_date, e.seen_at, e.run_id
FROM simcat.events e
CROSS JOIN LATERAL (
  SELECT CASE WHEN e.scenario_id IS NULL THEN 'library' ELSE 'scenario' END AS entity, e.kind, e.scenario_id, e.is_result,
    e.service_date
  UNION ALL
  SELECT 'scenario', CASE e.kind WHEN 'loaded' THEN 'loaded' WHEN 'removed' THEN 'went_with_library' ELSE 'returned_with_library' END,
    v.scenario_id, coalesce(v.is_result, v.parent_id IS NOT NULL), v.last_modified_at
  FROM simcat_report.scenario_versions v
  -- The ctid stops the planner from remembering the rows of each event, which never comes again.
  WHERE e.ctid IS NOT NULL AND e.scenario_id IS NULL AND e.scenarios <> 0 AND v.owner = e.owner AND v.library_name = e.library_name
    AND v.removed_at IS NULL AND v.valid_from <= e.seen_at
    AND CASE WHEN e.kind = 'loaded' THEN v.valid_from = e.seen_at AND v.first_seen_at = e.seen_at
      ELSE v.valid_from < e.seen_at AND (v.valid_to IS NULL OR v.valid_to > e.seen_at OR v.valid_to = e.seen_at AND NOT EXISTS (
        SELECT FROM simcat_report.scenario_versions n
        WHERE n.owner = v.owner AND n.library_name = v.library_name AND n.scenario_id = v.scenario_id
          AND n.valid_from = e.seen_at AND n.removed_at IS NOT NULL)) END
) AS x
WHERE e.seen_at > coalesce((SELECT max(p.cutoff) FROM simcat.prunes p), '-infinity');

COMMENT ON VIEW simcat_report.activity IS 'One row for each event of a library or a scenario. For scenarios, loaded + added + returned + returned_with_library - removed - went_with_library is the number of live ones; for libraries, loaded + added + returned - removed. Filter by seen_at, run_id, or owner and library_name. Events before the latest cutoff of simcat prune (prune_history) are not shown; the view events has them.';
COMMENT ON COLUMN simcat_report.activity.entity IS 'library or scenario.';
COMMENT ON COLUMN simcat_report.activity.kind IS 'loaded (initial content: of a library that was listed when the history began), added, changed, removed or returned; for a scenario that was not removed itself also went_with_library and returned_with_library, when its library was removed or returned.';
COMMENT ON COLUMN simcat_report.activity.owner IS 'Owner of the library: the user who uploaded it, byte for byte. First part of its key.';
COMMENT ON COLUMN simcat_report.activity.library_name IS 'Name of the library, byte for byte. Second part of its key.';
COMMENT ON COLUMN simcat_report.activity.scenario_id IS 'Number of the scenario. NULL: an event of the library itself.';
COMMENT ON COLUMN simcat_report.activity.is_result IS 'Whether the scenario was a result: the flag is true, or it was not sent and there is a parent. NULL: an event of the library itself.';
COMMENT ON COLUMN simcat_report.activity.service_date IS 'last_modified_at of the version that the event stored; of the last version if it was removed or went with its library. NULL: no known date.';
COMMENT ON COLUMN simcat_report.activity.seen_at IS 'When simcat stored the event. Not when it happened.';
COMMENT ON COLUMN simcat_report.activity.run_id IS 'The run that stored the event (run_history.run_id).';
