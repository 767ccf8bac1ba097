-- What changed in the last seven days, field by field?
-- Filter by changed_at: it is the time at which the change was stored, and it is indexed.
SELECT changed_at, kind, what, owner, library_name, scenario_id, name, field, old_value, new_value
FROM simcat_report.changes
WHERE changed_at >= now() - interval '7 days'
ORDER BY changed_at DESC, what, owner, library_name, scenario_id, field;
