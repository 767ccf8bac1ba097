-- One branch for each problem, so that the planner drops all others if a query filters by problem, severity or fix_by.
CREATE OR REPLACE VIEW simcat_report.data_quality AS
SELECT 'date_not_understood' AS problem, 'library' AS what, l.owner, l.library_name, NULL::bigint AS scenario_id,
  'last_modified' AS field, l.last_modified AS value, 'last_modified is in a format that simcat does not know' AS detail,
  'warning' AS severity, 'operator' AS fix_by
FROM simcat.libraries l WHERE l.removed_at IS NULL AND l.last_modified <> '' AND l.last_modified_at IS NULL
UNION ALL
SELECT 'no_date', 'library', l.owner, l.library_name, NULL, 'last_modified', l.last_modified,
  'the library is listed without a date, so its content is read in every run', 'warning', 'service'
FROM simcat.libraries l WHERE l.removed_at IS NULL AND coalesce(l.last_modified, '') = ''
UNION ALL
SELECT 'future_date', 'library', l.owner, l.library_name, NULL, 'last_modified', l.last_modified,
  'last_modified is more than a day in the future', 'warning', 'service'
FROM simcat.libraries l WHERE l.removed_at IS NULL AND l.last_modified_at > now() + interval '1 day'
UNION ALL
SELECT 'size_not_understood', 'library', l.owner, l.library_name, NULL, 'file_size', l.file_size,
  'file_size is in a format that simcat does not know; sums leave it out', 'warning', 'operator'
FROM simcat.libraries l WHERE l.removed_at IS NULL AND l.file_size IS NOT NULL AND l.file_size_bytes IS NULL
UNION ALL
SELECT 'no_size', 'library', l.owner, l.library_name, NULL, 'file_size', NULL,
  'the metadata has no size; sums leave it out', 'warning', 'service'
FROM simcat.libraries l WHERE l.removed_at IS NULL AND l.metadata IS NOT NULL AND l.file_size IS NULL
UNION ALL
SELECT 'names_differ_by_case', 'library', l.owner, l.library_name, NULL, 'library_name', NULL,
  'another library has the same owner and name but for capitals', 'warning', 'uploader'
FROM simcat.libraries l WHERE l.removed_at IS NULL AND (lower(l.owner COLLATE "default"), lower(l.library_name COLLATE "default")) IN (
  -- Grouped first: with a join, the planner would sort all names twice.
  SELECT lower(o.owner COLLATE "default"), lower(o.library_name COLLATE "default") FROM simcat.libraries o
  WHERE o.removed_at IS NULL GROUP BY 1, 2 HAVING count(*) > 1
)
UNION ALL
SELECT 'name_under_two_owners', 'library', l.owner, l.library_name, NULL, 'library_name', l.library_name COLLATE "default",
  'a library of another owner has the same name', 'info', 'uploader'
FROM simcat.libraries l WHERE l.removed_at IS NULL AND EXISTS (
  SELECT FROM simcat.libraries o WHERE o.removed_at IS NULL AND o.library_name = l.library_name AND o.owner <> l.owner
)
UNION ALL
SELECT 'date_not_understood', 'scenario', s.owner, s.library_name, s.scenario_id, 'last_modified', s.last_modified,
  'last_modified is in a format that simcat does not know', 'warning', 'operator'
FROM simcat_report.scenarios s WHERE s.last_modified <> '' AND s.last_modified_at IS NULL
UNION ALL
SELECT 'future_date', 'scenario', s.owner, s.library_name, s.scenario_id, 'last_modified', s.last_modified,
  'last_modified is more than a day in the future', 'warning', 'uploader'
FROM simcat_report.scenarios s WHERE s.last_modified_at > now() + interval '1 day'
UNION ALL
SELECT 'result_without_parent', 'scenario', s.owner, s.library_name, s.scenario_id, 'parent_id', s.parent_id::text,
  'is_result is true and there is no parent', 'warning', 'uploader'
