-- OFFSET 0: each parent is looked up by its whole key. Otherwise the planner may merge by owner and library only, and compare
-- all pairs of a library's scenarios. It does so if the table is in the order of its key, or if random_page_cost is low.
CREATE OR REPLACE VIEW simcat_report.scenario_parents AS
SELECT s.owner, s.library_name, s.scenario_id, s.scenario_name, s.is_result, s.last_modified_at,
  nullif(s.parent_id, 0) AS parent_id,
  p.scenario_name AS parent_name, p.is_result AS parent_is_result, p.last_modified_at AS parent_last_modified_at,
  nullif(s.parent_id, 0) IS NOT NULL AND NOT coalesce(p.is_live, false) AS parent_missing,
  coalesce(nullif(s.parent_id, 0) = s.scenario_id, false) AS is_own_parent
-- Not from the view scenarios: up to Postgres 15, its join with library_freshness would stay. parent_missing does not test a
-- column for NULL, because the planner would expect no rows and scan the libraries once for each.
FROM simcat.scenarios s
LEFT JOIN LATERAL (
  SELECT true AS is_live, one.scenario_name, one.is_result, one.last_modified_at FROM simcat.scenarios one
  WHERE one.owner = s.owner AND one.library_name = s.library_name AND one.scenario_id = nullif(s.parent_id, 0)
    AND one.removed_at IS NULL
  OFFSET 0
) AS p ON true
WHERE s.removed_at IS NULL
  AND NOT EXISTS (
    SELECT FROM simcat.libraries l
    WHERE l.owner = s.owner AND l.library_name = s.library_name AND l.removed_at IS NOT NULL
  );
--> statement-breakpoint
-- One branch for each problem, so that the planner drops all others if a query filters by problem, severity or fix_by.
CREATE OR REPLACE VIEW simcat_report.data_quality AS
SELECT 'date_not_understood' AS problem, 'library' AS what, l.owner, l.library_name, NULL::bigint AS scenario_id,
  'last_modified' AS field, l.last_modified AS value, 'last_modified is in a format that simcat does not know' AS detail,
  'warning' AS severity, 'operator' AS fix_by
FROM simcat.libraries l
WHERE l.removed_at IS NULL AND l.last_modified <> '' AND l.last_modified_at IS NULL
UNION ALL
SELECT 'no_date', 'library', l.owner, l.library_name, NULL, 'last_modified', l.last_modified,
  'the library is listed without a date, so its content is read in every run', 'warning', 'service'
FROM simcat.libraries l
WHERE l.removed_at IS NULL AND coalesce(l.last_modified, '') = ''
UNION ALL
SELECT 'future_date', 'library', l.owner, l.library_name, NULL, 'last_modified', l.last_modified,
  'last_modified is more than a day in the future', 'warning', 'service'
FROM simcat.libraries l
WHERE l.removed_at IS NULL AND l.last_modified_at > now() + interval '1 day'
UNION ALL
SELECT 'size_not_understood', 'library', l.owner, l.library_name, NULL, 'file_size', l.file_size,
  'file_size is in a format that simcat does not know; sums leave it out', 'warning', 'operator'
FROM simcat.libraries l
WHERE l.removed_at IS NULL AND l.file_size IS NOT NULL AND l.file_size_bytes IS NULL
UNION ALL
SELECT 'no_size', 'library', l.owner, l.library_name, NULL, 'file_size', NULL,
  'the metadata has no size; sums leave it out', 'warning', 'service'
FROM simcat.libraries l
WHERE l.removed_at IS NULL AND l.metadata IS NOT NULL AND l.file_size IS NULL
UNION ALL
SELECT 'names_differ_by_case', 'library', l.owner, l.library_name, NULL, 'library_name', NULL,
  'another library has the same owner and name but for capitals', 'warning', 'uploader'
FROM simcat.libraries l
WHERE l.removed_at IS NULL AND EXISTS (
  SELECT FROM simcat.libraries o
  WHERE o.removed_at IS NULL AND (o.owner <> l.owner OR o.library_name <> l.library_name)
    AND lower(o.owner COLLATE "default") = lower(l.owner COLLATE "default")
    AND lower(o.library_name COLLATE "default") = lower(l.library_name COLLATE "default")
)
UNION ALL
SELECT 'name_under_two_owners', 'library', l.owner, l.library_name, NULL, 'library_name', l.library_name COLLATE "default",
  'a library of another owner has the same name', 'info', 'uploader'
FROM simcat.libraries l
WHERE l.removed_at IS NULL AND EXISTS (
  SELECT FROM simcat.libraries o
  WHERE o.removed_at IS NULL AND o.library_name = l.library_name AND o.owner <> l.owner
)
UNION ALL
SELECT 'date_not_understood', 'scenario', s.owner, s.library_name, s.scenario_id, 'last_modified', s.last_modified,
  'last_modified is in a format that simcat does not know', 'warning', 'operator'
FROM simcat_report.scenarios s
WHERE s.last_modified <> '' AND s.last_modified_at IS NULL
UNION ALL
SELECT 'future_date', 'scenario', s.owner, s.library_name, s.scenario_id, 'last_modified', s.last_modified,
  'last_modified is more than a day in the future', 'warning', 'uploader'
