-- How many results has each parent, and which is the latest?
-- The hundred parents with the most results.
SELECT owner, library_name, parent_id, coalesce(parent_name, '(missing)') AS parent_name, result_count,
  latest_result_id, latest_result_name, latest_result_modified_at
FROM simcat_report.latest_result_per_parent
ORDER BY result_count DESC, owner, library_name, parent_id
LIMIT 100;
