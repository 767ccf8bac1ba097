-- How long does it take each owner to run a scenario after editing it?
-- An edit is a date of a scenario that is not a result, stored in the last 90 days. It counts as run if a result follows before the
-- next edit. From `since` on: the history may have begun later. What moved to another owner was not edited.
WITH period AS (
  SELECT greatest(now() - interval '90 days', c.events_complete_since) AS since
  FROM simcat_report.data_complete_as_of AS c WHERE c.events_complete_since IS NOT NULL
), dated AS (
  SELECT DISTINCT e.owner, e.library_name, CASE WHEN e.is_result THEN e.parent_id ELSE e.scenario_id END AS scenario_id,
    e.service_date, e.is_result
  FROM period AS p
  JOIN simcat_report.events AS e ON e.seen_at >= p.since AND e.entity = 'scenario' AND e.service_date IS NOT NULL AND NOT e.is_move
  WHERE e.kind = 'added' OR e.kind = 'changed' AND NOT e.is_result
), followed AS (
  SELECT owner, is_result, service_date, lead(is_result) OVER of_scenario AS is_run, lead(service_date) OVER of_scenario AS next_date
  FROM dated
  WINDOW of_scenario AS (PARTITION BY owner, library_name, scenario_id ORDER BY service_date, is_result)
)
SELECT owner, count(*) AS edits, count(*) FILTER (WHERE is_run) AS run,
  round((percentile_cont(0.5) WITHIN GROUP (ORDER BY extract(epoch FROM next_date - service_date)) FILTER (WHERE is_run) / 3600)::numeric, 1) AS median_hours,
  since
FROM followed, period
WHERE NOT is_result
GROUP BY owner, since
ORDER BY edits DESC, owner;
