-- What changed in the last seven days, field by field?
-- Filter by changed_at: it is the time at which the change was stored, and it is indexed. From `since` on: the history may have begun later.
-- A library that moved to another owner is removed there and added here (see moved-libraries.sql).
SELECT c.changed_at, c.kind, c.what, c.owner, c.library_name, c.scenario_id, c.name, c.field, c.old_value, c.new_value, p.since
FROM (
  SELECT greatest(now() - interval '7 days', d.history_complete_since) AS since
  FROM simcat_report.data_complete_as_of AS d WHERE d.history_complete_since IS NOT NULL
) AS p
JOIN simcat_report.changes AS c ON c.changed_at >= p.since
ORDER BY c.changed_at DESC, c.what, c.owner, c.library_name, c.scenario_id, c.field;
