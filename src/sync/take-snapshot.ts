import { isGood } from "../db/runs.ts";
import { saveSnapshot } from "../db/store/save-snapshot.ts";
import { LostLeaseError, toError } from "../errors.ts";
import type { Listing } from "../model.ts";
import { HOUR_MS } from "../units.ts";
import { isEverything } from "./rules/selection.ts";
import type { RunOutcome } from "./run-outcome.ts";
import type { Run } from "./run-types.ts";
import { warnOfFutureDays } from "./warnings.ts";

/** Whether the `Date` of a listing that arrived at this time by the database's clock agrees with that clock to an hour. */
export function confirmsClock({ date, cachedMs }: Pick<Listing, "date" | "cachedMs">, listedAt: number): boolean {
  return date !== null && cachedMs === 0 && Math.abs(listedAt - date) < HOUR_MS;
}

/**
 * Takes the day's snapshot at the end of a good run over the whole organization. A failure is only a warning: the run has
 * stored everything, and the next good run of the day takes the snapshot.
 */
export async function takeSnapshot({ id, lease, mask, request, totals }: Run, { status }: RunOutcome): Promise<void> {
  if (!isGood({ status, counts: totals.counts }) || !isEverything(request.selection)) return;
  try {
    const futureDays = await lease.write({ operation: "taking the daily snapshot", byKey: true }, (connection) =>
      saveSnapshot(connection, id, totals.isClockConfirmed),
    );
    warnOfFutureDays(totals, futureDays);
  } catch (thrown) {
    // The run's last transaction reports a lost lease.
    if (thrown instanceof LostLeaseError) return;
    totals.warnings.push({
      code: "snapshot_failed",
      message: `${mask(toError(thrown).message)}; everything else is stored, and the next good run of this UTC day takes the snapshot`,
    });
  }
}
