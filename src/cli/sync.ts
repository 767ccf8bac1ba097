import { type Command, Option } from "commander";
import { type ActionRunner, createCommand, jsonOption, libraryOption, ownerOption, sliceOption } from "./command.ts";
import type { Context } from "./context.ts";
import type { RunOptions } from "./run-once.ts";

interface SyncOptions extends Omit<RunOptions, "restart"> {
  readonly dryRun: boolean;
}

export function syncCommand(run: ActionRunner): Command {
  return createCommand("sync", "run one incremental sync", "simcat sync --library example.user/helloworldCourse")
    .option("--dry-run", "print what a run would do and why; write nothing", false)
    .addOption(libraryOption())
    .addOption(ownerOption())
    .addOption(sliceOption())
    .addOption(allowRemovalsOption())
    .addOption(jsonOption())
    .action(run(sync));
}

export async function sync(context: Context, { dryRun, ...options }: SyncOptions): Promise<number> {
  if (dryRun) {
    const { printPlan } = await import("./print-plan.ts");
    return printPlan(context, options);
  }
  const { runOnce } = await import("./run-once.ts");
  return runOnce(context, "sync", { ...options, restart: false });
}

export function backfillCommand(run: ActionRunner): Command {
  return createCommand("backfill", "run one full sync, or continue an interrupted one", "simcat backfill")
    .option("--restart", "start over instead of continuing, and compare every row", false)
    .addOption(libraryOption())
    .addOption(ownerOption())
    .addOption(sliceOption())
    .addOption(allowRemovalsOption())
    .addOption(jsonOption())
    .action(run(backfill));
}

export async function backfill(context: Context, options: RunOptions): Promise<number> {
  const { runOnce } = await import("./run-once.ts");
  return runOnce(context, "backfill", options);
}

const allowRemovalsOption = () =>
  new Option("--allow-removals", "mark removals that a guard would hold").default(false);
