import type { Connection } from "../db/connect.ts";
import { deleteRun, insertRun, readUnfinishedBackfill } from "../db/runs.ts";
import type { RunRequest } from "../run-summary.ts";
import type { Run, RunTools } from "./run-types.ts";

type StartedRun = Pick<Run, "id" | "backfillSince" | "hashesSince">;

/** Writes the run's row, in the transaction that takes the lease. A repeated call replaces the row of the first one. */
export function createRunStarter(
  { clock, settings, version }: RunTools,
  request: RunRequest,
): (connection: Connection) => Promise<StartedRun> {
  let unanswered: number | null = null;

  /** Since the interrupted backfill of the same scope began, if that is young enough, else from now. */
  async function readBackfillStart(connection: Connection): Promise<number> {
    const now = clock.now();
    const unfinished = request.restart ? null : await readUnfinishedBackfill(connection, request.selection);
    // One that began later than now began by a clock that has been set back since.
    const isYoung = unfinished !== null && unfinished <= now && now - unfinished < settings.fullEveryMs;
    return isYoung ? unfinished : now;
  }

  return async (connection) => {
    if (unanswered !== null) await deleteRun(connection, unanswered);
    const backfillSince = request.kind === "sync" ? null : await readBackfillStart(connection);
    const { id, restartedAt } = await insertRun(connection, { ...request, backfillSince, version });
    unanswered = id;
    return { id, backfillSince, hashesSince: request.restart ? backfillSince : restartedAt };
  };
}
