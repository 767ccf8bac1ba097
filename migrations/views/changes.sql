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

COMMENT ON VIEW simcat_report.changes IS 'One row for each field that a new version changed, and one for each library or scenario that was added, removed or returned. Filter by changed_at. The scenarios of a removed library have no rows of their own. Complete since data_complete_as_of.history_complete_since: simcat prune deletes earlier changes.';
COMMENT ON COLUMN simcat_report.changes.changed_at IS 'When simcat stored the change. Not when it was made.';
COMMENT ON COLUMN simcat_report.changes.kind IS 'added, changed, removed or returned.';
COMMENT ON COLUMN simcat_report.changes.what IS 'library or scenario.';
COMMENT ON COLUMN simcat_report.changes.owner IS 'Owner of the library: the user who uploaded it, byte for byte. First part of its key.';
COMMENT ON COLUMN simcat_report.changes.library_name IS 'Name of the library, byte for byte. Second part of its key.';
COMMENT ON COLUMN simcat_report.changes.scenario_id IS 'Number of the scenario. NULL: a change of the library itself.';
COMMENT ON COLUMN simcat_report.changes.name IS 'Name of the library, or of the scenario after the change. NULL: a scenario without a name.';
COMMENT ON COLUMN simcat_report.changes.field IS 'The field that changed. NULL: the item was added, removed or returned.';
COMMENT ON COLUMN simcat_report.changes.old_value IS 'The value before the change, as text. NULL: no value, or no field.';
COMMENT ON COLUMN simcat_report.changes.new_value IS 'The value after the change, as text. NULL: no value, or no field.';
COMMENT ON COLUMN simcat_report.changes.run_id IS 'The run that stored the change (run_history.run_id).';
