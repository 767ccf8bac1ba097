import { hashKey, randomSeed } from "../hash.ts";
import type { LibraryKey, ListedLibraries, ListedLibrary } from "../model.ts";
import { createHashIndex, createIdSet } from "./hash-index.ts";
import { createTextList } from "./text-list.ts";

/*
 * This folder keeps a million libraries, and the ids of a list of a million scenarios, outside of the heap of V8. It promises what the
 * collections of the language do: `createTextList` is an array, `createListingStore` an array with a `Map` from keys to its indexes,
 * and `createIdSet` a `Set`. A reader who believes that may skip the folder.
 */

interface ListingStore extends ListedLibraries {
  /** Adds a library whose key is new. */
  add(library: StorableLibrary): void;
  /** Keeps only a hash of the key. */
  addElsewhere(key: LibraryKey): void;
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
  const texts = createTextList(parse);
  const keys = createHashIndex();
  const objects: ListedLibrary[] = [];
  const replaced = new Map<number, ListedLibrary>();
  const others = createIdSet();
  const seeds = [randomSeed(), randomSeed()] as const;
  let length = 0;
  let elsewhere = 0;
  /** The last result, because callers of `find` call `at` next. */
  let last: { readonly index: number; readonly library: ListedLibrary } | undefined;

  const at = (index: number) => {
    const library = objects[index];
    if (library !== undefined) return library;
    if (last?.index !== index) last = { index, library: replaced.get(index) ?? texts.at(index - MAX_OBJECTS) };
    return last.library;
  };
  const find = (key: LibraryKey) =>
    keys.find(hashKey(key, seeds[0]), (index) => {
      const { owner, name } = at(index).key;
      return owner === key.owner && name === key.name;
    });
  /** 53 bits: among a million keys, two have the same with a probability of 1 to 18,000. */
  const wideHash = (key: LibraryKey) => hashKey(key, seeds[0]) * 2 ** 21 + (hashKey(key, seeds[1]) >>> 11);
  return {
    get length() {
      return length;
    },
    get elsewhere() {
      return elsewhere;
    },
    at,
    find,
    has: (key) => find(key) !== undefined || others.has(wideHash(key)),
    *[Symbol.iterator]() {
      for (let index = 0; index < length; index++) yield at(index);
    },
    add(library) {
      keys.add(hashKey(library.key, seeds[0]));
      if (length < MAX_OBJECTS) objects.push(library);
      else texts.add(library.source);
      length++;
    },
    addElsewhere(key) {
      const hash = wideHash(key);
      if (others.has(hash)) return;
      others.add(hash);
      elsewhere++;
    },
    replace(index, library) {
      if (index < MAX_OBJECTS) objects[index] = library;
      else replaced.set(index, library);
      last = undefined;
    },
  };
}
