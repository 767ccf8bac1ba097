-- How much was added, changed and removed on each of the last 14 days?
-- From `since` on: the history may have begun later. A library that was removed or returned is one row, without its scenarios.
-- Libraries that moved to another owner are in moved-libraries.sql.
SELECT (e.seen_at AT TIME ZONE 'UTC')::date AS day, e.entity AS what,
  count(*) FILTER (WHERE e.kind = 'added') AS added,
  count(*) FILTER (WHERE e.kind = 'changed') AS changed,
  count(*) FILTER (WHERE e.kind = 'removed') AS removed,
  count(*) FILTER (WHERE e.kind = 'returned') AS returned, p.since
FROM (
  SELECT greatest(now() - interval '14 days', c.events_complete_since) AS since
  FROM simcat_report.data_complete_as_of AS c WHERE c.events_complete_since IS NOT NULL
) AS p
JOIN simcat_report.events AS e ON e.seen_at >= p.since AND e.kind <> 'loaded' AND NOT e.is_move
GROUP BY day, what, p.since
ORDER BY day DESC, what;
