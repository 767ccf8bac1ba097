-- How many results were run in each of the last twelve weeks?
-- By the date that the result had when simcat first stored it; weeks begin on Monday, in UTC. The current week is not over.
SELECT (w.week AT TIME ZONE 'UTC')::date AS week, count(a.scenario_id) AS results, count(DISTINCT a.owner) AS owners,
  count(DISTINCT (a.owner, a.library_name)) FILTER (WHERE a.scenario_id IS NOT NULL) AS libraries
FROM (
  SELECT (date_trunc('week', now() AT TIME ZONE 'UTC') - weeks_ago * interval '7 days') AT TIME ZONE 'UTC' AS week
  FROM generate_series(0, 11) AS weeks_ago
) AS w
LEFT JOIN simcat_report.activity AS a
  ON a.service_date >= w.week AND a.service_date < w.week + interval '168 hours' AND a.kind = 'added' AND a.is_result
GROUP BY w.week
ORDER BY w.week DESC;
