-- What changed in the last seven days, field by field?
-- Filter by changed_at: it is the time at which the change was stored, and it is indexed. From `since` on: simcat prune hides older rows.
SELECT c.changed_at, c.kind, c.what, c.owner, c.library_name, c.scenario_id, c.name, c.field, c.old_value, c.new_value,
  greatest(now() - interval '7 days', d.history_complete_since) AS since
FROM simcat_report.changes AS c, simcat_report.data_complete_as_of AS d
WHERE c.changed_at >= now() - interval '7 days'
ORDER BY c.changed_at DESC, c.what, c.owner, c.library_name, c.scenario_id, c.field;
