-- n is 0 for the event itself, and otherwise the position of a changed field: cheaper than unnest() for each event. No item has nine fields.
CREATE OR REPLACE VIEW simcat_report.changes AS
SELECT e.seen_at AS changed_at, CASE n WHEN 0 THEN e.kind ELSE 'changed' END AS kind,
  CASE WHEN e.scenario_id IS NULL THEN 'library' ELSE 'scenario' END AS what, e.owner, e.library_name, e.scenario_id,
  CASE WHEN e.scenario_id IS NULL THEN e.library_name ELSE e.scenario_name END AS name,
  e.fields[n] AS field, e.old_values[n] AS old_value, e.new_values[n] AS new_value, e.run_id
FROM simcat.events e CROSS JOIN generate_series(0, 8) AS n
WHERE CASE n WHEN 0 THEN e.kind IN ('added', 'removed', 'returned') ELSE n <= cardinality(e.fields) END
  AND e.seen_at > coalesce((SELECT max(p.cutoff) FROM simcat.prunes p), '-infinity');

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
