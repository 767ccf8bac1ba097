CREATE VIEW before.scenarios AS
SELECT s.owner, s.library_name, s.scenario_id, s.scenario_name, s.is_result, nullif(s.parent_id, 0) AS parent_id,
  s.last_modified, s.last_modified_at, s.description, s.first_seen_at, s.changed_at, s.run_id, s.raw
FROM simcat.scenarios s
WHERE s.removed_at IS NULL
  -- The foreign key says that there is a library. Asked this way round, 1,000,000 scenarios take half the time of a join.
  AND NOT EXISTS (
    SELECT FROM simcat.libraries l
    WHERE l.owner = s.owner AND l.library_name = s.library_name AND l.removed_at IS NOT NULL
  );

CREATE VIEW before.scenario_parents AS
SELECT s.owner, s.library_name, s.scenario_id, s.scenario_name, s.is_result, s.last_modified_at,
  s.parent_id, p.scenario_name AS parent_name, p.is_result AS parent_is_result, p.last_modified_at AS parent_last_modified_at,
  s.parent_id IS NOT NULL AND p.scenario_id IS NULL AS parent_missing,
  coalesce(s.parent_id = s.scenario_id, false) AS is_own_parent
FROM simcat_report.scenarios s
LEFT JOIN simcat.scenarios p
  ON p.owner = s.owner AND p.library_name = s.library_name AND p.scenario_id = s.parent_id AND p.removed_at IS NULL;

CREATE VIEW before.latest_result_per_parent AS
SELECT r.owner, r.library_name, r.parent_id, p.scenario_name AS parent_name, p.scenario_id IS NULL AS parent_missing,
  r.result_count, r.scenario_id AS latest_result_id, r.scenario_name AS latest_result_name,
  r.last_modified_at AS latest_result_modified_at
FROM (
  SELECT DISTINCT ON (s.owner, s.library_name, s.parent_id)
    s.owner, s.library_name, s.parent_id, s.scenario_id, s.scenario_name, s.last_modified_at,
    count(*) OVER (PARTITION BY s.owner, s.library_name, s.parent_id) AS result_count
  FROM simcat_report.scenarios s
  WHERE s.parent_id IS NOT NULL AND s.is_result IS NOT FALSE AND s.parent_id <> s.scenario_id
  ORDER BY s.owner, s.library_name, s.parent_id, s.last_modified_at DESC NULLS LAST, s.scenario_id DESC
) AS r
LEFT JOIN simcat.scenarios p
  ON p.owner = r.owner AND p.library_name = r.library_name AND p.scenario_id = r.parent_id AND p.removed_at IS NULL;

CREATE VIEW before.owner_storage AS
SELECT l.owner, count(*) AS libraries, coalesce(sum(l.file_size_bytes), 0) AS bytes,
  count(*) FILTER (WHERE l.file_size_bytes IS NULL) AS sizes_unread
FROM simcat.libraries l
WHERE l.removed_at IS NULL
GROUP BY l.owner;

CREATE VIEW before.stale_libraries AS
SELECT l.owner, l.library_name, l.package_name, l.package_version, l.file_size_bytes, l.last_modified, l.last_modified_at,
  floor(extract(epoch FROM now() - l.last_modified_at) / 86400)::bigint AS days_since_modified
FROM simcat.libraries l
WHERE l.removed_at IS NULL
ORDER BY l.last_modified_at NULLS LAST, l.owner, l.library_name;

CREATE VIEW before.changes AS
SELECT h.valid_to AS changed_at, f.kind, 'library' AS what, h.owner, h.library_name, NULL::bigint AS scenario_id, h.library_name AS name, f.field,
  d.old_value, d.new_value, h.superseded_by AS run_id
FROM simcat.library_history h
JOIN simcat_report.library_versions n
  ON n.owner = h.owner AND n.library_name = h.library_name AND n.valid_from = h.valid_to
CROSS JOIN (VALUES
  ('removed', NULL), ('returned', NULL),
  ('changed', 'library_owner'), ('changed', 'package_name'), ('changed', 'package_version'),
  ('changed', 'description'), ('changed', 'last_modified'), ('changed', 'file_size')
) AS f(kind, field)
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
WHERE CASE f.kind
  WHEN 'removed' THEN h.removed_at IS NULL AND n.removed_at IS NOT NULL
  WHEN 'returned' THEN h.removed_at IS NOT NULL AND n.removed_at IS NULL
  ELSE d.old_value IS DISTINCT FROM d.new_value
END
UNION ALL
SELECT h.valid_to, f.kind, 'scenario', h.owner, h.library_name, h.scenario_id, n.scenario_name, f.field,
  d.old_value, d.new_value, h.superseded_by
FROM simcat.scenario_history h
JOIN simcat_report.scenario_versions n
  ON n.owner = h.owner AND n.library_name = h.library_name AND n.scenario_id = h.scenario_id AND n.valid_from = h.valid_to
