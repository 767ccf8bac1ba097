import { type PrunedRows, sumOf } from "../db/prune.ts";
import { formatCount, formatLibraries, plural } from "../format.ts";
import { formatDuration } from "../units.ts";

/** The result of a prune, or of its dry run. */
interface PruneReport {
  readonly dryRun: boolean;
  readonly olderThanMs: number;
  /** By the database's clock. */
  readonly cutoff: Date;
  readonly rows: PrunedRows;
  /** Since when the history is complete after the prune; null before the first run that saw everything. */
  readonly historyCompleteSince: Date | null;
}

/** A prune for machines. The rows are counted by table name. */
export function toPruneJson({ dryRun, olderThanMs, cutoff, rows, historyCompleteSince }: PruneReport) {
  return {
    dry_run: dryRun,
    older_than: formatDuration(olderThanMs),
    before: cutoff.toISOString(),
    history_complete_since: historyCompleteSince?.toISOString() ?? null,
    rows_total: sumOf(rows),
    rows: {
      libraries: rows.libraries,
      scenarios: rows.scenarios,
      library_history: rows.libraryHistory,
      scenario_history: rows.scenarioHistory,
      library_sync: rows.librarySync,
      scenario_absences: rows.scenarioAbsences,
      rejects: rows.rejects,
    },
  };
}

/** The summary at the end of a prune. */
export function formatPrune({ dryRun, olderThanMs, cutoff, rows, historyCompleteSince }: PruneReport): string {
  const total = plural(sumOf(rows), "row");
  const age = `older than ${formatDuration(olderThanMs)} (before ${cutoff.toISOString()})`;
  const head = dryRun ? `dry run: ${total} would be deleted` : `prune: ${total} deleted`;
  const versions = `${plural(rows.libraryHistory, "version")} of libraries, ${formatCount(rows.scenarioHistory)} of scenarios`;
  const complete = dryRun ? "would be complete" : "is complete";
  const kept = historyCompleteSince
    ? `history ${complete} since ${historyCompleteSince.toISOString()}`
    : "history is not complete, because no run has seen everything yet";
  return [
    `${head}, ${age}`,
    `  removed    ${formatLibraries(rows.libraries)}, ${plural(rows.scenarios, "scenario")}`,
    `  history    ${versions}`,
    `  rejects    ${formatCount(rows.rejects)} resolved`,
    `  other      ${plural(rows.librarySync, "bookmark")} and ${plural(rows.scenarioAbsences, "absence")} of the removed libraries`,
    `  kept       ${kept}`,
    ...(dryRun ? ["nothing was deleted; run it without --dry-run to delete these rows"] : []),
  ].join("\n");
}
