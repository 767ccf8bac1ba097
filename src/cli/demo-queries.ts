/** What the newest run changed: new, superseded and removed rows, with what they were before. */
export const CHANGES = `
WITH run AS (SELECT max(id) AS id FROM simcat.sync_runs)
SELECT 'library' AS what, CASE WHEN l.removed_at IS NOT NULL THEN 'removed' WHEN h.owner IS NULL THEN 'new' ELSE 'changed' END AS how,
  l.owner, l.library_name AS name,
  CASE WHEN h.last_modified IS DISTINCT FROM l.last_modified THEN coalesce(h.last_modified || ' → ', '') || l.last_modified ELSE '' END AS detail
FROM simcat.libraries l JOIN run ON l.run_id = run.id
LEFT JOIN simcat.library_history h ON (h.owner, h.library_name) = (l.owner, l.library_name) AND h.superseded_by = run.id
UNION ALL
SELECT 'scenario', CASE WHEN s.removed_at IS NOT NULL THEN 'removed' WHEN h.owner IS NULL THEN 'new' ELSE 'changed' END,
  s.owner, s.scenario_name,
  CASE WHEN h.scenario_name IS DISTINCT FROM s.scenario_name THEN coalesce('was ' || h.scenario_name, '') ELSE '' END
FROM simcat.scenarios s JOIN run ON s.run_id = run.id JOIN simcat.libraries l USING (owner, library_name)
LEFT JOIN simcat.scenario_history h
  ON (h.owner, h.library_name, h.scenario_id) = (s.owner, s.library_name, s.scenario_id) AND h.superseded_by = run.id
WHERE l.first_seen_at < l.changed_at OR l.run_id <> run.id
ORDER BY what, how, owner, name`;

/** A question that people really ask of such a copy. */
export const QUESTION = {
  title: "Who has scenarios that were never run? Five owners, in SQL:",
  sql: `
SELECT p.owner, count(*) AS parents, count(*) FILTER (WHERE r.parent_id IS NULL) AS never_run,
  round(100.0 * count(*) FILTER (WHERE r.parent_id IS NULL) / count(*)) AS percent
FROM simcat.scenarios p
JOIN simcat.libraries l USING (owner, library_name)
LEFT JOIN (SELECT DISTINCT owner, library_name, parent_id FROM simcat.scenarios WHERE is_result AND removed_at IS NULL) r
  ON (r.owner, r.library_name, r.parent_id) = (p.owner, p.library_name, p.scenario_id)
WHERE NOT p.is_result AND p.removed_at IS NULL AND l.removed_at IS NULL
GROUP BY p.owner ORDER BY never_run DESC, p.owner LIMIT 5`,
};
