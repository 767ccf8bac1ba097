import { keyText, parseSelector } from "../../key.ts";
import type { LibraryKey, Listing } from "../../model.ts";
import type { Selection } from "../../run-summary.ts";

/** The selection that `--library` and `--owner` ask for, each selector once. @throws UsageError for a malformed one */
export function parseSelection(libraries: readonly string[], owners: readonly string[]): Selection {
  const keys = new Map(libraries.map(parseSelector).map((key) => [keyText(key), key]));
  return { libraries: [...keys.values()], owners: [...new Set(owners)] };
}

export function isEverything(selection: Selection): boolean {
  return selection.slice === undefined && !hasSelectors(selection);
}

const hasSelectors = ({ libraries, owners }: Selection) => libraries.length + owners.length > 0;

/** A test for membership: a library is in if any of the selectors names it. A run of a slice sees no other libraries. */
export function selectorOf(selection: Selection): (key: LibraryKey) => boolean {
  if (!hasSelectors(selection)) return () => true;
  const libraries = new Set(selection.libraries.map(keyText));
  const owners = new Set(selection.owners);
  return (key) => owners.has(key.owner) || libraries.has(keyText(key));
}

/** The selected owners and libraries that are not listed; a rejected entry counts as listed. */
export function findUnlisted(selection: Selection, { libraries, rejects }: Listed): Selection {
  const rejected = rejects.flatMap(({ key }) => key ?? []);
  const rejectedTexts = new Set(rejected.map(keyText));
  const owners = new Set(selection.owners);
  for (const { owner } of rejected) owners.delete(owner);
  for (const { key } of owners.size > 0 ? libraries : []) {
    owners.delete(key.owner);
    if (owners.size === 0) break;
  }
  return {
    libraries: selection.libraries.filter(
      (key) => libraries.find(key) === undefined && !rejectedTexts.has(keyText(key)),
    ),
    owners: [...owners],
  };
}

type Listed = Pick<Listing, "libraries" | "rejects">;
