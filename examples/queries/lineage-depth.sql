-- How long are the chains of results: how many scenarios have how many ancestors?
-- A scenario without a parent, or whose parent is missing, has none. Scenarios in a cycle, and below one, are in the line without a depth.
-- The scenarios are counted by their parents first. Only parents that have a parent are followed. Those without a parent are the rest.
WITH RECURSIVE parent AS MATERIALIZED (
  SELECT owner, library_name, parent_id, c.scenarios, c.results, p.is_live IS TRUE AS is_live, p.grandparent_id
  FROM (
    SELECT owner, library_name, parent_id, count(*) AS scenarios, count(*) FILTER (WHERE counts_as_result) AS results
    FROM simcat_report.scenarios WHERE parent_id IS NOT NULL GROUP BY owner, library_name, parent_id
  ) AS c
  FULL JOIN (
    SELECT owner, library_name, scenario_id AS parent_id, parent_id AS grandparent_id, true AS is_live FROM simcat_report.scenarios
    ORDER BY owner, library_name, scenario_id
  ) AS p USING (owner, library_name, parent_id)
  WHERE coalesce(c.scenarios > 0, false)
), lineage AS (
  SELECT p.owner, p.library_name, p.parent_id, p.scenarios, p.results, g.is_live::integer + 1 AS depth
  FROM parent AS p JOIN parent AS g ON (g.owner, g.library_name, g.parent_id) = (p.owner, p.library_name, p.grandparent_id)
  WHERE p.grandparent_id IS NOT NULL AND g.grandparent_id IS NULL
  UNION ALL
  SELECT p.owner, p.library_name, p.parent_id, p.scenarios, p.results, l.depth + 1
  FROM lineage AS l
  JOIN parent AS p ON (p.owner, p.library_name, p.grandparent_id) = (l.owner, l.library_name, l.parent_id)
  WHERE p.grandparent_id IS NOT NULL
), below AS MATERIALIZED (
  SELECT owner, library_name, depth, sum(scenarios) AS scenarios, sum(results) AS results
  FROM (
    SELECT owner, library_name, is_live::integer AS depth, scenarios, results FROM parent WHERE grandparent_id IS NULL
    UNION ALL
    SELECT owner, library_name, depth, scenarios, results FROM lineage
    UNION ALL
    SELECT p.owner, p.library_name, NULL, p.scenarios, p.results
    FROM parent AS p LEFT JOIN lineage AS l USING (owner, library_name, parent_id)
    WHERE p.grandparent_id IS NOT NULL AND l.depth IS NULL
  ) AS children
  GROUP BY owner, library_name, depth
), line AS (
  SELECT owner, library_name, depth, scenarios, results FROM below
  UNION ALL
  SELECT l.owner, l.library_name, 0, l.scenario_count - coalesce(b.scenarios, 0), l.result_count - coalesce(b.results, 0)
  FROM simcat_report.libraries AS l
  LEFT JOIN (SELECT owner, library_name, sum(scenarios) AS scenarios, sum(results) AS results FROM below GROUP BY owner, library_name) AS b USING (owner, library_name)
  WHERE l.scenario_count > coalesce(b.scenarios, 0)
)
SELECT depth, sum(scenarios)::bigint AS scenarios, sum(results)::bigint AS results, count(DISTINCT (owner, library_name)) AS libraries
FROM line
GROUP BY depth
ORDER BY depth NULLS LAST;
