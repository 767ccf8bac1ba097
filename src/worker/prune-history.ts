import type { Pool } from "../db/connect.ts";
import { pruneUnderLease, readCutoff, sumOf } from "../db/prune.ts";
import type { Logger } from "../log.ts";
import { DAY_MS, formatDuration } from "../units.ts";

interface PruneContext {
  readonly pool: Pool;
  readonly log: Logger;
  readonly mask: (message: string) => string;
}

/**
 * Returns a function that prunes the history at most once in 24 hours, under the lease of the runs. A failure is a warning,
 * and the next attempt is a day later. With null, everything is kept.
 */
export function createHistoryPruner({ pool, log, mask }: PruneContext, keepHistoryMs: number | null) {
  let nextAt = Number.NEGATIVE_INFINITY;
  return async (signal: AbortSignal): Promise<void> => {
    if (keepHistoryMs === null || performance.now() < nextAt || signal.aborted) return;
    nextAt = performance.now() + DAY_MS;
    try {
      const cutoff = await readCutoff(pool, keepHistoryMs, signal);
      const rows = sumOf(await pruneUnderLease(pool, cutoff, () => {}, signal));
      const older = formatDuration(keepHistoryMs);
      log.info({ code: "history_pruned", rows, before: cutoff.toISOString() }, `history older than ${older} pruned`);
    } catch (error) {
      if (signal.aborted) return;
      const reason = mask(error instanceof Error ? error.message : String(error));
      log.warn(
        { code: "prune_failed", error: reason },
        "the history could not be pruned; the next attempt is in a day",
      );
    }
  };
}
