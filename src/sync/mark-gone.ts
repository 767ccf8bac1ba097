import type { Write } from "../db/fenced-writes.ts";
import { holdRemovals, markRemoved } from "../db/store/removals.ts";
import type { Prepared } from "./prepare.ts";

/**
 * Marks the libraries that the listing lacks as removed, or records that a guard held their removal. Answers how many
 * libraries were marked.
 */
export async function markGone({ plan, verdict }: Prepared, runId: number, write: Write): Promise<number> {
  const { missing, unheld, strangers, heldSince } = plan;
  if (verdict.kind === "held" && unheld.length > 0) {
    await write({ doing: "recording that removals are held" }, (connection) =>
      holdRemovals(connection, unheld, heldSince),
    );
  }
  if (verdict.kind !== "pass" || missing.length + strangers.length === 0) return 0;
  return write({ doing: "marking removed libraries", reconcile: Math.max }, (connection) =>
    markRemoved(connection, runId, missing, strangers),
  );
}
