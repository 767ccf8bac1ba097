import type { ListedLibraries, ListedLibrary } from "../src/model.ts";

/** These libraries as a listing holds them. */
export function listingOf(libraries: readonly ListedLibrary[]): ListedLibraries {
  const find: ListedLibraries["find"] = ({ owner, name }) => {
    const at = libraries.findIndex(({ key }) => key.owner === owner && key.name === name);
    return at < 0 ? undefined : at;
  };
  const at = (index: number) => {
    const found = libraries[index];
    if (found === undefined) throw new RangeError(`there is no library ${index}`);
    return found;
  };
  return { length: libraries.length, at, find, [Symbol.iterator]: () => libraries.values() };
}
