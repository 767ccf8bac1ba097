import type { RunInTransaction } from "../db/fenced-transaction.ts";
import { holdNoRemovals, holdRemovals, markNoneRemoved, markRemoved } from "../db/store/removals.ts";
import { type LockPatience, writeInHalves } from "../db/store/write-in-halves.ts";
import type { LibraryKey } from "../model.ts";
import type { Prepared } from "./prepare.ts";

/**
 * Marks the libraries that the listing lacks as removed, or records that a guard held their removal. `onRefused` is called
 * with each library whose rows the database refuses.
 * @returns how many libraries were marked
 */
export async function markGone(
  { plan, verdict }: Prepared,
  runId: number,
  write: RunInTransaction,
  onRefused: (key: LibraryKey, error: unknown) => void,
): Promise<number> {
  const { missing, unheld, strangers, heldSince } = plan;
  const refused = async (key: LibraryKey, error: unknown) => onRefused(key, error);
  if (verdict.kind === "held" && unheld.length > 0) {
    const operation = "recording that removals are held";
    await writeInHalves(unheld, {
      write: (some, patience) =>
        write({ operation, ...patience }, (connection) => holdRemovals(connection, some, heldSince)),
      writeNothing: () => write({ operation }, holdNoRemovals),
      onRefused: refused,
    });
  }
  if (verdict.kind !== "pass") return 0;
  let marked = 0;
  const operation = "marking removed libraries";
  const mark = async (stored: readonly LibraryKey[], neverStored: readonly LibraryKey[], patience: LockPatience) => {
    marked += await write({ operation, reconcile: Math.max, ...patience }, (connection) =>
      markRemoved(connection, runId, stored, neverStored),
    );
  };
  const tools = {
    writeNothing: () => write({ operation }, (connection) => markNoneRemoved(connection, runId)),
    onRefused: refused,
  };
  if (missing.length > 0)
    await writeInHalves(missing, { ...tools, write: (some, patience) => mark(some, [], patience) });
  if (strangers.length > 0)
    await writeInHalves(strangers, { ...tools, write: (some, patience) => mark([], some, patience) });
  return marked;
}
