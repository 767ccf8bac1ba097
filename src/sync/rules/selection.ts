import { UsageError } from "../../errors.ts";
import { formatKey, keyText, parseKey } from "../../key.ts";
import type { LibraryKey, Selection } from "../../model.ts";

export const EVERYTHING: Selection = { libraries: [], owners: [] };

/** The selection that `--library` and `--owner` ask for, each selector once; throws a UsageError for a malformed one. */
export function parseSelection(libraries: readonly string[], owners: readonly string[]): Selection {
  if (owners.includes(""))
    throw new UsageError("--owner is empty; give the owner's name, such as --owner example.user");
  const keys = new Map(libraries.map(parseKey).map((key) => [keyText(key), key]));
  return { libraries: [...keys.values()], owners: [...new Set(owners)] };
}

export function isEverything(selection: Selection): boolean {
  return selection.libraries.length === 0 && selection.owners.length === 0;
}

/** A test for membership: what any of the selectors names is in. */
export function selectorOf(selection: Selection): (key: LibraryKey) => boolean {
  if (isEverything(selection)) return () => true;
  const libraries = new Set(selection.libraries.map(keyText));
  const owners = new Set(selection.owners);
  return (key) => owners.has(key.owner) || libraries.has(keyText(key));
}

/** Throws a UsageError for a library that is asked for by name and that `isKnown` neither lists nor stores. */
export function assertKnown(selection: Selection, isKnown: (key: LibraryKey) => boolean): void {
  const unknown = selection.libraries.filter((key) => !isKnown(key)).map(formatKey);
  if (unknown.length === 0) return;
  const verb = unknown.length === 1 ? "is" : "are";
  throw new UsageError(`${unknown.join(", ")} ${verb} neither listed nor stored; see simcat status for what is`);
}
