interface Question {
  readonly title: string;
  readonly sql: string;
}

/** Questions that people really ask of such a copy, of the views that it keeps for them. */
export const QUESTIONS: readonly Question[] = [
  {
    title: "What changed in that run, by the history that every run keeps? In SQL:",
    sql: `
SELECT library_name, kind, what, count(DISTINCT scenario_id) AS scenarios, string_agg(DISTINCT field, ', ') AS fields
FROM simcat_report.changes
WHERE run_id = (SELECT max(run_id) FROM simcat_report.run_history)
GROUP BY owner, library_name, kind, what ORDER BY library_name, what, kind`,
  },
  {
    title: "Who has scenarios that were never run? Five owners:",
    sql: `
SELECT s.owner, count(*) AS parents, count(never.scenario_id) AS never_run,
  round(100.0 * count(never.scenario_id) / count(*)) AS percent
FROM simcat_report.scenarios AS s
LEFT JOIN simcat_report.parents_without_results AS never USING (owner, library_name, scenario_id)
WHERE NOT s.is_result
GROUP BY s.owner ORDER BY never_run DESC, s.owner LIMIT 5`,
  },
];