FROM simcat_report.scenarios s
WHERE s.last_modified_at > now() + interval '1 day'
UNION ALL
SELECT 'result_without_parent', 'scenario', s.owner, s.library_name, s.scenario_id, 'parent_id', s.parent_id::text,
  'is_result is true and there is no parent', 'warning', 'uploader'
FROM simcat_report.scenarios s
WHERE s.is_result AND s.parent_id IS NULL
UNION ALL
SELECT 'parent_but_no_result', 'scenario', s.owner, s.library_name, s.scenario_id, 'is_result', 'false',
  'is_result is false and there is a parent', 'warning', 'uploader'
FROM simcat_report.scenarios s
WHERE NOT s.is_result AND s.parent_id IS NOT NULL
UNION ALL
SELECT 'own_parent', 'scenario', s.owner, s.library_name, s.scenario_id, 'parent_id', s.parent_id::text,
  'the scenario is its own parent', 'error', 'uploader'
FROM simcat_report.scenarios s
WHERE s.parent_id = s.scenario_id
UNION ALL
SELECT 'parent_missing', 'scenario', s.owner, s.library_name, s.scenario_id, 'parent_id', s.parent_id::text,
  'no live scenario of the library has this id', 'warning', 'uploader'
FROM simcat_report.scenario_parents s
WHERE s.parent_missing
UNION ALL
-- A cycle of two or more has a smallest number, whose parent is greater. That is rare: parents are made before their results.
SELECT 'parent_cycle', 'scenario', s.owner, s.library_name, c.scenario_id, 'parent_id', c.parent_id::text,
  'the parents of this scenario lead back to it', 'error', 'uploader'
FROM simcat_report.scenarios s
CROSS JOIN LATERAL (
  WITH RECURSIVE above AS (
    SELECT s.scenario_id, s.parent_id
    UNION
    -- OFFSET 0: each is looked up by its whole key, whatever size of a library the planner assumes.
    SELECT a.scenario_id, a.parent_id FROM above CROSS JOIN LATERAL (
      SELECT one.scenario_id, nullif(one.parent_id, 0) AS parent_id FROM simcat.scenarios one
      WHERE one.owner = s.owner AND one.library_name = s.library_name AND one.scenario_id = above.parent_id
        AND one.removed_at IS NULL
      OFFSET 0
    ) AS a
    WHERE above.parent_id > s.scenario_id
  )
  SELECT above.scenario_id, above.parent_id FROM above
  WHERE EXISTS (SELECT FROM above last WHERE last.parent_id = s.scenario_id)
) AS c
WHERE s.parent_id > s.scenario_id
UNION ALL
SELECT 'open_reject', CASE r.kind WHEN 'scenario' THEN 'scenario' ELSE 'library' END, r.owner, r.library_name, NULL,
  nullif(r.path, ''), NULL, r.code || ': ' || r.reason, 'error', 'service'
FROM simcat.rejects r
WHERE r.resolved_at IS NULL;
--> statement-breakpoint
-- Compare each pair of versions once: a row for each of the constant fields would take twice as long. Each other kind has its own
-- branches, so that the planner drops the comparison if a query filters by kind.
CREATE OR REPLACE VIEW simcat_report.changes AS
SELECT h.valid_to AS changed_at, 'changed' AS kind,
  'library' AS what, h.owner, h.library_name, NULL::bigint AS scenario_id, h.library_name AS name,
  f.field, d.old_value, d.new_value, h.superseded_by AS run_id
FROM simcat.library_history h
-- A first version supersedes nothing.
JOIN simcat_report.library_versions n
  ON n.owner = h.owner AND n.library_name = h.library_name AND n.valid_from = h.valid_to AND n.valid_from <> n.first_seen_at
CROSS JOIN LATERAL (
  SELECT unnest(array_remove(ARRAY[
    CASE WHEN h.library_owner IS DISTINCT FROM n.library_owner THEN 'library_owner' END,
    CASE WHEN h.package_name IS DISTINCT FROM n.package_name THEN 'package_name' END,
    CASE WHEN h.package_version IS DISTINCT FROM n.package_version THEN 'package_version' END,
    CASE WHEN h.description IS DISTINCT FROM n.description THEN 'description' END,
    CASE WHEN h.last_modified IS DISTINCT FROM n.last_modified THEN 'last_modified' END,
    CASE WHEN h.file_size IS DISTINCT FROM n.file_size THEN 'file_size' END
  ], NULL)) AS field
) AS f
CROSS JOIN LATERAL (
  SELECT
    CASE f.field
      WHEN 'library_owner' THEN h.library_owner
      WHEN 'package_name' THEN h.package_name
      WHEN 'package_version' THEN h.package_version
      WHEN 'description' THEN h.description
      WHEN 'last_modified' THEN h.last_modified
      WHEN 'file_size' THEN h.file_size
    END AS old_value,
    CASE f.field
      WHEN 'library_owner' THEN n.library_owner
      WHEN 'package_name' THEN n.package_name
      WHEN 'package_version' THEN n.package_version
      WHEN 'description' THEN n.description
      WHEN 'last_modified' THEN n.last_modified
      WHEN 'file_size' THEN n.file_size
    END AS new_value
) AS d
UNION ALL
SELECT h.valid_to, 'changed',
  'scenario', h.owner, h.library_name, h.scenario_id, n.scenario_name,
  f.field, d.old_value, d.new_value, h.superseded_by
