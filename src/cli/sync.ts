import { EXIT } from "../errors.ts";
import type { Context } from "./context.ts";
import { runOnce, type SyncOptions } from "./run.ts";

export async function sync(context: Context, options: SyncOptions): Promise<number> {
  if (!options.dryRun) return runOnce(context, "sync", { ...options, restart: false });
  const { printPlan } = await import("./print-plan.ts");
  await printPlan(context, options);
  return EXIT.ok;
}
