-- Which scenarios were never run?
SELECT owner, library_name, scenario_id, scenario_name, last_modified_at
FROM simcat_report.parents_without_results
ORDER BY owner, library_name, scenario_id;
