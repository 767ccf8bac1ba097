import { OF_OWNERS } from "./report-scope.ts";

export interface ChangeRow {
  readonly at: Date;
  readonly what: "library" | "scenario";
  readonly kind: "added" | "changed" | "removed" | "returned";
  readonly count: number;
}

export interface ChangedLibrary {
  readonly owner: string;
  readonly name: string;
  /** The newest change of the library itself; null if only its scenarios changed. */
  readonly library: string | null;
  readonly added: number;
  readonly changed: number;
  readonly removed: number;
  readonly lastChangedAt: Date;
  /** How many libraries changed. */
  readonly total: number;
}

/** Rows loaded up to and including the first complete run are the initial load, not changes. */
const FIRST_COMPLETE_RUN = "(SELECT min(run_id) FROM simcat_report.run_history WHERE saw_everything)";

const IS_CHANGE = `NOT (kind = 'added' AND (run_id IS NULL OR run_id <= coalesce(${FIRST_COMPLETE_RUN}, run_id)))`;

export const INITIAL_LOAD = `
SELECT ${FIRST_COMPLETE_RUN} AS "runId", count(*) FILTER (WHERE what = 'library') AS libraries,
  count(*) FILTER (WHERE what = 'scenario') AS scenarios
FROM simcat_report.changes WHERE ${OF_OWNERS} AND changed_at >= $2 AND NOT (${IS_CHANGE})`;

/** Counts a version once, however many of its fields differ. */
export const CHANGES = `
SELECT date_trunc($3::text, changed_at) AS at, what, kind, count(*) AS count
FROM (
  SELECT DISTINCT changed_at, what, kind, owner, library_name, scenario_id
  FROM simcat_report.changes WHERE ${OF_OWNERS} AND changed_at >= $2 AND ${IS_CHANGE}
) AS version
GROUP BY 1, 2, 3 ORDER BY 1, 2, 3`;

export const CHANGED_LIBRARIES = `
SELECT owner, library_name AS name,
  (array_agg(kind ORDER BY changed_at DESC, kind DESC) FILTER (WHERE what = 'library'))[1] AS library,
  count(*) FILTER (WHERE what = 'scenario' AND kind IN ('added', 'returned')) AS added,
  count(*) FILTER (WHERE what = 'scenario' AND kind = 'changed') AS changed,
  count(*) FILTER (WHERE what = 'scenario' AND kind = 'removed') AS removed,
  max(changed_at) AS "lastChangedAt", count(*) OVER () AS total
FROM (
  SELECT DISTINCT changed_at, what, kind, owner, library_name, scenario_id
  FROM simcat_report.changes WHERE ${OF_OWNERS} AND changed_at >= $2 AND ${IS_CHANGE}
) AS version
GROUP BY owner, library_name ORDER BY max(changed_at) DESC, owner, library_name LIMIT $3`;
