import type { Config } from "../config.ts";
import { countPrunable, historyStartAfter, planPrune, pruneUnderLease, sumOf } from "../db/prune.ts";
import { UsageError } from "../errors.ts";
import { formatCount, formatLibraries, plural } from "../format.ts";
import { DAY_MS, formatDuration } from "../units.ts";
import { type DefineCommand, type JsonOptions, jsonOption, parseDurationOption } from "./command.ts";
import { withDatabase } from "./connections.ts";
import { type Context, printJson, printResult } from "./context.ts";
import { loadSettings } from "./load-settings.ts";
import { notify } from "./notify.ts";
import { createWorkLine } from "./show-progress.ts";

interface PruneOptions extends JsonOptions {
  readonly olderThan?: string;
  readonly events?: boolean;
  readonly dryRun?: boolean;
}

export const definePrune: DefineCommand = (command, run) =>
  command
    .option("--older-than <DURATION>", "the minimum age of what is deleted, such as 90d (default: SIMCAT_KEEP_HISTORY)")
    .option("--events", "also delete the events before then (by default they are kept, and so are all counts)")
    .option("-n, --dry-run", "only print the numbers")
    .addOption(jsonOption())
    .action(run(pruneHistory));

async function pruneHistory(context: Context, options: PruneOptions): Promise<void> {
  const { olderThan, json } = options;
  const optionMs = olderThan === undefined ? null : parseDurationOption("--older-than", olderThan, "90d, 36h or 2000m");
  const config = loadSettings(context, { service: false, database: true, whole: true });
  const ageMs = optionMs ?? config.keepHistoryMs;
  if (ageMs === null)
    throw new UsageError("prune needs an age", { hint: "give --older-than 365d, or set SIMCAT_KEEP_HISTORY" });
  if (ageMs < DAY_MS) {
    const text = `--older-than ${olderThan} deletes history of the last 24 h, which the limit on removals (SIMCAT_MAX_REMOVED) uses`;
    notify(context, config, "warn", "recent_history_deleted", text);
  }
  const pruned = await pruneOrCount(context, config, ageMs, options);
  if (json) printJson(context, pruned);
  else printResult(context, !pruned.dry_run, formatPrune(pruned));
}

/** Prunes, or counts the rows. The result is the document of `--json`. */
function pruneOrCount(context: Context, config: Config, ageMs: number, options: PruneOptions) {
  const { events = false, dryRun = false } = options;
  const { stop } = context;
  return withDatabase(context, config, "require", async (pool) => {
    const plan = await planPrune(pool, ageMs, events, stop);
    const line = createWorkLine(context, config, "prune_progress");
    const onDeleted = (count: number) => line.show(`${plural(count, "row")} deleted`);
    const work = dryRun ? countPrunable(pool, plan, stop) : pruneUnderLease(pool, plan, onDeleted, stop);
    const rows = await work.finally(line.end);
    return {
      dry_run: dryRun,
      older_than: formatDuration(ageMs),
      before: plan.cutoff.toISOString(),
      history_complete_since: historyStartAfter(plan, rows)?.toISOString() ?? null,
      rows_total: sumOf(rows),
      rows,
    };
  });
}

function formatPrune({ rows, ...pruned }: Awaited<ReturnType<typeof pruneOrCount>>) {
  const { dry_run, older_than, before, history_complete_since: since } = pruned;
  const total = plural(pruned.rows_total, "row");
  const head = dry_run ? `dry run: ${total} would be deleted` : `prune: ${total} deleted`;
  const versions = `${plural(rows.library_history, "version")} of libraries, ${formatCount(rows.scenario_history)} of scenarios`;
  const kept = since
    ? `history ${dry_run ? "would be" : "is"} complete since ${since}`
    : "history is not complete, because no run has seen everything yet";
  return [
    `${head}, older than ${older_than} (before ${before})`,
    `  removed    ${formatLibraries(rows.libraries)}, ${plural(rows.scenarios, "scenario")}`,
    `  history    ${versions}`,
    `  rejects    ${formatCount(rows.rejects)} resolved`,
    `  events     ${formatCount(rows.events)}`,
    `  other      ${plural(rows.library_sync, "bookmark")} and ${plural(rows.scenario_absences, "absence")} of the removed libraries`,
    `  kept       ${kept}`,
    ...(dry_run ? ["nothing was deleted; run it without --dry-run to delete these rows"] : []),
  ].join("\n");
}
