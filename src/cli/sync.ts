import type { Command } from "commander";
import type { ServiceConfig } from "../config.ts";
import { createClock, type DatabaseClock, MACHINE_CLOCK } from "../db/clock.ts";
import type { Pool } from "../db/connect.ts";
import { assertUsable, readSchemaState } from "../db/schema-state.ts";
import { readSnapshot } from "../db/transaction.ts";
import { EXIT, SimcatError } from "../errors.ts";
import { formatPlan, toPlanJson } from "../output/plan.ts";
import { formatSummary, toRunJson } from "../output/summary.ts";
import type { RunKind, RunRequest } from "../run-summary.ts";
import { planRun } from "../sync/plan-run.ts";
import { isEverything } from "../sync/rules/selection.ts";
import { runSync } from "../sync/run.ts";
import type { Observer, RunResult } from "../sync/run-types.ts";
import { type DefineCommand, jsonOption, libraryOption, ownerOption, parseText } from "./command.ts";
import { findMissingEmbedded, withDatabase, withService } from "./connections.ts";
import { type Context, outputLook, printJson, printResult, printText } from "./context.ts";
import { loadSelection, type SelectionOptions } from "./load-settings.ts";
import { showProgress, toAll, withWatchedService } from "./show-progress.ts";
import { createWebhook } from "./webhook.ts";

interface SyncOptions extends SelectionOptions {
  readonly allowRemovals?: boolean;
  /** Of a sync. */
  readonly dryRun?: boolean;
  /** Of a backfill: start over instead of continuing an interrupted one. */
  readonly restart?: boolean;
}

const addSyncOptions = (command: Command): Command =>
  command
    .addOption(libraryOption())
    .addOption(ownerOption())
    .option(
      "--slice <I/N>",
      "only the libraries whose key hashes to part I of N, such as 3/8 (SIMCAT_SLICE)",
      parseText,
    )
    .option("--allow-removals", "mark removals that a guard would hold")
    .addOption(jsonOption());

export const defineSync: DefineCommand = (command, run) =>
  addSyncOptions(command.option("-n, --dry-run", "print what a run would do and why; write nothing")).action(run(sync));

export const sync = (context: Context, options: SyncOptions): Promise<number> =>
  options.dryRun ? printPlan(context, options) : runOnce(context, "sync", options);

export const defineBackfill: DefineCommand = (command, run) =>
  addSyncOptions(command.option("--restart", "start over instead of continuing, and compare every row")).action(
    run(backfill),
  );

export const backfill = (context: Context, options: SyncOptions): Promise<number> =>
  runOnce(context, "backfill", options);

/** `sync` and `backfill`. */
async function runOnce(context: Context, kind: RunKind, options: SyncOptions): Promise<number> {
  const { allowRemovals = false, restart = false, json } = options;
  const { config, selection } = loadSelection(context, options);
  const request: RunRequest = { kind, trigger: "cli", selection, allowRemovals, restart };
  const { result, webhook } = await withDatabase(context, config, "migrate", async (pool) => {
    const webhook = isEverything(selection) ? createWebhook(context, config, pool) : null;
    await webhook?.readRuns();
    return { webhook, result: await observeRun(context, config, pool, request) };
  });
  const { summary, error } = result;
  // If a table is missing, the run's row and the command say the same.
  const isStated = error instanceof SimcatError && summary.status !== "database_failed";
  const exitCode = isStated ? error.exitCode : EXIT[summary.status];
  const isWell = exitCode === EXIT.ok && summary.warnings.length === 0;
  if (json) printJson(context, toRunJson(summary, exitCode));
  else printResult(context, isWell, formatSummary(summary, outputLook(context)));
  await webhook?.send(summary);
  return exitCode;
}

/** Performs one run, and shows its progress and its waits. */
export async function observeRun(
  context: Context,
  config: ServiceConfig,
  pool: Pool,
  request: RunRequest,
  others: readonly Observer[] = [],
): Promise<RunResult> {
  const { mask, version, stop } = context;
  const clock = await createClock(pool, stop);
  const { progress, observers } = showProgress(context, config, request.trigger);
  const all = [...others, ...observers];
  const onEvent = toAll(all);
  return withService(context, config, onEvent, async (service) => {
    const result = await runSync({ pool, clock, service, settings: config, version, mask, onEvent }, request, stop);
    for (const observe of all) await observe({ kind: "finished", summary: result.summary });
    return result;
  }).finally(progress.end);
}

/** `sync --dry-run`: prints what a run would do and why. Takes no lease, migrates nothing, writes nothing. */
async function printPlan(context: Context, options: SyncOptions): Promise<number> {
  const { config, selection } = loadSelection(context, options);
  const plan = (pool: Pool | null, clock: DatabaseClock) =>
    withWatchedService(context, config, (service) => {
      const request = { selection, allowRemovals: options.allowRemovals === true, backfillSince: null };
      return planRun({ service, clock, pool, settings: config }, request, context.stop);
    });
  const isMissing = (await findMissingEmbedded(context, config)) !== null;
  const planned = isMissing
    ? await plan(null, MACHINE_CLOCK)
    : await withDatabase(context, config, "any", async (pool) => {
        const clock = await createClock(pool, context.stop);
        const state = await readSnapshot(pool, "looking at the schema", readSchemaState, context.stop);
        const isEmpty = state.kind === "behind" && state.version === 0;
        if (!isEmpty) assertUsable(state);
        return plan(isEmpty ? null : pool, clock);
      });
  if (options.json) printJson(context, toPlanJson(planned));
  else printText(context, formatPlan(planned, (context.logLevel ?? config.logLevel) === "debug"));
  return EXIT.ok;
}
