CREATE OR REPLACE VIEW simcat_report.changes AS
SELECT e.seen_at AS changed_at, x.kind, CASE WHEN e.scenario_id IS NULL THEN 'library' ELSE 'scenario' END AS what,
  e.owner, e.library_name, e.scenario_id, CASE WHEN e.scenario_id IS NULL THEN e.library_name ELSE e.scenario_name END AS name,
  x.field, x.old_value, x.new_value, e.run_id
FROM simcat.events e
CROSS JOIN LATERAL (
  SELECT 'changed' AS kind, f.field, f.old_value, f.new_value
  FROM unnest(e.fields, e.old_values, e.new_values) AS f(field, old_value, new_value)
  UNION ALL
  SELECT e.kind, NULL, NULL, NULL WHERE e.kind IN ('added', 'removed', 'returned')
) AS x
WHERE e.kind <> 'loaded' AND e.seen_at > coalesce((SELECT max(p.cutoff) FROM simcat.prunes p), '-infinity');

COMMENT ON VIEW simcat_report.changes IS 'One row for each field that a new version changed, and one for each library or scenario that was added, removed or returned. Initial content has no rows. Filter by changed_at. The scenarios of a removed library have no rows of their own. Changes before the latest cutoff of simcat prune (prune_history) are not shown.';
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
