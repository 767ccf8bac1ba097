-- For how much of each of the last twelve weeks was the copy fresher than two hours?
-- Its age at a time is that of the last run that saw everything and had ended: since its start, or since a cache had stored its listing.
-- Libraries that failed were older.
-- Weeks begin on Monday, in UTC. The current one counts until now, the first one from the first such run on.
WITH runs AS (
  SELECT seen_as_of, finished_at, lead(finished_at, 1, now()) OVER (ORDER BY finished_at) AS next_finished_at
  FROM simcat_report.run_history WHERE saw_everything AND finished_at <= now()
), weeks AS (
  SELECT monday::date AS week, monday AT TIME ZONE 'UTC' AS begins, (monday + interval '7 days') AT TIME ZONE 'UTC' AS ends
  FROM generate_series(0, 11) AS weeks_ago,
    LATERAL (SELECT date_trunc('week', now() AT TIME ZONE 'UTC') - weeks_ago * interval '7 days' AS monday) AS one
), spans AS (
  SELECT week, seen_as_of, greatest(finished_at, begins) AS begins, least(next_finished_at, ends) AS ends
  FROM weeks JOIN runs ON finished_at < ends AND next_finished_at > begins
)
SELECT week,
  round((100 * sum(extract(epoch FROM greatest(least(s.ends, s.seen_as_of + interval '2 hours') - s.begins, interval '0')))
    / sum(extract(epoch FROM s.ends - s.begins)))::numeric, 1) AS percent_fresh,
  floor(max(extract(epoch FROM s.ends - s.seen_as_of)) / 3600)::int AS oldest_hours
FROM weeks LEFT JOIN spans AS s USING (week)
GROUP BY week
ORDER BY week DESC;