FROM simcat_report.scenarios s WHERE s.is_result AND s.parent_id IS NULL
UNION ALL
SELECT 'parent_but_no_result', 'scenario', s.owner, s.library_name, s.scenario_id, 'is_result', 'false',
  'is_result is false and there is a parent', 'warning', 'uploader'
FROM simcat_report.scenarios s WHERE NOT s.is_result AND s.parent_id IS NOT NULL
UNION ALL
SELECT 'own_parent', 'scenario', s.owner, s.library_name, s.scenario_id, 'parent_id', s.parent_id::text,
  'the scenario is its own parent', 'error', 'uploader'
FROM simcat_report.scenarios s WHERE s.parent_id = s.scenario_id
UNION ALL
-- A full join, as in parents_without_results.
SELECT 'parent_missing', 'scenario', owner, library_name, s.scenario_id, 'parent_id', s.parent_id::text,
  'no live scenario of the library has this id', 'warning', 'uploader'
FROM (
  SELECT one.owner, one.library_name, one.scenario_id, nullif(one.parent_id, 0) AS parent_id FROM simcat.scenarios one
  WHERE one.removed_at IS NULL AND nullif(one.parent_id, 0) IS NOT NULL ORDER BY one.owner, one.library_name, nullif(one.parent_id, 0)
) AS s
FULL JOIN (
  SELECT true AS is_live, one.owner, one.library_name, one.scenario_id AS parent_id FROM simcat.scenarios one WHERE one.removed_at IS NULL
  ORDER BY one.owner, one.library_name, one.scenario_id
) AS p USING (owner, library_name, parent_id)
WHERE coalesce(s.parent_id <> 0, false) AND p.is_live IS NOT TRUE AND NOT EXISTS (
  SELECT FROM simcat.libraries l WHERE l.owner = s.owner AND l.library_name = s.library_name AND l.removed_at IS NOT NULL
)
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
FROM simcat.rejects r WHERE r.resolved_at IS NULL
UNION ALL
-- Each version has an event.
SELECT 'future_version', CASE WHEN e.scenario_id IS NULL THEN 'library' ELSE 'scenario' END, e.owner, e.library_name, e.scenario_id,
  NULL, e.seen_at::text, 'it was stored at a time in the future: the clock of the database was ahead, or is behind now', 'warning', 'operator'
FROM simcat.events e WHERE e.seen_at > now() + interval '1 hour';

COMMENT ON VIEW simcat_report.data_quality IS 'Suspicious values in the live data: one row for each problem.';
COMMENT ON COLUMN simcat_report.data_quality.problem IS 'date_not_understood, no_date, future_date (by more than a day), size_not_understood, no_size, names_differ_by_case, name_under_two_owners, result_without_parent, parent_but_no_result, own_parent, parent_missing, parent_cycle (of two or more), open_reject or future_version. Later versions may add more.';
COMMENT ON COLUMN simcat_report.data_quality.what IS 'library or scenario.';
COMMENT ON COLUMN simcat_report.data_quality.owner IS 'Owner of the library. NULL: a reject without a readable key.';
COMMENT ON COLUMN simcat_report.data_quality.library_name IS 'Name of the library. NULL: a reject without a readable key.';
COMMENT ON COLUMN simcat_report.data_quality.scenario_id IS 'Number of the scenario. NULL: a problem of the library, or a reject.';
COMMENT ON COLUMN simcat_report.data_quality.field IS 'The field that has the problem. NULL: the whole item.';
COMMENT ON COLUMN simcat_report.data_quality.value IS 'Value of the field. NULL: no value, or a reject.';
COMMENT ON COLUMN simcat_report.data_quality.detail IS 'The problem in one sentence.';
COMMENT ON COLUMN simcat_report.data_quality.severity IS 'error: wrong or not stored. warning: a value is missing or contradicts another. info: may be intended.';
COMMENT ON COLUMN simcat_report.data_quality.fix_by IS 'Who can fix it: uploader (the owner of the library), operator (who runs simcat) or service (who runs the Simulation Cloud).';
