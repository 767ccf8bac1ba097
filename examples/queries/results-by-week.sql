-- How many results were run in each of the last twelve weeks?
-- By the date that the result had when simcat first stored it; weeks begin on Monday, in UTC. The current week is not over.
-- Results that were there when the history began, or moved to another owner, are not counted. A week that began before the history,
-- or after the last run that saw everything, has no numbers. A result that returned after its removal was pruned counts once.
SELECT (w.week AT TIME ZONE 'UTC')::date AS week,
  CASE WHEN w.is_known THEN count(DISTINCT (e.owner, e.library_name, e.scenario_id)) FILTER (WHERE e.scenario_id IS NOT NULL) END AS results,
  CASE WHEN w.is_known THEN count(DISTINCT e.owner) END AS owners,
  CASE WHEN w.is_known THEN count(DISTINCT (e.owner, e.library_name)) FILTER (WHERE e.scenario_id IS NOT NULL) END AS libraries
FROM (
  SELECT week, coalesce(week >= c.events_complete_since AND week <= c.seen_as_of, false) AS is_known
  FROM simcat_report.data_complete_as_of AS c, generate_series(0, 11) AS weeks_ago,
    LATERAL (SELECT (date_trunc('week', now() AT TIME ZONE 'UTC') - weeks_ago * interval '7 days') AT TIME ZONE 'UTC' AS week) AS monday
) AS w
LEFT JOIN simcat_report.events AS e
  ON e.service_date >= w.week AND e.service_date < w.week + interval '168 hours' AND e.kind = 'added' AND e.is_result AND NOT e.is_move
GROUP BY w.week, w.is_known
ORDER BY w.week DESC;