CROSS JOIN (VALUES
  ('removed', NULL), ('returned', NULL),
  ('changed', 'scenario_name'), ('changed', 'is_result'), ('changed', 'parent_id'),
  ('changed', 'last_modified'), ('changed', 'description')
) AS f(kind, field)
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
WHERE CASE f.kind
  WHEN 'removed' THEN h.removed_at IS NULL AND n.removed_at IS NOT NULL
  WHEN 'returned' THEN h.removed_at IS NOT NULL AND n.removed_at IS NULL
  ELSE d.old_value IS DISTINCT FROM d.new_value
END
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

CREATE VIEW before.data_quality AS
SELECT 'date_not_understood' AS problem, 'library' AS what, l.owner, l.library_name, NULL::bigint AS scenario_id,
  'last_modified' AS field, l.last_modified AS value, 'last_modified is in a format that simcat does not know' AS detail
FROM simcat.libraries l
WHERE l.removed_at IS NULL AND l.last_modified <> '' AND l.last_modified_at IS NULL
UNION ALL
SELECT 'no_date', 'library', l.owner, l.library_name, NULL, 'last_modified', l.last_modified,
  'the library is listed without a date, so its content is read in every run'
FROM simcat.libraries l
WHERE l.removed_at IS NULL AND coalesce(l.last_modified, '') = ''
UNION ALL
SELECT 'size_not_understood', 'library', l.owner, l.library_name, NULL, 'file_size', l.file_size,
  'file_size is in a format that simcat does not know; sums leave it out'
FROM simcat.libraries l
WHERE l.removed_at IS NULL AND l.file_size IS NOT NULL AND l.file_size_bytes IS NULL
UNION ALL
SELECT 'names_differ_by_case', 'library', l.owner, l.library_name, NULL, 'library_name', NULL,
  'another library has the same owner and name but for capitals'
FROM simcat.libraries l
WHERE l.removed_at IS NULL AND EXISTS (
  SELECT FROM simcat.libraries o
  WHERE o.removed_at IS NULL AND (o.owner <> l.owner OR o.library_name <> l.library_name)
    AND lower(o.owner COLLATE "default") = lower(l.owner COLLATE "default")
    AND lower(o.library_name COLLATE "default") = lower(l.library_name COLLATE "default")
)
UNION ALL
SELECT f.problem, 'scenario', p.owner, p.library_name, p.scenario_id,
  CASE f.problem
    WHEN 'date_not_understood' THEN 'last_modified'
    WHEN 'parent_but_no_result' THEN 'is_result'
    ELSE 'parent_id'
  END,
  CASE f.problem
    WHEN 'date_not_understood' THEN p.last_modified
    WHEN 'parent_but_no_result' THEN 'false'
    ELSE p.parent_id::text
  END,
  CASE f.problem
    WHEN 'date_not_understood' THEN 'last_modified is in a format that simcat does not know'
    WHEN 'result_without_parent' THEN 'is_result is true and there is no parent'
    WHEN 'parent_but_no_result' THEN 'is_result is false and there is a parent'
    WHEN 'own_parent' THEN 'the scenario is its own parent'
    ELSE 'no live scenario of the library has this id'
  END
FROM (
  SELECT s.owner, s.library_name, s.scenario_id, s.parent_id, s.last_modified,
    s.last_modified <> '' AND s.last_modified_at IS NULL AS is_undated,
    s.is_result AND s.parent_id IS NULL AS is_parentless,
    NOT s.is_result AND s.parent_id IS NOT NULL AS is_no_result,
    s.parent_id = s.scenario_id AS is_own_parent,
    s.parent_id IS NOT NULL AND parent.scenario_id IS NULL AS is_parent_missing
  FROM simcat_report.scenarios s
  LEFT JOIN simcat.scenarios parent ON parent.owner = s.owner AND parent.library_name = s.library_name
    AND parent.scenario_id = s.parent_id AND parent.removed_at IS NULL
) AS p
CROSS JOIN LATERAL unnest(ARRAY[
  CASE WHEN p.is_undated THEN 'date_not_understood' END,
  CASE WHEN p.is_parentless THEN 'result_without_parent' END,
  CASE WHEN p.is_no_result THEN 'parent_but_no_result' END,
  CASE WHEN p.is_own_parent THEN 'own_parent' END,
  CASE WHEN p.is_parent_missing THEN 'parent_missing' END
]) AS f(problem)
WHERE f.problem IS NOT NULL
  AND (p.is_undated OR p.is_parentless OR p.is_no_result OR p.is_own_parent OR p.is_parent_missing)
UNION ALL
-- A cycle of two or more has a smallest number, whose parent is greater: rare, since parents are made before their results.
SELECT 'parent_cycle', 'scenario', s.owner, s.library_name, c.scenario_id, 'parent_id', c.parent_id::text,
  'the parents of this scenario lead back to it'
FROM simcat_report.scenarios s
CROSS JOIN LATERAL (
  WITH RECURSIVE above AS (
    SELECT s.scenario_id, s.parent_id
    UNION
    -- OFFSET 0: each is looked up by its whole key, whatever the planner takes the size of a library to be.
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
  nullif(r.path, ''), NULL, r.code || ': ' || r.reason
FROM simcat.rejects r
WHERE r.resolved_at IS NULL;
