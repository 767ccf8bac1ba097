-- A run of an earlier version would not keep the newest dates: one that is in progress loses its lease here, and writes nothing more.
UPDATE simcat.leases SET token = token + 1, expires_at = clock_timestamp();
--> statement-breakpoint
-- Found before library_sync is locked, so that its readers do not wait for a large table.
CREATE TABLE simcat.newest_scenarios AS
SELECT DISTINCT ON (owner, library_name) owner, library_name, last_modified_at, scenario_id
FROM simcat.scenarios
WHERE removed_at IS NULL AND last_modified_at <= now() + interval '1 day'
ORDER BY owner, library_name, last_modified_at DESC, scenario_id DESC;
--> statement-breakpoint
ALTER TABLE "simcat"."library_sync" ADD COLUMN "last_scenario_at" timestamp (6) with time zone;
--> statement-breakpoint
ALTER TABLE "simcat"."library_sync" ADD COLUMN "last_scenario_id" bigint;
--> statement-breakpoint
UPDATE simcat.library_sync y SET last_scenario_at = n.last_modified_at, last_scenario_id = n.scenario_id
FROM simcat.newest_scenarios n WHERE (y.owner, y.library_name) = (n.owner, n.library_name);
--> statement-breakpoint
DROP TABLE simcat.newest_scenarios;
--> statement-breakpoint
COMMENT ON COLUMN simcat.library_sync.last_scenario_at IS 'The newest last_modified_at of its scenarios that are not marked as removed, without dates that were more than a day in the future when the content was stored. Kept like scenario_count. NULL: no such date.';
COMMENT ON COLUMN simcat.library_sync.last_scenario_id IS 'The scenario with that date; of several, the one with the greatest number. NULL: no such date.';
--> statement-breakpoint
CREATE FUNCTION simcat_report.work_state(last_work_at timestamptz) RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE
RETURN CASE
  WHEN last_work_at IS NULL OR last_work_at > now() + interval '1 day' THEN 'unknown'
  WHEN last_work_at >= now() - interval '30 days' THEN 'active'
  WHEN last_work_at >= now() - interval '90 days' THEN 'quiet'
  ELSE 'stale'
END;
--> statement-breakpoint
COMMENT ON FUNCTION simcat_report.work_state(timestamp with time zone) IS 'The one definition of active and stale, by the time of the last work: active (within 30 days), quiet (within 90 days), stale (longer ago), unknown (NULL, or more than a day in the future).';
--> statement-breakpoint
CREATE OR REPLACE VIEW simcat_report.libraries AS
SELECT l.owner, l.library_name, l.library_owner, l.package_name, l.package_version, l.description,
  l.last_modified, l.last_modified_at, l.file_size, l.file_size_bytes,
  n.scenario_count, n.result_count, l.first_seen_at, l.changed_at, l.run_id, l.listed, l.metadata,
  n.scenario_count - n.result_count AS parent_count,
  w.last_work_at,
  CASE WHEN y.last_scenario_at = w.last_work_at THEN y.last_scenario_id END AS last_work_scenario_id,
  simcat_report.work_state(w.last_work_at) AS work_state,
  fresh.complete_as_of, y.reread_reason,
  (
    SELECT count(*) FROM simcat.rejects x
    WHERE x.owner = l.owner AND x.library_name = l.library_name AND x.resolved_at IS NULL
  ) AS open_rejects,
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
  SELECT greatest(
    CASE WHEN l.last_modified_at <= now() + interval '1 day' THEN l.last_modified_at END, y.last_scenario_at
  ) AS last_work_at
) AS w
WHERE l.removed_at IS NULL;
--> statement-breakpoint
COMMENT ON COLUMN simcat_report.libraries.parent_count IS 'Number of live scenarios in the library that are not results.';
COMMENT ON COLUMN simcat_report.libraries.last_work_at IS 'The newest last_modified_at of the library and its live scenarios. Dates more than a day in the future are ignored, those of scenarios as of the time at which the library''s content was stored. NULL: no known date.';
COMMENT ON COLUMN simcat_report.libraries.last_work_scenario_id IS 'The scenario with that date; of several, the one with the greatest number. NULL: the library''s own date is newer than those of all scenarios, or no date is known.';
COMMENT ON COLUMN simcat_report.libraries.work_state IS 'work_state(last_work_at): active (within 30 days), quiet (within 90 days), stale (longer ago), unknown (no known date).';
COMMENT ON COLUMN simcat_report.libraries.complete_as_of IS 'Everything that the service had of this library up to this time, and dated, is stored. NULL: not known.';
COMMENT ON COLUMN simcat_report.libraries.reread_reason IS 'Why the library must be read again whatever its date is: rejects, failure, shrunk or restored. NULL: no reason.';
COMMENT ON COLUMN simcat_report.libraries.open_rejects IS 'Number of open rejects: items of the library that could not be stored and have not been received in a valid form since.';
COMMENT ON COLUMN simcat_report.libraries.unparsed_fields IS 'Names of the fields whose text was not understood, separated by commas: last_modified, file_size. NULL: none.';
--> statement-breakpoint
CREATE OR REPLACE FUNCTION simcat_report.libraries_as_of(moment timestamptz) RETURNS SETOF simcat_report.libraries
LANGUAGE sql STABLE PARALLEL SAFE
BEGIN ATOMIC
  SELECT l.owner, l.library_name, l.library_owner, l.package_name, l.package_version, l.description,
    l.last_modified, l.last_modified_at, l.file_size, l.file_size_bytes,
    n.scenario_count, n.result_count, l.first_seen_at, l.valid_from, l.run_id, l.listed, l.metadata,
    n.scenario_count - n.result_count,
    w.last_work_at,
    CASE WHEN n.newest_at = w.last_work_at THEN n.newest_id END,
    -- The state that this time had then.
    simcat_report.work_state(w.last_work_at + (now() - least(moment, now()))),
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
    FROM simcat_report.scenario_versions s
    WHERE s.owner = l.owner AND s.library_name = l.library_name
      AND s.valid_from <= moment AND (s.valid_to IS NULL OR moment < s.valid_to) AND s.removed_at IS NULL
  ) AS n ON true
  CROSS JOIN LATERAL (
    SELECT greatest(
      CASE WHEN l.last_modified_at <= least(moment, now()) + interval '1 day' THEN l.last_modified_at END, n.newest_at
    ) AS last_work_at
  ) AS w
  -- The state of the copy is only known for the present.
  LEFT JOIN LATERAL (
    SELECT v.complete_as_of, v.reread_reason, v.open_rejects FROM simcat_report.libraries v
    WHERE moment >= now() AND v.owner = l.owner AND v.library_name = l.library_name
  ) AS c ON true
  WHERE (l.valid_to IS NULL OR moment < l.valid_to) AND l.removed_at IS NULL;
