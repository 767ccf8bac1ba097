import { EXIT } from "../errors.ts";
import type { Context } from "./context.ts";
import { type RunOptions, runOnce } from "./run.ts";

export interface SyncOptions extends Omit<RunOptions, "restart"> {
  readonly dryRun: boolean;
}

export async function sync(context: Context, options: SyncOptions): Promise<number> {
  if (!options.dryRun) return runOnce(context, "sync", { ...options, restart: false });
  const { printPlan } = await import("./print-plan.ts");
  await printPlan(context, options);
  return EXIT.ok;
}
