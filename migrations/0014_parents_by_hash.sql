-- Parents are found by a hash of their whole key, or by the key's index, and parallel workers share the work. The empty text
-- hides from the planner that the scenarios may be read in the order of their key. Otherwise it may merge by owner and library only,
-- and compare all pairs of a library's scenarios: it does so if the table is in that order, or if random_page_cost is low.
CREATE OR REPLACE VIEW simcat_report.scenario_parents AS
SELECT s.owner, s.library_name, s.scenario_id, s.scenario_name, s.is_result, s.last_modified_at,
  nullif(s.parent_id, 0) AS parent_id,
  p.scenario_name AS parent_name, p.is_result AS parent_is_result, p.last_modified_at AS parent_last_modified_at,
  nullif(s.parent_id, 0) IS NOT NULL AND NOT coalesce(p.is_live, false) AS parent_missing,
  coalesce(nullif(s.parent_id, 0) = s.scenario_id, false) AS is_own_parent
-- Not from the view scenarios: up to Postgres 15, its join with library_freshness would stay. parent_missing does not test a
-- column for NULL, because the planner would expect no rows and scan the libraries once for each.
FROM simcat.scenarios s
LEFT JOIN (
  SELECT true AS is_live, one.owner, one.library_name, one.scenario_id, one.scenario_name, one.is_result, one.last_modified_at
  FROM simcat.scenarios one
  WHERE one.removed_at IS NULL
) AS p ON p.owner = s.owner || '' AND p.library_name = s.library_name || '' AND p.scenario_id = nullif(s.parent_id, 0)
WHERE s.removed_at IS NULL
  AND NOT EXISTS (
    SELECT FROM simcat.libraries l
    WHERE l.owner = s.owner AND l.library_name = s.library_name AND l.removed_at IS NOT NULL
  );
--> statement-breakpoint
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
