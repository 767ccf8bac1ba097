import { type LockPatience, refusedByDatabase, writeInHalves } from "../db/store/refused-rows.ts";
import { forgetLibraries, holdRemovals, markRemoved } from "../db/store/removals.ts";
import type { FailedLibrary, LibraryKey } from "../model.ts";
import type { RemovalDecision } from "./plan-run.ts";
import type { Plan } from "./rules/plan.ts";
import type { Run } from "./run-types.ts";

interface Removals {
  /** How many libraries were marked as removed. */
  readonly marked: number;
  /** Libraries whose rows the database refused to change. */
  readonly refused: readonly FailedLibrary[];
}

/** Marks the libraries that the listing lacks as removed, and records which removals are held. */
export async function markMissing(
  { id, lease: { write }, mask }: Run,
  { missing, neverStored, heldSince }: Plan,
  { verdict, holds }: RemovalDecision,
): Promise<Removals> {
  const refused: FailedLibrary[] = [];
  const refusedWhile = (operation: string) => async (key: LibraryKey, error: unknown) => {
    refused.push(refusedByDatabase(operation, error).toFailedLibrary(key, mask));
  };
  if (holds.length > 0) {
    const options = { operation: "recording that removals are held" };
    const hold = (keys: readonly LibraryKey[], patience?: LockPatience) =>
      write({ ...options, ...patience }, (connection) => holdRemovals(connection, keys, heldSince));
    await writeInHalves(holds, {
      write: hold,
      writeNothing: () => hold([]),
      onRefused: refusedWhile("recording that its removal is held"),
    });
  }
  if (verdict.kind !== "pass") return { marked: 0, refused };
  const options = { operation: "marking removed libraries" };
  const onRefused = refusedWhile("marking the library as removed");
  let marked = 0;
  if (missing.length > 0) {
    const mark = async (keys: readonly LibraryKey[], patience?: LockPatience) => {
      marked += await write({ ...options, afterLostCommit: Math.max, ...patience }, (connection) =>
        markRemoved(connection, id, keys),
      );
    };
    await writeInHalves(missing, { write: mark, writeNothing: () => mark([]), onRefused });
  }
  if (neverStored.length > 0) {
    const forget = (keys: readonly LibraryKey[], patience?: LockPatience) =>
      write({ ...options, ...patience }, (connection) => forgetLibraries(connection, keys));
    await writeInHalves(neverStored, { write: forget, writeNothing: () => forget([]), onRefused });
  }
  return { marked, refused };
}
