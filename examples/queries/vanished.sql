-- What was removed in the last 30 days, and when?
-- From `since` on: simcat prune deletes older rows.
-- The scenarios of a removed library are omitted; the row of the library represents them.
SELECT r.removed_at, r.what, r.owner, r.library_name, r.scenario_id, r.name, r.last_modified_at,
  greatest(now() - interval '30 days', c.history_complete_since) AS since
FROM simcat_report.removed AS r, simcat_report.data_complete_as_of AS c
WHERE r.removed_at >= now() - interval '30 days' AND NOT r.went_with_library
ORDER BY r.removed_at DESC, r.what, r.owner, r.library_name, r.scenario_id;