END;
--> statement-breakpoint
COMMENT ON FUNCTION simcat_report.libraries_as_of(timestamp with time zone) IS 'The libraries that were live at a time, as they were: the columns of libraries, with the counts of that time. complete_as_of, reread_reason and open_rejects are known only for the present: NULL for an earlier time. For a time before the latest cutoff of simcat prune there are no rows, and a NOTICE says since when the history is complete.';
--> statement-breakpoint
CREATE VIEW simcat_report.stale_results AS
SELECT r.owner, r.library_name, r.parent_id, p.scenario_name AS parent_name, p.last_modified_at AS parent_last_modified_at,
  r.latest_result_id, r.latest_result_name, r.latest_result_modified_at,
  extract(epoch FROM p.last_modified_at - r.latest_result_modified_at)::double precision AS edited_after_seconds,
  r.result_count
FROM simcat_report.latest_result_per_parent r
JOIN simcat.scenarios p ON p.owner = r.owner AND p.library_name = r.library_name AND p.scenario_id = r.parent_id
WHERE p.removed_at IS NULL AND p.last_modified_at > r.latest_result_modified_at;
--> statement-breakpoint
COMMENT ON VIEW simcat_report.stale_results IS 'Live scenarios that were edited after their latest result, one row each: the result does not show the edit. The latest result is that of latest_result_per_parent. Scenarios and results without a known date are omitted.';
COMMENT ON COLUMN simcat_report.stale_results.owner IS 'Owner of the library: the user who uploaded it, byte for byte. First part of its key.';
COMMENT ON COLUMN simcat_report.stale_results.library_name IS 'Name of the library, byte for byte. Second part of its key.';
COMMENT ON COLUMN simcat_report.stale_results.parent_id IS 'scenario_id of the edited scenario.';
COMMENT ON COLUMN simcat_report.stale_results.parent_name IS 'Name of the edited scenario. NULL: not sent.';
COMMENT ON COLUMN simcat_report.stale_results.parent_last_modified_at IS 'last_modified_at of the edited scenario.';
COMMENT ON COLUMN simcat_report.stale_results.latest_result_id IS 'scenario_id of its latest result.';
COMMENT ON COLUMN simcat_report.stale_results.latest_result_name IS 'Name of its latest result. NULL: not sent.';
COMMENT ON COLUMN simcat_report.stale_results.latest_result_modified_at IS 'last_modified_at of its latest result.';
COMMENT ON COLUMN simcat_report.stale_results.edited_after_seconds IS 'Seconds from the latest result to the edit: parent_last_modified_at - latest_result_modified_at.';
COMMENT ON COLUMN simcat_report.stale_results.result_count IS 'Number of live results of the scenario.';
--> statement-breakpoint
CREATE VIEW simcat_report.activity AS
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
  -- A version of a scenario is an event unless the library was removed at that time.
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
    WHERE l.owner = v.owner AND l.library_name = v.library_name AND l.removed_at IS NOT NULL
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
--> statement-breakpoint
COMMENT ON VIEW simcat_report.activity IS 'What happened, one row for each event of a library or a scenario. For scenarios, added + returned + returned_with_library - removed - went_with_library is the number of live ones; for libraries, added + returned - removed. Filter by seen_at, run_id, or owner and library_name. Events before the latest cutoff of simcat prune (prune_history) are not shown.';
COMMENT ON COLUMN simcat_report.activity.entity IS 'library or scenario.';
COMMENT ON COLUMN simcat_report.activity.kind IS 'added, changed, removed or returned; for a scenario that was not removed itself also went_with_library and returned_with_library, when its library was removed or returned.';
COMMENT ON COLUMN simcat_report.activity.owner IS 'Owner of the library: the user who uploaded it, byte for byte. First part of its key.';
COMMENT ON COLUMN simcat_report.activity.library_name IS 'Name of the library, byte for byte. Second part of its key.';
COMMENT ON COLUMN simcat_report.activity.scenario_id IS 'Number of the scenario. NULL: an event of the library itself.';
COMMENT ON COLUMN simcat_report.activity.is_result IS 'Whether the scenario was a result: the flag is true, or it was not sent and there is a parent. NULL: an event of the library itself.';
COMMENT ON COLUMN simcat_report.activity.service_date IS 'last_modified_at of the version that the event stored; of the last version if it was removed or went with its library. NULL: no known date.';
COMMENT ON COLUMN simcat_report.activity.seen_at IS 'When simcat stored the event. Not when it happened.';
COMMENT ON COLUMN simcat_report.activity.run_id IS 'The run that stored the event (run_history.run_id).';
