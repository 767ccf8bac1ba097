import { readUnfinishedBackfill } from "../db/runs.ts";
import { readSnapshot } from "../db/snapshot.ts";
import type { RunRequest, RunTools } from "./run-request.ts";

/**
 * Since when a backfill reads, in database ms: since the interrupted one of the same scope began, if that is young enough,
 * else from now. Null for a sync.
 */
export async function readBackfillStart(
  { pool, clock, settings }: RunTools,
  { kind, restart, selection }: RunRequest,
  signal: AbortSignal,
): Promise<number | null> {
  if (kind === "sync") return null;
  const now = clock.now();
  const unfinished = restart
    ? null
    : await readSnapshot(
        pool,
        "looking for an interrupted backfill",
        (one) => readUnfinishedBackfill(one, selection),
        signal,
      );
  // One that began later than now began by a clock that has been set back since.
  const isYoung = unfinished !== null && unfinished <= now && now - unfinished < settings.fullEveryMs;
  return isYoung ? unfinished : now;
}
