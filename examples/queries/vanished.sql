-- What was removed in the last 30 days, and when?
-- From `since` on: the history may have begun later.
-- The scenarios of a removed library are omitted; the row of the library represents them. A library that moved to another owner is
-- listed as removed from the earlier one (see moved-libraries.sql).
SELECT r.removed_at, r.what, r.owner, r.library_name, r.scenario_id, r.name, r.last_modified_at, p.since
FROM (
  SELECT greatest(now() - interval '30 days', c.history_complete_since) AS since
  FROM simcat_report.data_complete_as_of AS c WHERE c.history_complete_since IS NOT NULL
) AS p
JOIN simcat_report.removed AS r ON r.removed_at >= p.since AND NOT r.went_with_library
ORDER BY r.removed_at DESC, r.what, r.owner, r.library_name, r.scenario_id;
