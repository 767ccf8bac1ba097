-- Which scenarios were edited after their latest result, the longest gap first?
-- The first hundred.
SELECT owner, library_name, parent_id, parent_last_modified_at, latest_result_modified_at,
  round(edited_after_seconds / 86400) AS edited_after_days, result_count
FROM simcat_report.stale_results
ORDER BY edited_after_seconds DESC, owner, library_name, parent_id
LIMIT 100;
