import type { ListedLibraries, ListedLibrary } from "../../src/model.ts";
import type { Selection } from "../../src/run-summary.ts";

/** The selection of a run without selectors. */
export const EVERYTHING: Selection = { libraries: [], owners: [] };

/** A listing that contains these libraries. */
export function listingOf(libraries: readonly ListedLibrary[]): ListedLibraries {
  const find: ListedLibraries["find"] = ({ owner, name }) => {
    const index = libraries.findIndex(({ key }) => key.owner === owner && key.name === name);
    return index < 0 ? undefined : index;
  };
  const at = (index: number) => {
    const found = libraries[index];
    if (found === undefined) throw new RangeError(`there is no library ${index}`);
    return found;
  };
  const has: ListedLibraries["has"] = (key) => find(key) !== undefined;
  return { length: libraries.length, elsewhere: 0, at, find, has, [Symbol.iterator]: () => libraries.values() };
}
