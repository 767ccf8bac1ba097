CREATE OR REPLACE VIEW simcat_report.activity AS
SELECT e.entity, e.kind, e.owner, e.library_name, e.scenario_id, e.is_result, e.service_date, e.seen_at, e.run_id
FROM (
  SELECT 'library' AS entity,
    CASE
      WHEN v.removed_at IS NOT NULL THEN 'removed'
      WHEN v.valid_from = v.first_seen_at THEN 'added'
      WHEN p.removed_at IS NOT NULL THEN 'returned'
      ELSE 'changed'
    END AS kind,
    v.owner, v.library_name, NULL::bigint AS scenario_id, NULL::boolean AS is_result, v.last_modified_at AS service_date,
    v.valid_from AS seen_at, v.run_id
  FROM simcat_report.library_versions v
  LEFT JOIN simcat.library_history p
    ON p.owner = v.owner AND p.library_name = v.library_name AND p.valid_to = v.valid_from AND p.removed_at IS NOT NULL
  UNION ALL
  -- A version of a scenario is an event unless the library was removed at that time. The empty text keeps the planner from looking
  -- the library up for each version: it expects few rows of one kind, and there may be all scenarios.
  SELECT 'scenario',
    CASE
      WHEN v.removed_at IS NOT NULL THEN 'removed'
      WHEN v.valid_from = v.first_seen_at THEN 'added'
      WHEN p.removed_at IS NOT NULL THEN 'returned'
      ELSE 'changed'
    END,
    v.owner, v.library_name, v.scenario_id, coalesce(v.is_result, v.parent_id IS NOT NULL), v.last_modified_at, v.valid_from, v.run_id
  FROM simcat_report.scenario_versions v
  LEFT JOIN simcat.scenario_history p
    ON p.owner = v.owner AND p.library_name = v.library_name AND p.scenario_id = v.scenario_id
    AND p.valid_to = v.valid_from AND p.removed_at IS NOT NULL
  WHERE NOT EXISTS (
    SELECT FROM simcat_report.library_versions l
    WHERE l.owner || '' = v.owner AND l.library_name || '' = v.library_name AND l.removed_at IS NOT NULL
      AND CASE WHEN v.removed_at IS NULL THEN l.valid_from <= v.valid_from AND (l.valid_to IS NULL OR v.valid_from < l.valid_to)
        ELSE l.valid_from < v.valid_from AND (l.valid_to IS NULL OR v.valid_from <= l.valid_to) END
  )
  UNION ALL
  -- The scenarios that were not removed themselves go and return with their library.
  SELECT 'scenario', e.kind, v.owner, v.library_name, v.scenario_id, coalesce(v.is_result, v.parent_id IS NOT NULL),
    v.last_modified_at, e.seen_at, e.run_id
  FROM (
    SELECT 'went_with_library' AS kind, l.owner, l.library_name, l.valid_from AS seen_at, l.run_id
    FROM simcat_report.library_versions l WHERE l.removed_at IS NOT NULL
    UNION ALL
    SELECT 'returned_with_library', h.owner, h.library_name, h.valid_to, h.superseded_by
    FROM simcat.library_history h WHERE h.removed_at IS NOT NULL
  ) AS e
  JOIN simcat_report.scenario_versions v ON v.owner = e.owner AND v.library_name = e.library_name
  WHERE v.removed_at IS NULL AND v.valid_from < e.seen_at
    AND (v.valid_to IS NULL OR v.valid_to > e.seen_at OR v.valid_to = e.seen_at AND NOT EXISTS (
      SELECT FROM simcat_report.scenario_versions n
      WHERE n.owner = v.owner AND n.library_name = v.library_name AND n.scenario_id = v.scenario_id
        AND n.valid_from = e.seen_at AND n.removed_at IS NOT NULL
    ))
) AS e
-- Some earlier events are left after a prune, but not all.
WHERE e.seen_at > coalesce((SELECT max(p.cutoff) FROM simcat.prunes p), '-infinity');

COMMENT ON VIEW simcat_report.activity IS 'One row for each event of a library or a scenario. For scenarios, added + returned + returned_with_library - removed - went_with_library is the number of live ones; for libraries, added + returned - removed. Filter by seen_at, run_id, or owner and library_name. Events before the latest cutoff of simcat prune (prune_history) are not shown.';
COMMENT ON COLUMN simcat_report.activity.entity IS 'library or scenario.';
COMMENT ON COLUMN simcat_report.activity.kind IS 'added, changed, removed or returned; for a scenario that was not removed itself also went_with_library and returned_with_library, when its library was removed or returned.';
COMMENT ON COLUMN simcat_report.activity.owner IS 'Owner of the library: the user who uploaded it, byte for byte. First part of its key.';
COMMENT ON COLUMN simcat_report.activity.library_name IS 'Name of the library, byte for byte. Second part of its key.';
COMMENT ON COLUMN simcat_report.activity.scenario_id IS 'Number of the scenario. NULL: an event of the library itself.';
COMMENT ON COLUMN simcat_report.activity.is_result IS 'Whether the scenario was a result: the flag is true, or it was not sent and there is a parent. NULL: an event of the library itself.';
COMMENT ON COLUMN simcat_report.activity.service_date IS 'last_modified_at of the version that the event stored; of the last version if it was removed or went with its library. NULL: no known date.';
COMMENT ON COLUMN simcat_report.activity.seen_at IS 'When simcat stored the event. Not when it happened.';
COMMENT ON COLUMN simcat_report.activity.run_id IS 'The run that stored the event (run_history.run_id).';
