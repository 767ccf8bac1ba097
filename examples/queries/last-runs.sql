-- How did the last ten runs go?
SELECT run_id, kind, status, started_at, round(extract(epoch FROM duration), 1) AS seconds, summary, error
FROM simcat_report.run_history
ORDER BY run_id DESC
LIMIT 10;
