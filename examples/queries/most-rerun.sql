-- Which scenarios were run most often?
-- Live results are counted. The name is that of the parent, if it is there.
SELECT r.owner, r.library_name, r.parent_id, p.scenario_name AS parent_name, r.results, r.newest_result_at
FROM (
  SELECT owner, library_name, parent_id, count(*) AS results, max(last_modified_at) AS newest_result_at
  FROM simcat_report.scenarios
  WHERE counts_as_result AND parent_id <> scenario_id
  GROUP BY owner, library_name, parent_id
  ORDER BY results DESC, owner, library_name, parent_id
  LIMIT 20
) AS r
LEFT JOIN simcat_report.scenarios AS p ON (p.owner, p.library_name, p.scenario_id) = (r.owner, r.library_name, r.parent_id)
ORDER BY r.results DESC, r.owner, r.library_name, r.parent_id;
