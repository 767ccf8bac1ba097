import { holdNoRemovals, holdRemovals, markNoneRemoved, markRemoved } from "../db/store/removals.ts";
import { type LockPatience, refusedByDatabase, writeInHalves } from "../db/store/write-in-halves.ts";
import type { FailedLibrary, LibraryKey } from "../model.ts";
import type { RemovalDecision } from "./plan-run.ts";
import type { Plan } from "./rules/plan.ts";
import type { Run } from "./run-types.ts";

export interface Removals {
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
  const onRefused = async (key: LibraryKey, error: unknown) => {
    refused.push(refusedByDatabase("marking the library as removed", error).toFailedLibrary(key, mask));
  };
  if (holds.length > 0) {
    const operation = "recording that removals are held";
    await writeInHalves(holds, {
      write: (part, patience) =>
        write({ operation, ...patience }, (connection) => holdRemovals(connection, part, heldSince)),
      writeNothing: () => write({ operation }, holdNoRemovals),
      onRefused,
    });
  }
  if (verdict.kind !== "pass") return { marked: 0, refused };
  const operation = "marking removed libraries";
  let marked = 0;
  const mark = async (stored: readonly LibraryKey[], notStored: readonly LibraryKey[], patience: LockPatience) => {
    marked += await write({ operation, reconcile: Math.max, ...patience }, (connection) =>
      markRemoved(connection, id, stored, notStored),
    );
  };
  const writeNothing = () => write({ operation }, (connection) => markNoneRemoved(connection, id));
  if (missing.length > 0) {
    await writeInHalves(missing, { write: (part, patience) => mark(part, [], patience), writeNothing, onRefused });
  }
  if (neverStored.length > 0) {
    await writeInHalves(neverStored, { write: (part, patience) => mark([], part, patience), writeNothing, onRefused });
  }
  return { marked, refused };
}
