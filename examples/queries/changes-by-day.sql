-- How much was added, changed and removed on each of the last 14 days?
SELECT (changed_at AT TIME ZONE 'UTC')::date AS day, what,
  count(*) FILTER (WHERE kind = 'added') AS added,
  count(DISTINCT (owner, library_name, scenario_id)) FILTER (WHERE kind = 'changed') AS changed,
  count(*) FILTER (WHERE kind = 'removed') AS removed,
  count(*) FILTER (WHERE kind = 'returned') AS returned
FROM simcat_report.changes
WHERE changed_at >= now() - interval '14 days'
GROUP BY day, what
ORDER BY day DESC, what;
