-- How long does it take each owner to run a scenario after editing it?
-- An edit is a date of a scenario that is not a result. It counts as run if a result follows before the next edit.
WITH edits AS (
  SELECT owner, library_name, scenario_id, last_modified_at AS edited_at,
    lead(last_modified_at) OVER (PARTITION BY owner, library_name, scenario_id ORDER BY last_modified_at) AS next_edited_at
  FROM simcat_report.scenario_versions
  WHERE removed_at IS NULL AND NOT coalesce(is_result, parent_id IS NOT NULL)
  GROUP BY owner, library_name, scenario_id, last_modified_at
), runs AS (
  SELECT owner, library_name, parent_id AS scenario_id, min(last_modified_at) AS run_at
  FROM simcat_report.scenario_versions
  WHERE removed_at IS NULL AND coalesce(is_result, parent_id IS NOT NULL)
  GROUP BY owner, library_name, parent_id, scenario_versions.scenario_id
), firsts AS (
  SELECT e.owner, e.edited_at, min(r.run_at) AS run_at
  FROM edits AS e
  LEFT JOIN runs AS r
    ON r.owner = e.owner AND r.library_name = e.library_name AND r.scenario_id = e.scenario_id
    AND r.run_at >= e.edited_at AND (r.run_at < e.next_edited_at OR e.next_edited_at IS NULL)
  WHERE e.edited_at >= now() - interval '90 days'
  GROUP BY e.owner, e.library_name, e.scenario_id, e.edited_at
)
SELECT owner, count(*) AS edits, count(run_at) AS run,
  round((percentile_cont(0.5) WITHIN GROUP (ORDER BY extract(epoch FROM run_at - edited_at)) / 3600)::numeric, 1) AS median_hours
FROM firsts
GROUP BY owner
ORDER BY edits DESC, owner;
