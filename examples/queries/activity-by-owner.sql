-- What did each owner do in the last 30 days?
-- From `since` on: the history may have begun later. What was there when it began, or moved to another owner, does not count; nor do
-- results with an earlier date, such as those of a library that was published with them.
SELECT e.owner, count(*) FILTER (WHERE e.kind = 'added' AND e.is_result AND (e.service_date >= p.since) IS NOT FALSE) AS results_run,
  count(*) FILTER (WHERE e.kind = 'added' AND NOT e.is_result) AS scenarios_added,
  count(*) FILTER (WHERE e.kind = 'changed' AND e.entity = 'scenario') AS scenarios_changed,
  count(*) FILTER (WHERE e.kind = 'added' AND e.entity = 'library') AS libraries_added,
  count(*) FILTER (WHERE e.kind = 'removed' AND e.entity = 'library') AS libraries_removed,
  max(e.seen_at) AS last_seen_at, p.since
FROM (
  SELECT greatest(now() - interval '30 days', c.events_complete_since) AS since
  FROM simcat_report.data_complete_as_of AS c WHERE c.events_complete_since IS NOT NULL
) AS p
JOIN simcat_report.events AS e ON e.seen_at >= p.since AND e.kind <> 'loaded' AND NOT e.is_move
GROUP BY e.owner, p.since
ORDER BY count(*) DESC, e.owner;
