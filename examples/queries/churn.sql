-- How many libraries and scenarios were added and removed in each of the last eight weeks?
-- An item that returns counts as added. Weeks begin on Monday, in UTC, and only those after the first complete run count.
-- percent_removed is the number of removed libraries as a share of the week's first snapshot.
WITH weeks AS (
  SELECT (date_trunc('week', now() AT TIME ZONE 'UTC') - weeks_ago * interval '7 days')::date AS week
  FROM generate_series(0, 7) AS weeks_ago
), events AS (
  SELECT date_trunc('week', a.seen_at AT TIME ZONE 'UTC')::date AS week,
    count(*) FILTER (WHERE entity = 'library' AND kind IN ('added', 'returned')) AS libraries_added,
    count(*) FILTER (WHERE entity = 'library' AND kind = 'removed') AS libraries_removed,
    count(*) FILTER (WHERE entity = 'scenario' AND kind IN ('added', 'returned', 'returned_with_library')) AS scenarios_added,
    count(*) FILTER (WHERE entity = 'scenario' AND kind IN ('removed', 'went_with_library')) AS scenarios_removed
  FROM simcat_report.activity AS a, simcat_report.data_complete_as_of AS d
  WHERE a.seen_at >= d.history_complete_since
  GROUP BY 1
), starts AS (
  SELECT DISTINCT ON (date_trunc('week', day::timestamp)) date_trunc('week', day::timestamp)::date AS week,
    sum(libraries) AS libraries
  FROM simcat_report.daily_owners
  GROUP BY day
  ORDER BY date_trunc('week', day::timestamp), day
)
SELECT week, s.libraries AS libraries_at_start, coalesce(e.libraries_added, 0) AS libraries_added,
  coalesce(e.libraries_removed, 0) AS libraries_removed, coalesce(e.scenarios_added, 0) AS scenarios_added,
  coalesce(e.scenarios_removed, 0) AS scenarios_removed,
  round(100.0 * coalesce(e.libraries_removed, 0) / nullif(s.libraries, 0), 1) AS percent_removed
FROM weeks
JOIN starts AS s USING (week)
LEFT JOIN events AS e USING (week)
ORDER BY week DESC;
