import { countPrunable, pruneUnderLease, readCutoff, readHistoryStart, versionsOf } from "../db/prune.ts";
import { EXIT, UsageError } from "../errors.ts";
import { formatJson, plural } from "../format.ts";
import { createStatusLine } from "../output/progress.ts";
import { formatPrune, toPruneJson } from "../output/prune.ts";
import { DAY_MS } from "../units.ts";
import { type DefineCommand, type JsonOptions, jsonOption, parseDurationOption } from "./command.ts";
import { withDatabase } from "./connections.ts";
import type { Context } from "./context.ts";
import { loadSettings } from "./settings.ts";

interface PruneOptions extends JsonOptions {
  readonly olderThan?: string;
  readonly dryRun: boolean;
}

export const definePrune: DefineCommand = (command, run) =>
  command
    .option("--older-than <DURATION>", "the minimum age of what is deleted, such as 90d (default: SIMCAT_KEEP_HISTORY)")
    .option("--dry-run", "only print the numbers", false)
    .addOption(jsonOption())
    .action(run(pruneHistory));

/** The limit on removals uses the history of the last 24 hours. */
const REMOVALS_WINDOW_MS = DAY_MS;

async function pruneHistory(context: Context, { olderThan, dryRun, json }: PruneOptions): Promise<number> {
  const optionMs = olderThan === undefined ? null : parseDurationOption("--older-than", olderThan, "90d, 36h or 2000m");
  const config = loadSettings(context, { service: false, database: true, whole: true });
  const olderThanMs = optionMs ?? config.keepHistoryMs;
  if (olderThanMs === null) {
    throw new UsageError("prune needs an age", { hint: "give --older-than 365d, or set SIMCAT_KEEP_HISTORY" });
  }
  if (olderThanMs < REMOVALS_WINDOW_MS) {
    context.note(
      `simcat: --older-than ${olderThan} deletes history of the last 24 h, which the limit on removals (SIMCAT_MAX_REMOVED) uses`,
    );
  }
  const { terminal, draw } = context;
  const line = createStatusLine(terminal.isErr ? { columns: terminal.columns, draw } : null, () => {});
  const report = await withDatabase(context, config, "require", async (pool) => {
    const cutoff = await readCutoff(pool, olderThanMs, context.stop);
    const rows = await (dryRun
      ? countPrunable(pool, cutoff, context.stop)
      : pruneUnderLease(pool, cutoff, (count) => line.show(`${plural(count, "row")} deleted`), context.stop));
    const start = await readHistoryStart(pool, context.stop);
    const { ofLibraries, ofScenarios } = versionsOf(rows);
    const movesStart = dryRun && start !== null && start < cutoff && ofLibraries + ofScenarios > 0;
    return { dryRun, olderThanMs, cutoff, rows, historyCompleteSince: movesStart ? cutoff : start };
  }).finally(line.end);
  context.print(json ? formatJson(toPruneJson(report)) : formatPrune(report));
  return EXIT.ok;
}
