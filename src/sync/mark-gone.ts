import type { Write } from "../db/fenced-writes.ts";
import { markRemoved } from "../db/store/removals.ts";
import type { Plan } from "./rules/plan.ts";

/** Marks what the guard let pass as removed. Answers how many libraries were marked. */
export async function markGone({ missing, strangers }: Plan, runId: number, write: Write): Promise<number> {
  if (missing.length + strangers.length === 0) return 0;
  return write({ doing: "marking removed libraries", reconcile: Math.max }, (connection) =>
    markRemoved(connection, runId, missing, strangers),
  );
}
