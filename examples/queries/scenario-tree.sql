-- How do the scenarios of the largest library descend from one another?
-- For another library, use its owner and name: scenario_tree('owner', 'library').
SELECT repeat('  ', t.depth) || coalesce(t.scenario_name, '(no name)') AS scenario, t.scenario_id, t.is_result,
  t.parent_missing, t.is_in_cycle
FROM (
  SELECT owner, library_name FROM simcat_report.libraries ORDER BY scenario_count DESC, owner, library_name LIMIT 1
) AS largest
CROSS JOIN LATERAL simcat_report.scenario_tree(largest.owner, largest.library_name) AS t
ORDER BY t.path;
