import { Option } from "commander";
import { type DefineCommand, jsonOption, libraryOption, ownerOption, sliceOption } from "./command.ts";
import type { Context } from "./context.ts";
import { printPlan } from "./print-plan.ts";
import { type RunOptions, runOnce } from "./run-once.ts";

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
