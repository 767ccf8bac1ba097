-- What did each owner do in the last 30 days?
-- Not before the time since which the history is complete, so the first backfill does not count.
SELECT a.owner, count(*) FILTER (WHERE a.kind = 'added' AND a.is_result) AS results_run,
  count(*) FILTER (WHERE a.kind = 'added' AND NOT a.is_result) AS scenarios_added,
  count(*) FILTER (WHERE a.kind = 'changed' AND a.entity = 'scenario') AS scenarios_changed,
  count(*) FILTER (WHERE a.kind = 'added' AND a.entity = 'library') AS libraries_added,
  count(*) FILTER (WHERE a.kind = 'removed' AND a.entity = 'library') AS libraries_removed,
  max(a.seen_at) AS last_seen_at
FROM simcat_report.activity AS a, simcat_report.data_complete_as_of AS d
WHERE a.seen_at >= now() - interval '30 days' AND a.seen_at >= d.history_complete_since
GROUP BY a.owner
ORDER BY count(*) DESC, a.owner;
