CREATE OR REPLACE FUNCTION simcat_report.scenario_tree(owner text, library_name text)
RETURNS TABLE (
  scenario_id bigint, parent_id bigint, root_id bigint, depth integer, path bigint[], scenario_name text, is_result boolean,
  last_modified_at timestamptz, parent_missing boolean, is_own_parent boolean, is_in_cycle boolean
)
LANGUAGE sql STABLE PARALLEL SAFE
-- Planners take a library for a row or two, and loops over what is 100,000 rows last for minutes.
SET enable_nestloop = off
BEGIN ATOMIC
  WITH RECURSIVE node AS MATERIALIZED (
    SELECT s.scenario_id, s.parent_id, s.scenario_name, s.is_result, s.last_modified_at
    FROM simcat_report.scenarios s
    WHERE s.owner = scenario_tree.owner AND s.library_name = scenario_tree.library_name
  ), grown AS (
    SELECT n.scenario_id, n.scenario_id AS root_id, 0 AS depth, ARRAY[n.scenario_id] AS path
    FROM node n WHERE NOT EXISTS (SELECT FROM node p WHERE p.scenario_id = n.parent_id)
    UNION ALL
    SELECT n.scenario_id, g.root_id, g.depth + 1, g.path || n.scenario_id
    FROM grown g JOIN node n ON n.parent_id = g.scenario_id
  ), afloat AS MATERIALIZED (
    -- In a cycle, or below one: no way leads from here to a root.
    SELECT n.scenario_id, n.parent_id FROM node n
    WHERE NOT EXISTS (SELECT FROM grown g WHERE g.scenario_id = n.scenario_id)
  ), above AS (
    SELECT a.scenario_id AS start, a.parent_id AS at FROM afloat a
    UNION
    SELECT b.start, a.parent_id FROM above b JOIN afloat a ON a.scenario_id = b.at
  ), circular AS (
    SELECT b.start AS scenario_id, min(b.at) AS smallest FROM above b GROUP BY b.start HAVING bool_or(b.at = b.start)
  ), ring AS (
    SELECT c.scenario_id, c.scenario_id AS root_id, 0 AS depth, ARRAY[c.scenario_id] AS path
    FROM circular c WHERE c.scenario_id = c.smallest
    UNION ALL
    SELECT a.scenario_id, r.root_id, r.depth + 1, r.path || a.scenario_id
    FROM ring r JOIN afloat a ON a.parent_id = r.scenario_id AND a.scenario_id <> r.root_id
  )
  SELECT t.scenario_id, n.parent_id, t.root_id, t.depth, t.path, n.scenario_name, n.is_result, n.last_modified_at,
    t.depth = 0 AND n.parent_id IS NOT NULL AND c.scenario_id IS NULL, coalesce(n.parent_id = n.scenario_id, false),
    c.scenario_id IS NOT NULL
  FROM (SELECT * FROM grown UNION ALL SELECT * FROM ring) AS t
  JOIN node n ON n.scenario_id = t.scenario_id
  LEFT JOIN circular c ON c.scenario_id = t.scenario_id
  ORDER BY t.path;
END;

COMMENT ON FUNCTION simcat_report.scenario_tree(text, text) IS 'The live scenarios of one library as a tree, parents before children: depth (0 for a root), path of numbers from the root, root_id. A scenario whose parent is missing is a root and has parent_missing. In a cycle the smallest number is the root, and is_in_cycle marks its members, so the function always ends.';
