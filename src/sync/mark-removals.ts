import { forgetLibraries, holdRemovals, markLibrariesRemoved } from "../db/store/removals.ts";
import { refusedByDatabase, saveInHalves } from "../db/store/save-in-halves.ts";
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
export async function markRemovals(
  { id, lease: { write }, mask }: Run,
  { missing, neverStored, heldSince }: Plan,
  { verdict, holds }: RemovalDecision,
): Promise<Removals> {
  const refused: FailedLibrary[] = [];
  const refusedWhile = (operation: string) => async (key: LibraryKey, error: unknown) => {
    refused.push(refusedByDatabase(operation, error).toFailedLibrary(key, mask));
  };
  await saveInHalves(holds, {
    write,
    options: { operation: "recording that removals are held" },
    work: (connection, keys) => holdRemovals(connection, keys, heldSince),
    onRefused: refusedWhile("recording that its removal is held"),
  });
  if (verdict.kind !== "pass") return { marked: 0, refused };
  const operation = "marking removed libraries";
  const onRefused = refusedWhile("marking the library as removed");
  let marked = 0;
  await saveInHalves(missing, {
    write,
    options: { operation, afterLostCommit: Math.max },
    work: (connection, keys) => markLibrariesRemoved(connection, id, keys),
    async onWritten(_, count) {
      marked += count;
    },
    onRefused,
  });
  await saveInHalves(neverStored, { write, options: { operation }, work: forgetLibraries, onRefused });
  return { marked, refused };
}
