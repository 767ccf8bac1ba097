-- How long are the chains of results: how many scenarios have how many ancestors?
-- A scenario without a parent, or whose parent is missing, has none. Scenarios in a cycle, and below one, are in the line without a depth.
-- Only parents that have a parent or are missing are followed, and their children counted. All other numbers are differences.
WITH RECURSIVE parent AS MATERIALIZED (
  SELECT owner, library_name, parent_id, c.scenarios, c.results, p.grandparent_id
  FROM (
    SELECT owner, library_name, parent_id, count(*) AS scenarios, count(*) FILTER (WHERE counts_as_result) AS results
    FROM simcat_report.scenarios WHERE parent_id IS NOT NULL GROUP BY owner, library_name, parent_id
  ) AS c
  FULL JOIN (
    SELECT owner, library_name, scenario_id AS parent_id, coalesce(parent_id, 0) AS grandparent_id FROM simcat_report.scenarios
    ORDER BY owner, library_name, scenario_id
  ) AS p USING (owner, library_name, parent_id)
  -- CASE lets the planner expect few of them, and hash.
  WHERE coalesce(c.scenarios > 0, false) AND CASE p.grandparent_id WHEN 0 THEN 'root' ELSE 'followed' END = 'followed'
), lineage AS (
  -- With the depth of its children. A grandparent that is not followed is live and has no parent.
  SELECT p.owner, p.library_name, p.parent_id, CASE WHEN p.grandparent_id IS NULL THEN 0 ELSE 2 END AS depth
  FROM parent AS p LEFT JOIN parent AS g ON (g.owner, g.library_name, g.parent_id) = (p.owner, p.library_name, p.grandparent_id)
  WHERE g.owner IS NULL
  UNION ALL
  SELECT p.owner, p.library_name, p.parent_id, l.depth + 1
  FROM lineage AS l JOIN parent AS p ON (p.owner, p.library_name, p.grandparent_id) = (l.owner, l.library_name, l.parent_id)
), followed AS MATERIALIZED (
  SELECT owner, library_name, l.depth, sum(p.scenarios) AS scenarios, sum(p.results) AS results
  FROM parent AS p LEFT JOIN lineage AS l USING (owner, library_name, parent_id)
  GROUP BY owner, library_name, l.depth
), child AS (
  -- Results have a parent, and nothing else has one, but for the exceptions in data_quality.
  SELECT owner, library_name, l.scenario_count, l.result_count + coalesce(q.others, 0) - coalesce(q.orphans, 0) AS children,
    l.result_count - coalesce(q.orphans, 0) AS child_results, coalesce(q.orphans, 0) AS orphans
  FROM simcat_report.libraries AS l
  LEFT JOIN (
    SELECT owner, library_name, count(*) FILTER (WHERE problem = 'result_without_parent') AS orphans,
      count(*) FILTER (WHERE problem = 'parent_but_no_result') AS others
    FROM simcat_report.data_quality WHERE problem IN ('result_without_parent', 'parent_but_no_result') GROUP BY owner, library_name
  ) AS q USING (owner, library_name)
), line AS (
  SELECT owner, library_name, depth, scenarios, results FROM followed
  UNION ALL
  SELECT owner, library_name, rest.depth, rest.scenarios, rest.results
  FROM child AS c
  LEFT JOIN (
    SELECT owner, library_name, sum(scenarios) AS scenarios, sum(results) AS results FROM followed GROUP BY owner, library_name
  ) AS f USING (owner, library_name)
  CROSS JOIN LATERAL (VALUES
    (0, c.scenario_count - c.children, c.orphans),
    (1, c.children - coalesce(f.scenarios, 0), c.child_results - coalesce(f.results, 0))
  ) AS rest(depth, scenarios, results)
  WHERE rest.scenarios > 0
)
SELECT depth, sum(scenarios)::bigint AS scenarios, sum(results)::bigint AS results, count(DISTINCT (owner, library_name)) AS libraries
FROM line
GROUP BY depth
ORDER BY depth NULLS LAST;
