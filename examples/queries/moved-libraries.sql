-- Which libraries moved to another owner, or whose owner was renamed?
SELECT max(seen_at) AS seen_at, old_owner, new_owner, count(*) AS libraries, sum(scenario_count)::bigint AS scenarios
FROM simcat_report.library_moves
GROUP BY run_id, old_owner, new_owner
ORDER BY seen_at DESC, old_owner, new_owner;
