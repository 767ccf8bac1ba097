import type { ListedLibraries, ListedLibrary } from "../../model.ts";
import { createKeyIndex } from "../off-heap/key-index.ts";
import { createStringArena } from "../off-heap/string-arena.ts";

interface ListingStore extends ListedLibraries {
  readonly length: number;
  /** Adds a library whose key is new. */
  add(library: StorableLibrary): void;
  replace(index: number, library: ListedLibrary): void;
}

/** A library whose entry can be stored. */
export type StorableLibrary = ListedLibrary & { readonly source: string };

/** The first libraries are kept as objects, which take about 10 MB. */
const MAX_OBJECTS = 20_000;

/**
 * Keeps listed libraries. Those after the first `MAX_OBJECTS` are kept as the source texts of their entries, and parsed
 * whenever one is needed: as objects, one million libraries took 470 MB of heap; as texts they take 150 MB outside of it.
 */
export function createListingStore(parse: (source: string) => ListedLibrary): ListingStore {
  const texts = createStringArena();
  const keys = createKeyIndex();
  const objects: ListedLibrary[] = [];
  const replaced = new Map<number, ListedLibrary>();
  let length = 0;
  /** The last result, because callers of `find` call `at` next. */
  let last: { readonly index: number; readonly library: ListedLibrary } | undefined;

  const at = (index: number) => {
    const library = objects[index];
    if (library !== undefined) return library;
    if (last?.index !== index) last = { index, library: replaced.get(index) ?? parse(texts.at(index - MAX_OBJECTS)) };
    return last.library;
  };
  return {
    get length() {
      return length;
    },
    at,
    find: (key) =>
      keys.find(key, (index) => {
        const { owner, name } = at(index).key;
        return owner === key.owner && name === key.name;
      }),
    *[Symbol.iterator]() {
      for (let index = 0; index < length; index++) yield at(index);
    },
    add(library) {
      keys.add(library.key);
      if (length < MAX_OBJECTS) objects.push(library);
      else texts.add(library.source);
      length++;
    },
    replace(index, library) {
      if (index < MAX_OBJECTS) objects[index] = library;
      else replaced.set(index, library);
      last = undefined;
    },
  };
}
