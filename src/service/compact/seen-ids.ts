import type { ScenarioId } from "../../model.ts";

/** The ids that a list had. */
export interface SeenIds {
  has(id: ScenarioId): boolean;
  add(id: ScenarioId): void;
}

/** A `Set` is faster while it is small, and most lists are. */
const FEW = 1_000;
const TABLES = 32;
const FIRST_SLOTS = 128;

/**
 * Hash tables outside of the heap, of 11 to 21 bytes an id: as a `Set` a million ids take 40 MB of the heap, and the
 * collector lets as much garbage gather around them. Many small tables, because one that grows is in memory twice.
 */
export function openSeenIds(): SeenIds {
  /** The first ids, and all beyond 2^53. */
  const few = new Set<ScenarioId>();
  // Another order of slots in each process, so that no list of ids is slow by intent.
  const seed = Math.floor(Math.random() * 2 ** 32);
  let tables: readonly IdTable[] | null = null;

  return {
    has(id) {
      if (few.has(id)) return true;
      if (typeof id === "bigint" || tables === null) return false;
      const hash = hashOf(id, seed);
      return tables[hash % TABLES]?.has(id, hash) === true;
    },
    add(id) {
      if (typeof id === "bigint" || few.size < FEW) {
        few.add(id);
        return;
      }
      tables ??= Array.from({ length: TABLES }, () => openTable(seed));
      const hash = hashOf(id, seed);
      tables[hash % TABLES]?.add(id, hash);
    },
  };
}

interface IdTable {
  has(id: number, hash: number): boolean;
  add(id: number, hash: number): void;
}

/** Open addressing, at most three slots in four taken. */
function openTable(seed: number): IdTable {
  let ids = new Float64Array(FIRST_SLOTS).fill(Number.NaN);
  let count = 0;

  /** Where the id is or would be. */
  const slotOf = (id: number, hash: number) => {
    // Its lowest bits chose the table.
    let slot = Math.floor(hash / TABLES) & (ids.length - 1);
    while (ids[slot] !== id && !Number.isNaN(ids[slot])) slot = (slot + 1) & (ids.length - 1);
    return slot;
  };
  const add = (id: number, hash: number) => {
    if (count * 4 >= ids.length * 3) grow();
    const slot = slotOf(id, hash);
    if (ids[slot] !== id) count++;
    ids[slot] = id;
  };
  const grow = () => {
    const before = ids;
    ids = new Float64Array(before.length * 2).fill(Number.NaN);
    count = 0;
    for (const id of before) if (!Number.isNaN(id)) add(id, hashOf(id, seed));
  };

  return { has: (id, hash) => ids[slotOf(id, hash)] === id, add };
}

/** murmur3's finalizer over both halves of the number. */
function hashOf(id: number, seed: number): number {
  let hash = (id | 0) ^ Math.imul(Math.floor(id / 2 ** 32), 0x9e3779b1) ^ seed;
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}