FROM simcat.scenario_history h
JOIN simcat_report.scenario_versions n ON n.owner = h.owner AND n.library_name = h.library_name
  AND n.scenario_id = h.scenario_id AND n.valid_from = h.valid_to AND n.valid_from <> n.first_seen_at
CROSS JOIN LATERAL (
  SELECT unnest(array_remove(ARRAY[
    CASE WHEN h.scenario_name IS DISTINCT FROM n.scenario_name THEN 'scenario_name' END,
    CASE WHEN h.is_result IS DISTINCT FROM n.is_result THEN 'is_result' END,
    CASE WHEN nullif(h.parent_id, 0) IS DISTINCT FROM n.parent_id THEN 'parent_id' END,
    CASE WHEN h.last_modified IS DISTINCT FROM n.last_modified THEN 'last_modified' END,
    CASE WHEN h.description IS DISTINCT FROM n.description THEN 'description' END
  ], NULL)) AS field
) AS f
CROSS JOIN LATERAL (
  SELECT
    CASE f.field
      WHEN 'scenario_name' THEN h.scenario_name
      WHEN 'is_result' THEN h.is_result::text
      WHEN 'parent_id' THEN nullif(h.parent_id, 0)::text
      WHEN 'last_modified' THEN h.last_modified
      WHEN 'description' THEN h.description
    END AS old_value,
    CASE f.field
      WHEN 'scenario_name' THEN n.scenario_name
      WHEN 'is_result' THEN n.is_result::text
      WHEN 'parent_id' THEN n.parent_id::text
      WHEN 'last_modified' THEN n.last_modified
      WHEN 'description' THEN n.description
    END AS new_value
) AS d
UNION ALL
SELECT h.valid_to, 'removed', 'library', h.owner, h.library_name, NULL, h.library_name, NULL, NULL, NULL, h.superseded_by
FROM simcat.library_history h
JOIN simcat_report.library_versions n
  ON n.owner = h.owner AND n.library_name = h.library_name AND n.valid_from = h.valid_to AND n.valid_from <> n.first_seen_at
WHERE h.removed_at IS NULL AND n.removed_at IS NOT NULL
UNION ALL
SELECT h.valid_to, 'removed', 'scenario', h.owner, h.library_name, h.scenario_id, n.scenario_name, NULL, NULL, NULL, h.superseded_by
FROM simcat.scenario_history h
JOIN simcat_report.scenario_versions n ON n.owner = h.owner AND n.library_name = h.library_name
  AND n.scenario_id = h.scenario_id AND n.valid_from = h.valid_to AND n.valid_from <> n.first_seen_at
WHERE h.removed_at IS NULL AND n.removed_at IS NOT NULL
UNION ALL
SELECT h.valid_to, 'returned', 'library', h.owner, h.library_name, NULL, h.library_name, NULL, NULL, NULL, h.superseded_by
FROM simcat.library_history h
JOIN simcat_report.library_versions n
  ON n.owner = h.owner AND n.library_name = h.library_name AND n.valid_from = h.valid_to AND n.valid_from <> n.first_seen_at
WHERE h.removed_at IS NOT NULL AND n.removed_at IS NULL
UNION ALL
SELECT h.valid_to, 'returned', 'scenario', h.owner, h.library_name, h.scenario_id, n.scenario_name, NULL, NULL, NULL, h.superseded_by
FROM simcat.scenario_history h
JOIN simcat_report.scenario_versions n ON n.owner = h.owner AND n.library_name = h.library_name
  AND n.scenario_id = h.scenario_id AND n.valid_from = h.valid_to AND n.valid_from <> n.first_seen_at
WHERE h.removed_at IS NOT NULL AND n.removed_at IS NULL
UNION ALL
SELECT l.changed_at, 'added', 'library', l.owner, l.library_name, NULL, l.library_name, NULL, NULL, NULL, l.run_id
FROM simcat.libraries l
WHERE l.changed_at = l.first_seen_at
UNION ALL
SELECT h.valid_from, 'added', 'library', h.owner, h.library_name, NULL, h.library_name, NULL, NULL, NULL, h.run_id
FROM simcat.library_history h
WHERE h.valid_from = h.first_seen_at
UNION ALL
SELECT s.changed_at, 'added', 'scenario', s.owner, s.library_name, s.scenario_id, s.scenario_name, NULL, NULL, NULL, s.run_id
FROM simcat.scenarios s
WHERE s.changed_at = s.first_seen_at
UNION ALL
SELECT h.valid_from, 'added', 'scenario', h.owner, h.library_name, h.scenario_id, h.scenario_name, NULL, NULL, NULL, h.run_id
FROM simcat.scenario_history h
WHERE h.valid_from = h.first_seen_at;
