import { keyText, parseSelector } from "../../key.ts";
import type { LibraryKey } from "../../model.ts";
import type { Selection } from "../../run-summary.ts";

/** The selection that `--library` and `--owner` ask for, each selector once. @throws UsageError for a malformed one */
export function parseSelection(libraries: readonly string[], owners: readonly string[]): Selection {
  const keys = new Map(libraries.map(parseSelector).map((key) => [keyText(key), key]));
  return { libraries: [...keys.values()], owners: [...new Set(owners)] };
}

export function isEverything(selection: Selection): boolean {
  return selection.slice === undefined && !hasSelectors(selection);
}

export const hasSelectors = ({ libraries, owners }: Selection) => libraries.length + owners.length > 0;

/** A test for membership: a library is in if any of the selectors names it. A run of a slice sees no other libraries. */
export function selectorOf(selection: Selection): (key: LibraryKey) => boolean {
  if (!hasSelectors(selection)) return () => true;
  const libraries = new Set(selection.libraries.map(keyText));
  const owners = new Set(selection.owners);
  return (key) => owners.has(key.owner) || libraries.has(keyText(key));
}
