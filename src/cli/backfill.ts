import type { Context } from "./context.ts";
import { type RunOptions, runOnce } from "./run.ts";

export function backfill(context: Context, options: RunOptions): Promise<number> {
  return runOnce(context, "backfill", options);
}
