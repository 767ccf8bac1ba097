-- How long are the chains of results: how many scenarios have how many ancestors?
-- A scenario without a parent, or whose parent is missing, has none. Scenarios in a cycle, and below one, are in the line without a depth.
-- The scenarios are counted by their parents first. Only parents that have a parent are followed.
WITH RECURSIVE parent AS MATERIALIZED (
  SELECT owner, library_name, parent_id, c.scenarios, c.results, p.is_live IS TRUE AS is_live, p.grandparent_id
  FROM (
    SELECT owner, library_name, parent_id, count(*) AS scenarios, count(*) FILTER (WHERE counts_as_result) AS results
    FROM simcat_report.scenarios WHERE parent_id IS NOT NULL GROUP BY owner, library_name, parent_id
  ) AS c
  FULL JOIN (
    SELECT owner, library_name, scenario_id AS parent_id, parent_id AS grandparent_id, true AS is_live FROM simcat_report.scenarios
  ) AS p USING (owner, library_name, parent_id)
  WHERE coalesce(c.scenarios > 0, false)
), lineage AS (
  -- depth is that of the children.
  SELECT owner, library_name, parent_id, scenarios, results, is_live::integer AS depth FROM parent WHERE grandparent_id IS NULL
  UNION ALL
  SELECT p.owner, p.library_name, p.parent_id, p.scenarios, p.results, l.depth + 1
  FROM lineage AS l
  JOIN parent AS p ON (p.owner, p.library_name, p.grandparent_id) = (l.owner, l.library_name, l.parent_id)
  WHERE p.grandparent_id IS NOT NULL
), line AS (
  SELECT owner, library_name, 0 AS depth, count(*) FILTER (WHERE parent_id IS NULL) AS scenarios,
    count(*) FILTER (WHERE parent_id IS NULL AND counts_as_result) AS results
  FROM simcat_report.scenarios GROUP BY owner, library_name HAVING bool_or(parent_id IS NULL)
  UNION ALL
  SELECT owner, library_name, depth, scenarios, results FROM lineage
  UNION ALL
  SELECT p.owner, p.library_name, NULL, p.scenarios, p.results
  FROM parent AS p LEFT JOIN lineage AS l USING (owner, library_name, parent_id)
  WHERE p.grandparent_id IS NOT NULL AND l.depth IS NULL
)
SELECT depth, sum(scenarios)::bigint AS scenarios, sum(results)::bigint AS results, count(*) AS libraries
FROM (
  SELECT owner, library_name, depth, sum(scenarios) AS scenarios, sum(results) AS results FROM line GROUP BY owner, library_name, depth
) AS library
GROUP BY depth
ORDER BY depth NULLS LAST;
