import type { RunStatus } from "../../run-summary.ts";
import { OF_OWNERS } from "./report-scope.ts";

export interface Completeness {
  readonly completeAsOf: Date | null;
  readonly lastWholeRunId: number | null;
  /** Libraries that hold `completeAsOf` back, those included whose date only has to settle. */
  readonly librariesBehind: number;
  readonly unaddressable: number;
  /** Changes since then are known; null before the first run that saw everything. */
  readonly historyCompleteSince: Date | null;
}

export interface ReportRun {
  readonly id: number;
  readonly kind: string;
  readonly status: RunStatus;
  readonly startedAt: Date;
  readonly durationMs: number;
  readonly isWhole: boolean;
  readonly error: string | null;
}

export interface ProblemRow {
  readonly problem: string;
  readonly severity: "error" | "warning" | "info";
  readonly fixBy: "uploader" | "operator" | "service";
  readonly rows: number;
}

export interface FailingLibrary {
  readonly owner: string;
  readonly name: string;
  readonly failures: number;
  readonly openRejects: number;
  readonly lastReadAt: Date | null;
  readonly lastError: string | null;
  /** How many libraries fail. */
  readonly total: number;
}

export const COMPLETE = `
SELECT complete_as_of AS "completeAsOf", last_whole_run_id AS "lastWholeRunId",
  libraries_behind + libraries_settling AS "librariesBehind", unaddressable_libraries AS unaddressable,
  history_complete_since AS "historyCompleteSince"
FROM simcat_report.data_complete_as_of`;

export const RECENT_RUNS = `
SELECT run_id AS id, kind, status, started_at AS "startedAt", is_whole AS "isWhole", error,
  (1000 * extract(epoch FROM coalesce(finished_at, now()) - started_at))::float8 AS "durationMs"
FROM simcat_report.run_history ORDER BY run_id DESC LIMIT $1`;

export const ENDINGS = `
SELECT status, count(*) AS runs FROM simcat_report.run_history
WHERE started_at >= $1 GROUP BY 1 ORDER BY 2 DESC, 1`;

export const FAILING = `
SELECT owner, library_name AS name, failures, open_rejects AS "openRejects", last_whole_read_at AS "lastReadAt",
  last_error AS "lastError", count(*) OVER () AS total
FROM simcat_report.library_freshness WHERE ${OF_OWNERS} AND (failures > 0 OR open_rejects > 0)
ORDER BY last_whole_read_at NULLS FIRST, owner, library_name LIMIT $2`;

/** The most severe first. */
export const PROBLEMS = `
SELECT problem, severity, fix_by AS "fixBy", count(*) AS rows FROM simcat_report.data_quality WHERE ${OF_OWNERS}
GROUP BY 1, 2, 3 ORDER BY array_position(ARRAY['error', 'warning', 'info'], severity), 4 DESC, 1`;
