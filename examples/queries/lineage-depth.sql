-- How long are the chains of results: how many scenarios have how many ancestors?
-- A scenario without a parent, or whose parent is missing, has none. Scenarios in a cycle, and below one, are in the line without a depth.
WITH RECURSIVE lineage AS (
  SELECT owner, library_name, scenario_id, 0 AS depth
  FROM simcat_report.scenario_parents
  WHERE parent_id IS NULL OR parent_missing
  UNION ALL
  SELECT s.owner, s.library_name, s.scenario_id, l.depth + 1
  FROM lineage AS l
  -- The empty text makes the planner compare the whole key at once: within a library, pairs of scenarios are too many.
  JOIN simcat_report.scenarios AS s
    ON (s.owner || '', s.library_name || '', s.parent_id) = (l.owner || '', l.library_name || '', l.scenario_id)
)
SELECT l.depth, count(*) AS scenarios, count(*) FILTER (WHERE coalesce(s.is_result, s.parent_id IS NOT NULL)) AS results,
  count(DISTINCT (s.owner, s.library_name)) AS libraries
FROM simcat_report.scenarios AS s
LEFT JOIN lineage AS l USING (owner, library_name, scenario_id)
GROUP BY l.depth
ORDER BY l.depth NULLS LAST;
