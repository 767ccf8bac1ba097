import { hashInteger, hashKey, randomSeed } from "./hash.ts";
import type { LibraryKey, ListedLibrary, ScenarioId } from "./model.ts";

/*
 * These collections keep a million libraries, and the ids of a list of a million scenarios, outside of the heap of V8. They promise what the
 * collections of the language do: `createTextList` is an array, `createListingStore` an array with a `Map` from keys to its indexes,
 * and `createIdSet` a `Set`. A reader who believes that may skip the file.
 */

/** The first libraries are kept as objects, so that small organizations do not pay for large ones. */
const MAX_OBJECTS = 20_000;

/** Keeps listed libraries, most of them as source texts outside of the heap, which take far less memory than objects in it. */
export function createListingStore(parse: (source: string) => ListedLibrary) {
  const texts = createTextList(parse);
  const keys = createHashIndex();
  const objects: ListedLibrary[] = [];
  /** Those without a source text, by index. */
  const replaced = new Map<number, ListedLibrary>();
  const others = createIdSet();
  const seeds = [randomSeed(), randomSeed()] as const;
  let length = 0;
  let elsewhere = 0;
  /** The last parsed one, because callers of `find` call `at` next. */
  let last: { readonly index: number; readonly library: ListedLibrary } | undefined;

  const at = (index: number) => {
    const library = replaced.get(index) ?? objects[index];
    if (library !== undefined) return library;
    if (last?.index !== index) last = { index, library: texts.at(index - MAX_OBJECTS) };
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
    has: (key: LibraryKey) => find(key) !== undefined || others.has(wideHash(key)),
    *[Symbol.iterator]() {
      for (let index = 0; index < length; index++) yield at(index);
    },
    /** Adds a library whose key is new. */
    add(library: ListedLibrary): void {
      keys.add(hashKey(library.key, seeds[0]));
      if (length < MAX_OBJECTS) objects.push(library);
      else texts.add(library.source ?? "");
      if (library.source === null) replaced.set(length, library);
      length++;
    },
    /** Keeps only a hash of the key. */
    addElsewhere(key: LibraryKey): void {
      const hash = wideHash(key);
      if (others.has(hash)) return;
      others.add(hash);
      elsewhere++;
    },
    replace: (index: number, library: ListedLibrary) => void replaced.set(index, library),
  };
}

const PAGE_BYTES = 2 ** 20;
/** One UTF-16 code unit takes at most three bytes of UTF-8. */
const MAX_BYTES_PER_UNIT = 3;
/** Three numbers per text: page, start offset, end offset (exclusive). */
const NUMBERS_PER_TEXT = 3;

/** A list of well-formed texts, as bytes that the garbage collector neither scans nor moves. Parses one whenever it is needed. */
export function createTextList<T>(parse: (source: string) => T) {
  const pages: Buffer[] = [];
  let positions = new Uint32Array(NUMBERS_PER_TEXT * 16);
  let length = 0;
  let page = Buffer.alloc(0);
  let usedBytes = 0;

  return {
    /** Returns the index of the new item. */
    add(source: string): number {
      const maxBytes = source.length * MAX_BYTES_PER_UNIT;
      if (pages.length === 0 || usedBytes + maxBytes > page.length) {
        page = Buffer.allocUnsafeSlow(Math.max(PAGE_BYTES, maxBytes));
        pages.push(page);
        usedBytes = 0;
      }
      const position = length * NUMBERS_PER_TEXT;
      if (position === positions.length) {
        const oldPositions = positions;
        positions = new Uint32Array(oldPositions.length * 2);
        positions.set(oldPositions);
      }
      positions[position] = pages.length - 1;
      positions[position + 1] = usedBytes;
      usedBytes += page.write(source, usedBytes);
      positions[position + 2] = usedBytes;
      return length++;
    },
    at(index: number): T {
      const position = index * NUMBERS_PER_TEXT;
      const [pageIndex = 0, start, end] = positions.subarray(position, position + NUMBERS_PER_TEXT);
      const found = pages[pageIndex];
      if (index >= length || found === undefined) throw new RangeError(`the list has no item ${index}`);
      return parse(found.toString("utf8", start, end));
    },
  };
}

const INITIAL_SLOTS = 4096;

/** Finds indexes of values by their hashes. It takes far less memory than a `Map` with strings. */
function createHashIndex() {
  let hashes = new Uint32Array(INITIAL_SLOTS / 2);
  /** Index + 1 by hash; 0 is free. At most half of the slots are used. */
  let slots = new Uint32Array(INITIAL_SLOTS);
  let count = 0;

  const insert = (hash: number, index: number) => {
    let slot = hash & (slots.length - 1);
    while (slots[slot] !== 0) slot = (slot + 1) & (slots.length - 1);
    slots[slot] = index + 1;
  };
  const grow = () => {
    const oldHashes = hashes;
    hashes = new Uint32Array(oldHashes.length * 2);
    hashes.set(oldHashes);
    slots = new Uint32Array(slots.length * 2);
    for (const [index, hash] of oldHashes.entries()) insert(hash, index);
  };

  return {
    /** The index of the value with this hash. `isEqual` compares it with the one that is stored at an index. */
    find(hash: number, isEqual: (index: number) => boolean): number | undefined {
      for (let slot = hash & (slots.length - 1); ; slot = (slot + 1) & (slots.length - 1)) {
        const index = (slots[slot] ?? 0) - 1;
        if (index < 0) return undefined;
        if (hashes[index] === hash && isEqual(index)) return index;
      }
    },
    /** Adds a new value by its hash of 32 bits, and returns its index: the number of values added before. */
    add(hash: number): number {
      if (count === hashes.length) grow();
      hashes[count] = hash;
      insert(hash, count);
      return count++;
    },
  };
}

/** Up to this size a `Set` is faster, and most lists are shorter. */
const MAX_SET_SIZE = 1_000;

/** A set of ids. A large `Set` takes more memory, in the heap, and leaves as much garbage. */
export function createIdSet() {
  /** The first ids, and all beyond 2^53. */
  const set = new Set<ScenarioId>();
  const seed = randomSeed();
  let ids = new Float64Array();
  let index: ReturnType<typeof createHashIndex> | null = null;

  return {
    has(id: ScenarioId): boolean {
      if (index === null || typeof id === "bigint" || set.has(id)) return set.has(id);
      return index.find(hashInteger(id, seed), (at) => ids[at] === id) !== undefined;
    },
    /** Callers add an id that the set lacks. */
    add(id: ScenarioId): void {
      if (typeof id === "bigint" || set.size < MAX_SET_SIZE) {
        set.add(id);
        return;
      }
      index ??= createHashIndex();
      const at = index.add(hashInteger(id, seed));
      if (at === ids.length) {
        const oldIds = ids;
        ids = new Float64Array(2 * at || MAX_SET_SIZE);
        ids.set(oldIds);
      }
      ids[at] = id;
    },
  };
}
