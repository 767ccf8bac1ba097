import { hashKey, randomSeed } from "../../hash.ts";
import type { LibraryKey } from "../../model.ts";

/** The indexes of keys that are stored elsewhere. */
interface KeyIndex {
  /** The index of the key. `isEqual` compares it with the key that is stored at an index. */
  find(key: LibraryKey, isEqual: (index: number) => boolean): number | undefined;
  /** Adds a new key. Its index is the number of keys added before. */
  add(key: LibraryKey): void;
}

const INITIAL_SLOTS = 4096;

/** A hash table that holds only numbers: one million keys take 16 MB, where a `Map` with strings takes 130 MB. */
export function createKeyIndex(): KeyIndex {
  const seed = randomSeed();
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
    find(key, isEqual) {
      const hash = hashKey(key, seed);
      for (let slot = hash & (slots.length - 1); ; slot = (slot + 1) & (slots.length - 1)) {
        const index = (slots[slot] ?? 0) - 1;
        if (index < 0) return undefined;
        if (hashes[index] === hash && isEqual(index)) return index;
      }
    },
    add(key) {
      if (count === hashes.length) grow();
      const hash = hashKey(key, seed);
      hashes[count] = hash;
      insert(hash, count++);
    },
  };
}
