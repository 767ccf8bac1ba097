import type { Write } from "../db/fenced-writes.ts";
import { markNoneRemoved, markRemoved } from "../db/store/removals.ts";
import { type LockPatience, writeInHalves } from "../db/store/write-in-halves.ts";
import type { LibraryKey } from "../model.ts";
import type { Plan } from "./rules/plan.ts";

/**
 * Marks what the guard let pass as removed. `onRefused` is called with each library that the database refuses to mark.
 * @returns how many libraries were marked
 */
export async function markGone(
  { missing, strangers }: Plan,
  runId: number,
  write: Write,
  onRefused: (key: LibraryKey, error: unknown) => void,
): Promise<number> {
  let marked = 0;
  const doing = "marking removed libraries";
  const mark = async (stored: readonly LibraryKey[], neverStored: readonly LibraryKey[], patience: LockPatience) => {
    marked += await write({ doing, reconcile: Math.max, ...patience }, (connection) =>
      markRemoved(connection, runId, stored, neverStored),
    );
  };
  const tools = {
    writeNothing: () => write({ doing }, (connection) => markNoneRemoved(connection, runId)),
    onRefused: async (key: LibraryKey, error: unknown) => onRefused(key, error),
  };
  if (missing.length > 0)
    await writeInHalves(missing, { ...tools, write: (some, patience) => mark(some, [], patience) });
  if (strangers.length > 0)
    await writeInHalves(strangers, { ...tools, write: (some, patience) => mark([], some, patience) });
  return marked;
}
