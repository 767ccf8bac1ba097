-- Which libraries lost more than a fifth of their scenarios in the last 30 days?
-- From `since` on: the history may have begun later. Removed libraries are not listed: see vanished.sql.
SELECT l.owner, l.library_name, l.scenario_count - e.change AS scenarios_before, l.scenario_count AS scenarios_now,
  round(100.0 * -e.change / (l.scenario_count - e.change), 1) AS percent_lost, e.since
FROM (
  SELECT e.owner, e.library_name, sum(e.scenario_change)::bigint AS change, p.since
  FROM (
    SELECT greatest(now() - interval '30 days', c.events_complete_since) AS since
    FROM simcat_report.data_complete_as_of AS c WHERE c.events_complete_since IS NOT NULL
  ) AS p
  JOIN simcat_report.events AS e ON e.seen_at >= p.since AND e.kind <> 'loaded' AND NOT e.is_move
  GROUP BY e.owner, e.library_name, p.since
  HAVING sum(e.scenario_change) < 0
) AS e
JOIN simcat_report.libraries AS l USING (owner, library_name)
WHERE -e.change > 0.2 * (l.scenario_count - e.change)
ORDER BY percent_lost DESC, l.owner, l.library_name;
