import type { LibraryKey } from "../../model.ts";

export interface KeyTable {
  /** The number that was put for this key; `isIt` looks whether a number is really the key's. */
  find(key: LibraryKey, isIt: (at: number) => boolean): number | undefined;
  /** Numbers count from zero, each put once and in turn. */
  put(key: LibraryKey): void;
}

const FIRST_SLOTS = 4096;

/** A hash table of numbers alone: a million keys take 16 MB, where a `Map` with a text for each takes 130. */
export function openKeyTable(): KeyTable {
  // Another order of slots in each process, so that no list of keys is slow by intent.
  const seed = Math.floor(Math.random() * 2 ** 32);
  let hashes = new Uint32Array(FIRST_SLOTS / 2);
  /** Number + 1 by hash; 0 is free. At most half of them are taken. */
  let slots = new Uint32Array(FIRST_SLOTS);
  let count = 0;

  const take = (hash: number, at: number) => {
    let slot = hash & (slots.length - 1);
    while (slots[slot] !== 0) slot = (slot + 1) & (slots.length - 1);
    slots[slot] = at + 1;
  };
  const grow = () => {
    const before = hashes;
    hashes = new Uint32Array(before.length * 2);
    hashes.set(before);
    slots = new Uint32Array(slots.length * 2);
    for (const [at, hash] of before.entries()) take(hash, at);
  };

  return {
    find(key, isIt) {
      const hash = hashOf(key, seed);
      for (let slot = hash & (slots.length - 1); ; slot = (slot + 1) & (slots.length - 1)) {
        const at = (slots[slot] ?? 0) - 1;
        if (at < 0) return undefined;
        if (hashes[at] === hash && isIt(at)) return at;
      }
    },
    put(key) {
      if (count === hashes.length) grow();
      const hash = hashOf(key, seed);
      hashes[count] = hash;
      take(hash, count++);
    },
  };
}

/** FNV-1a over both parts, then murmur3's finalizer. */
function hashOf({ owner, name }: LibraryKey, seed: number): number {
  let hash = seed;
  for (let at = 0; at < owner.length; at++) hash = Math.imul(hash ^ owner.charCodeAt(at), 0x01000193);
  hash = Math.imul(hash ^ owner.length, 0x01000193);
  for (let at = 0; at < name.length; at++) hash = Math.imul(hash ^ name.charCodeAt(at), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}
