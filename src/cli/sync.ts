import { Option } from "commander";
import { createClock } from "../db/clock.ts";
import type { Pool } from "../db/connect.ts";
import { EXIT, SimcatError } from "../errors.ts";
import { formatJson } from "../format.ts";
import type { RunObserver } from "../output/run-log.ts";
import { formatSummary, toRunJson } from "../output/summary.ts";
import type { RunKind, RunRequest, RunStatus } from "../run-summary.ts";
import { isEverything } from "../sync/rules/selection.ts";
import { runSync } from "../sync/run.ts";
import type { RunEvent, RunResult } from "../sync/run-types.ts";
import { type DefineCommand, jsonOption, libraryOption, ownerOption, sliceOption } from "./command.ts";
import { withDatabase, withService } from "./connections.ts";
import type { Context } from "./context.ts";
import { printPlan } from "./print-plan.ts";
import { loadSelection, type RunOptions, type ServiceConfig } from "./settings.ts";
import { showProgress, toServiceEvents } from "./show-progress.ts";
import { createSender, toRunEnd } from "./state-messages.ts";

interface SyncOptions extends Omit<RunOptions, "restart"> {
  readonly dryRun: boolean;
}

export const defineSync: DefineCommand = (command, run) =>
  command
    .option("--dry-run", "print what a run would do and why; write nothing", false)
    .addOption(libraryOption())
    .addOption(ownerOption())
    .addOption(sliceOption())
    .addOption(allowRemovalsOption())
    .addOption(jsonOption())
    .action(run(sync));

export async function sync(context: Context, { dryRun, ...options }: SyncOptions): Promise<number> {
  if (dryRun) return printPlan(context, options);
  return runOnce(context, "sync", { ...options, restart: false });
}

export const defineBackfill: DefineCommand = (command, run) =>
  command
    .option("--restart", "start over instead of continuing, and compare every row", false)
    .addOption(libraryOption())
    .addOption(ownerOption())
    .addOption(sliceOption())
    .addOption(allowRemovalsOption())
    .addOption(jsonOption())
    .action(run(backfill));

export async function backfill(context: Context, options: RunOptions): Promise<number> {
  return runOnce(context, "backfill", options);
}

const allowRemovalsOption = () =>
  new Option("--allow-removals", "mark removals that a guard would hold").default(false);

/** `sync` and `backfill`: performs one run, shows its progress and prints its summary. */
export async function runOnce(context: Context, kind: RunKind, options: RunOptions): Promise<number> {
  const { allowRemovals, restart, json } = options;
  const { config, selection } = loadSelection(context, options);
  const request: RunRequest = { kind, trigger: "cli", selection, allowRemovals, restart };
  const { result, sendMessage } = await withDatabase(context, config, "migrate", async (pool) => ({
    sendMessage: isEverything(selection) ? await createSender(context, config, pool) : null,
    result: await observeRun(context, config, pool, request, showProgress(context, config).observers),
  }));
  const exitCode = exitCodeOf(result);
  context.print(json ? formatJson(toRunJson(result.summary, exitCode)) : formatSummary(result.summary));
  await sendMessage?.(toRunEnd(result.summary));
  return exitCode;
}

/** Performs one run, which the observers see from its start to its end. */
export async function observeRun(
  context: Context,
  config: ServiceConfig,
  pool: Pool,
  request: RunRequest,
  observers: readonly RunObserver[],
): Promise<RunResult> {
  const { mask, version, stop } = context;
  const onEvent = (event: RunEvent) => {
    for (const one of observers) one.event?.(event);
  };
  const end = () => {
    for (const one of observers) one.end?.();
  };
  try {
    const clock = await createClock(pool, stop);
    return await withService(context, config, toServiceEvents(observers), async (service) => {
      const result = await runSync({ pool, clock, service, settings: config, version, mask, onEvent }, request, stop);
      end();
      for (const one of observers) await one.finished?.(result.summary);
      return result;
    });
  } finally {
    end();
  }
}

const EXIT_CODES: Readonly<Partial<Record<RunStatus, number>>> = {
  ok: EXIT.ok,
  partial: EXIT.partial,
  held: EXIT.held,
  // Also if a table is missing, because the run's row says the same.
  database_failed: EXIT.databaseFailed,
};

function exitCodeOf({ summary, error }: RunResult): number {
  return EXIT_CODES[summary.status] ?? (error instanceof SimcatError ? error.exitCode : EXIT.failed);
}
