import type { LibraryKey, ListedLibrary } from "../model.ts";

interface KeyIndex {
  /** Where the library of this key stands in the list; undefined when it does not. */
  find(key: LibraryKey): number | undefined;
  put(key: LibraryKey, at: number): void;
}

/**
 * Finds libraries of a growing list by their key. By name first, with a map of owners only where a name is shared:
 * a text of both for each key made a million libraries 130 MB larger, a map for each owner up to 270 MB.
 */
export function indexKeys(libraries: readonly ListedLibrary[]): KeyIndex {
  const names = new Map<string, number | Map<string, number>>();

  function find(key: LibraryKey): number | undefined {
    const known = names.get(key.name);
    if (typeof known !== "number") return known?.get(key.owner);
    return libraries[known]?.key.owner === key.owner ? known : undefined;
  }

  function put(key: LibraryKey, at: number): void {
    const known = names.get(key.name);
    if (known === undefined) names.set(key.name, at);
    else if (typeof known !== "number") known.set(key.owner, at);
    else {
      const owner = libraries[known]?.key.owner;
      const owners = new Map<string, number>([[key.owner, at]]);
      names.set(key.name, owner === undefined ? owners : owners.set(owner, known));
    }
  }

  return { find, put };
}
