import type { RunCounts, RunReport } from "../model.ts";

/** Counts under the names of their columns in `sync_runs`. */
export function toColumns(counts: Readonly<RunCounts>): Record<string, number> {
  return Object.fromEntries(
    Object.entries(counts).map(([name, value]) => [
      name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
      value,
    ]),
  );
}

/** A run's report for machines; counts and status are named as in `sync_runs`. */
export function toRunJson(report: RunReport, exitCode: number) {
  const { id, kind, status, durationMs, counts, reasons, skips, failures, rejects, warnings, error } = report;
  return {
    id,
    kind,
    status,
    exit_code: exitCode,
    duration_ms: durationMs,
    ...toColumns(counts),
    reasons,
    skips,
    failures: failures.map(({ key, code, message }) => ({ owner: key.owner, library: key.name, code, message })),
    reject_codes: rejects,
    warnings: warnings.map(({ key, ...warning }) =>
      key ? { ...warning, owner: key.owner, library: key.name } : warning,
    ),
    error,
  };
}
