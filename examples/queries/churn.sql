-- How many libraries and scenarios were added and removed in each of the last eight weeks?
-- An item that returns counts as added, a library that moved to another owner as neither. Weeks begin on Monday, in UTC. The week in which
-- the history began counts from then on, as `since` says; earlier weeks have no numbers.
-- percent_removed is the number of removed libraries as a share of the week's first snapshot.
WITH weeks AS (
  SELECT (week AT TIME ZONE 'UTC')::date AS week,
    CASE WHEN week + interval '168 hours' > c.events_complete_since THEN greatest(week, c.events_complete_since) END AS since
  FROM simcat_report.data_complete_as_of AS c, generate_series(0, 7) AS weeks_ago,
    LATERAL (SELECT (date_trunc('week', now() AT TIME ZONE 'UTC') - weeks_ago * interval '7 days') AT TIME ZONE 'UTC' AS week) AS monday
), counted AS (
  SELECT week, since,
    count(*) FILTER (WHERE library_change > 0) AS libraries_added, count(*) FILTER (WHERE library_change < 0) AS libraries_removed,
    sum(scenario_change) FILTER (WHERE scenario_change > 0) AS scenarios_added,
    -sum(scenario_change) FILTER (WHERE scenario_change < 0) AS scenarios_removed
  FROM weeks
  JOIN simcat_report.events AS e
    ON e.seen_at >= since AND e.seen_at < (week + 7)::timestamp AT TIME ZONE 'UTC' AND e.kind <> 'loaded' AND NOT e.is_move
  GROUP BY week, since
), starts AS (
  SELECT DISTINCT ON (date_trunc('week', day::timestamp)) date_trunc('week', day::timestamp)::date AS week,
    sum(libraries) AS libraries
  FROM simcat_report.daily_owners
  GROUP BY day
  ORDER BY date_trunc('week', day::timestamp), day
)
SELECT w.week, w.since, s.libraries AS libraries_at_start,
  CASE WHEN w.since IS NOT NULL THEN coalesce(c.libraries_added, 0) END AS libraries_added,
  CASE WHEN w.since IS NOT NULL THEN coalesce(c.libraries_removed, 0) END AS libraries_removed,
  CASE WHEN w.since IS NOT NULL THEN coalesce(c.scenarios_added, 0) END AS scenarios_added,
  CASE WHEN w.since IS NOT NULL THEN coalesce(c.scenarios_removed, 0) END AS scenarios_removed,
  CASE WHEN w.since IS NOT NULL THEN round(100.0 * coalesce(c.libraries_removed, 0) / nullif(s.libraries, 0), 1) END AS percent_removed
FROM weeks AS w
JOIN starts AS s USING (week)
LEFT JOIN counted AS c USING (week)
ORDER BY w.week DESC;
