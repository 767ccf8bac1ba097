-- Which scenarios were never run?
-- The last edited first, one hundred of them.
SELECT owner, library_name, scenario_id, scenario_name, last_modified_at
FROM simcat_report.parents_without_results
ORDER BY last_modified_at DESC NULLS LAST, owner, library_name, scenario_id
LIMIT 100;
