import { hashInteger, randomSeed } from "../hash.ts";
import type { ScenarioId } from "../model.ts";

/** Finds values that are stored elsewhere, in an array. */
interface HashIndex {
  /** The index of the value with this hash. `isEqual` compares it with the one that is stored at an index. */
  find(hash: number, isEqual: (index: number) => boolean): number | undefined;
  /** Adds a new value by its hash of 32 bits, and returns its index: the number of values added before. */
  add(hash: number): number;
}

const INITIAL_SLOTS = 4096;

/** A hash table that holds only numbers: one million keys take 16 MB, where a `Map` with strings takes 130 MB. */
export function createHashIndex(): HashIndex {
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
    find(hash, isEqual) {
      for (let slot = hash & (slots.length - 1); ; slot = (slot + 1) & (slots.length - 1)) {
        const index = (slots[slot] ?? 0) - 1;
        if (index < 0) return undefined;
        if (hashes[index] === hash && isEqual(index)) return index;
      }
    },
    add(hash) {
      if (count === hashes.length) grow();
      hashes[count] = hash;
      insert(hash, count);
      return count++;
    },
  };
}

/** Up to this size a `Set` is faster, and most lists are shorter. */
const MAX_SET_SIZE = 1_000;

/**
 * A set of ids outside of the heap, of 20 to 40 bytes per id. A `Set` of one million ids takes 40 MB of heap, and as much
 * again of garbage that the collector leaves because of it.
 */
export function createIdSet() {
  /** The first ids, and all beyond 2^53. */
  const set = new Set<ScenarioId>();
  const seed = randomSeed();
  let ids = new Float64Array();
  let index: HashIndex | null = null;
  const find = (id: number, hash: number) => index?.find(hash, (at) => ids[at] === id);

  return {
    has: (id: ScenarioId): boolean =>
      set.has(id) || (index !== null && typeof id === "number" && find(id, hashInteger(id, seed)) !== undefined),
    add(id: ScenarioId): void {
      if (typeof id === "bigint" || set.size < MAX_SET_SIZE) {
        set.add(id);
        return;
      }
      const hash = hashInteger(id, seed);
      if (find(id, hash) !== undefined) return;
      index ??= createHashIndex();
      const at = index.add(hash);
      if (at === ids.length) {
        const oldIds = ids;
        ids = new Float64Array(2 * at || MAX_SET_SIZE);
        ids.set(oldIds);
      }
      ids[at] = id;
    },
  };
}
