-- How did the organization grow over the last eight weeks?
-- Each line reads the history for one time, which takes some seconds for a million scenarios. daily_owners is faster.
-- Times before the complete history have no line.
SELECT weeks_ago, count(l.library_name) AS libraries, coalesce(sum(l.scenario_count), 0) AS scenarios,
  coalesce(sum(l.file_size_bytes), 0) AS bytes
FROM simcat_report.data_complete_as_of AS c
JOIN generate_series(8, 0, -1) AS weeks_ago ON now() - weeks_ago * interval '1 week' >= c.history_complete_since
LEFT JOIN LATERAL simcat_report.libraries_as_of(now() - weeks_ago * interval '1 week') AS l ON true
GROUP BY weeks_ago
ORDER BY weeks_ago DESC;
