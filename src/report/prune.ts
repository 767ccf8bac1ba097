import { type PrunedRows, sumOf } from "../db/prune/prune.ts";
import { formatCount, plural } from "../format.ts";
import { formatDuration } from "../units.ts";

/** The result of a prune, or of its dry run. */
interface PruneReport {
  readonly dryRun: boolean;
  readonly olderThanMs: number;
  /** By the database's clock. */
  readonly cutoff: Date;
  readonly rows: PrunedRows;
}

/** A prune for machines. The rows are counted by table name. */
export function toPruneJson({ dryRun, olderThanMs, cutoff, rows }: PruneReport) {
  return {
    dry_run: dryRun,
    older_than: formatDuration(olderThanMs),
    before: cutoff.toISOString(),
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
export function formatPrune({ dryRun, olderThanMs, cutoff, rows }: PruneReport): string {
  const total = plural(sumOf(rows), "row");
  const age = `older than ${formatDuration(olderThanMs)} (before ${cutoff.toISOString()})`;
  const head = dryRun ? `dry run: ${total} would be deleted` : `prune: ${total} deleted`;
  const versions = `${plural(rows.libraryHistory, "version")} of libraries, ${formatCount(rows.scenarioHistory)} of scenarios`;
  return [
    `${head}, ${age}`,
    `  removed    ${plural(rows.libraries, "library", "libraries")}, ${plural(rows.scenarios, "scenario")}`,
    `  history    ${versions}`,
    `  rejects    ${formatCount(rows.rejects)} resolved`,
    `  other      ${plural(rows.librarySync, "bookmark")} and ${plural(rows.scenarioAbsences, "absence")} of the removed libraries`,
    ...(dryRun ? ["nothing was deleted; run it without --dry-run to delete these rows"] : []),
  ].join("\n");
}
