-- How long does it take each owner to run a scenario after editing it?
-- An edit is a date of a scenario that is not a result, stored in the last 90 days. It counts as run if a result follows before the
-- next edit. From `since` on: the history may have begun later.
WITH period AS (
  SELECT greatest(now() - interval '90 days', c.events_complete_since) AS since
  FROM simcat_report.data_complete_as_of AS c WHERE c.events_complete_since IS NOT NULL
), dated AS (
  SELECT e.* FROM period AS p
  JOIN simcat_report.events AS e ON e.seen_at >= p.since AND e.entity = 'scenario' AND e.kind IN ('added', 'changed') AND e.service_date IS NOT NULL
), edits AS (
  SELECT owner, library_name, scenario_id, service_date AS edited_at,
    lead(service_date) OVER (PARTITION BY owner, library_name, scenario_id ORDER BY service_date) AS next_edited_at
  FROM dated WHERE NOT is_result
  GROUP BY owner, library_name, scenario_id, service_date
), firsts AS (
  SELECT e.owner, e.edited_at, min(r.service_date) AS run_at
  FROM edits AS e
  LEFT JOIN dated AS r
    ON r.owner = e.owner AND r.library_name = e.library_name AND r.parent_id = e.scenario_id AND r.is_result AND r.kind = 'added'
    AND r.service_date >= e.edited_at AND (r.service_date < e.next_edited_at OR e.next_edited_at IS NULL)
  GROUP BY e.owner, e.library_name, e.scenario_id, e.edited_at
)
SELECT owner, count(*) AS edits, count(run_at) AS run,
  round((percentile_cont(0.5) WITHIN GROUP (ORDER BY extract(epoch FROM run_at - edited_at)) / 3600)::numeric, 1) AS median_hours, since
FROM firsts, period
GROUP BY owner, since
ORDER BY edits DESC, owner;
