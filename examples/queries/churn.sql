-- How many libraries and scenarios were added and removed in each of the last eight weeks?
-- An item that returns counts as added, a library that moved to another owner as neither. Weeks begin on Monday, in UTC. The week in which
-- the history began counts from then on, as `since` says; earlier weeks, and those in which no run ended, have no numbers.
-- libraries_at_start is the week's first snapshot from then on without what came and went in the week before it, and with the initial content
-- that was only read later. percent_removed is the share of them that was removed: a library that came and went within the week is not in it.
WITH weeks AS MATERIALIZED (
  SELECT (week AT TIME ZONE 'UTC')::date AS week,
    CASE WHEN week + interval '168 hours' > c.events_complete_since AND EXISTS (
      SELECT FROM simcat_report.run_history AS r
      WHERE r.status IN ('ok', 'partial', 'held') AND r.finished_at >= week AND r.started_at < week + interval '168 hours'
    ) THEN greatest(week, c.events_complete_since) END AS since
  FROM simcat_report.data_complete_as_of AS c, generate_series(0, 7) AS weeks_ago,
    LATERAL (SELECT (date_trunc('week', now() AT TIME ZONE 'UTC') - weeks_ago * interval '7 days') AT TIME ZONE 'UTC' AS week) AS monday
), loaded AS MATERIALIZED (
  SELECT run_id, sum(library_change) AS libraries FROM simcat_report.events WHERE kind = 'loaded' GROUP BY run_id
), snapshots AS (
  SELECT day, taken_at, max(run_id) AS run_id,
    sum(libraries) + coalesce((SELECT sum(l.libraries) FROM loaded AS l WHERE l.run_id > max(d.run_id)), 0) AS libraries
  FROM simcat_report.daily_owners AS d
  GROUP BY day, taken_at
), by_library AS (
  SELECT week, since, s.libraries, sum(e.library_change) FILTER (WHERE e.run_id <= s.run_id) AS until_snapshot,
    count(*) FILTER (WHERE e.library_change > 0) AS added, count(*) FILTER (WHERE e.library_change < 0) AS removed,
    min(e.seen_at) FILTER (WHERE e.library_change > 0) AS came_at, min(e.seen_at) FILTER (WHERE e.library_change < 0) AS went_at,
    sum(e.scenario_change) FILTER (WHERE e.scenario_change > 0) AS scenarios_added,
    -sum(e.scenario_change) FILTER (WHERE e.scenario_change < 0) AS scenarios_removed
  FROM weeks
  LEFT JOIN LATERAL (
    SELECT run_id, libraries FROM snapshots WHERE day >= week AND day < week + 7
    ORDER BY taken_at < since, abs(extract(epoch FROM taken_at - since)), day LIMIT 1
  ) AS s ON true
  LEFT JOIN simcat_report.events AS e
    ON e.seen_at >= since AND e.seen_at < (week + 7)::timestamp AT TIME ZONE 'UTC' AND e.kind <> 'loaded' AND NOT e.is_move
  GROUP BY week, since, s.libraries, e.owner, e.library_name
), counted AS (
  SELECT week, since, libraries - coalesce(sum(until_snapshot), 0) AS libraries_at_start,
    sum(added)::bigint AS libraries_added, sum(removed)::bigint AS libraries_removed,
    count(*) FILTER (WHERE went_at < coalesce(came_at, 'infinity')) AS removed_of_start,
    coalesce(sum(scenarios_added), 0) AS scenarios_added, coalesce(sum(scenarios_removed), 0) AS scenarios_removed
  FROM by_library
  GROUP BY week, since, libraries
)
SELECT week, since,
  CASE WHEN since IS NOT NULL THEN libraries_at_start END AS libraries_at_start,
  CASE WHEN since IS NOT NULL THEN libraries_added END AS libraries_added,
  CASE WHEN since IS NOT NULL THEN libraries_removed END AS libraries_removed,
  CASE WHEN since IS NOT NULL THEN scenarios_added END AS scenarios_added,
  CASE WHEN since IS NOT NULL THEN scenarios_removed END AS scenarios_removed,
  CASE WHEN since IS NOT NULL THEN round(100.0 * removed_of_start / nullif(libraries_at_start, 0), 1) END AS percent_removed
FROM counted
ORDER BY week DESC;
