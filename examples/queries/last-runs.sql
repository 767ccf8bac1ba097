-- How did the last ten runs go?
-- The end of an abandoned run is not known.
SELECT run_id, kind, status, started_at,
  CASE WHEN status <> 'abandoned' THEN round(extract(epoch FROM duration), 1) END AS seconds, summary, error
FROM simcat_report.run_history
ORDER BY run_id DESC
LIMIT 10;
