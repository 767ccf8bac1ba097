import { hashInteger, randomSeed } from "../hash.ts";
import type { ScenarioId } from "../model.ts";

interface IdSet {
  has(id: ScenarioId): boolean;
  add(id: ScenarioId): void;
}

/** Up to this size a `Set` is faster, and most lists are shorter. */
const MAX_SET_SIZE = 1_000;
/** Many small tables, because a table that grows is in memory twice. */
const TABLE_COUNT = 32;
const FIRST_SLOTS = 128;

/**
 * A set of ids outside of the heap, of 11 to 21 bytes per id. A `Set` of one million ids takes 40 MB of heap, and as much
 * again of garbage that the collector leaves because of it.
 */
export function createIdSet(): IdSet {
  /** The first ids, and all beyond 2^53. */
  const set = new Set<ScenarioId>();
  const seed = randomSeed();
  let tables: readonly IdTable[] | null = null;

  return {
    has(id) {
      if (set.has(id)) return true;
      if (typeof id === "bigint" || tables === null) return false;
      const hash = hashInteger(id, seed);
      return tables[hash % TABLE_COUNT]?.has(id, hash) === true;
    },
    add(id) {
      if (typeof id === "bigint" || set.size < MAX_SET_SIZE) {
        set.add(id);
        return;
      }
      tables ??= Array.from({ length: TABLE_COUNT }, () => createIdTable(seed));
      const hash = hashInteger(id, seed);
      tables[hash % TABLE_COUNT]?.add(id, hash);
    },
  };
}

interface IdTable {
  has(id: number, hash: number): boolean;
  add(id: number, hash: number): void;
}

/** Open addressing; at most three of four slots are used. */
function createIdTable(seed: number): IdTable {
  let ids = new Float64Array(FIRST_SLOTS).fill(Number.NaN);
  let count = 0;

  /** The slot of the id, or the free slot where it belongs. */
  const slotOf = (id: number, hash: number) => {
    // The lowest bits of the hash chose the table.
    let slot = Math.floor(hash / TABLE_COUNT) & (ids.length - 1);
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
    const oldIds = ids;
    ids = new Float64Array(oldIds.length * 2).fill(Number.NaN);
    count = 0;
    for (const id of oldIds) if (!Number.isNaN(id)) add(id, hashInteger(id, seed));
  };

  return { has: (id, hash) => ids[slotOf(id, hash)] === id, add };
}
