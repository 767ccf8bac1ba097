-- How long are the chains of results: how many scenarios have how many ancestors?
-- A scenario without a parent, or whose parent is missing, has none. Scenarios in a cycle, and below one, are in the line without a depth.
-- Libraries are numbered, because a number is compared faster than two names.
WITH RECURSIVE library AS MATERIALIZED (
  SELECT row_number() OVER () AS library, owner, library_name FROM simcat_report.libraries
), scenario AS MATERIALIZED (
  SELECT l.library, s.scenario_id, s.parent_id, s.counts_as_result
  FROM simcat_report.scenarios AS s LEFT JOIN library AS l USING (owner, library_name)
), lineage AS (
  SELECT s.library, s.scenario_id, s.counts_as_result, 0 AS depth
  FROM scenario AS s LEFT JOIN scenario AS p ON (p.library, p.scenario_id) = (s.library, s.parent_id)
  WHERE p.library IS NULL
  UNION ALL
  SELECT s.library, s.scenario_id, s.counts_as_result, l.depth + 1
  FROM lineage AS l JOIN scenario AS s ON (s.library, s.parent_id) = (l.library, l.scenario_id)
), counted AS (
  SELECT library, depth, count(*) AS scenarios, count(*) FILTER (WHERE counts_as_result) AS results FROM lineage GROUP BY library, depth
), whole AS (
  SELECT library, count(*) AS scenarios, count(*) FILTER (WHERE counts_as_result) AS results FROM scenario GROUP BY library
), without_depth AS (
  SELECT w.library, NULL::integer AS depth, w.scenarios - sum(coalesce(c.scenarios, 0)) AS scenarios, w.results - sum(coalesce(c.results, 0)) AS results
  FROM whole AS w LEFT JOIN counted AS c USING (library)
  GROUP BY w.library, w.scenarios, w.results
)
SELECT depth, sum(scenarios)::bigint AS scenarios, sum(results)::bigint AS results, count(*) AS libraries
FROM (SELECT * FROM counted UNION ALL SELECT * FROM without_depth WHERE scenarios > 0) AS line
GROUP BY depth
ORDER BY depth NULLS LAST;
