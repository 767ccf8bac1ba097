-- What was removed in the last 30 days, and when?
-- The scenarios of a removed library are omitted; the row of the library represents them.
SELECT removed_at, what, owner, library_name, scenario_id, name, last_modified_at
FROM simcat_report.removed
WHERE removed_at >= now() - interval '30 days' AND NOT went_with_library
ORDER BY removed_at DESC, what, owner, library_name, scenario_id;
