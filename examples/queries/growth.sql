-- How did the organization grow over the last eight weeks?
-- Each line reads the history for one time, which takes some seconds for a million scenarios.
SELECT weeks_ago, count(l.library_name) AS libraries, coalesce(sum(l.scenario_count), 0) AS scenarios,
  coalesce(sum(l.file_size_bytes), 0) AS bytes
FROM generate_series(8, 0, -1) AS weeks_ago
LEFT JOIN LATERAL simcat_report.libraries_as_of(now() - weeks_ago * interval '1 week') AS l ON true
GROUP BY weeks_ago
ORDER BY weeks_ago DESC;
