import type { ScenarioId } from "../../model.ts";

/** What is remembered of each id that a list had: a text or a number. */
export interface SeenIds {
  get(id: ScenarioId): string | number | undefined;
  set(id: ScenarioId, value: string | number): void;
}

const TABLES = 32;
const FIRST_SLOTS = 128;

/**
 * Values of 32 bits for ids that are numbers stand in hash tables beside the heap, of 16 to 32 bytes an id: as a `Map` a
 * million of them took 60 MB of the heap, and the collector lets as much garbage gather around them. Many small tables,
 * for one that grows stands twice in memory.
 */
export function openSeenIds(): SeenIds {
  const others = new Map<ScenarioId, string | number>();
  // Another order of slots in each process, so that no list of ids is slow by intent.
  const seed = Math.floor(Math.random() * 2 ** 32);
  let tables: readonly IdTable[] | null = null;

  return {
    get(id) {
      const other = others.get(id);
      if (other !== undefined || typeof id === "bigint" || tables === null) return other;
      const hash = hashOf(id, seed);
      return tables[hash % TABLES]?.get(id, hash);
    },
    set(id, value) {
      if (typeof id === "bigint" || typeof value === "string" || value >>> 0 !== value || others.has(id)) {
        others.set(id, value);
        return;
      }
      tables ??= Array.from({ length: TABLES }, () => openTable(seed));
      const hash = hashOf(id, seed);
      tables[hash % TABLES]?.set(id, hash, value);
    },
  };
}

interface IdTable {
  get(id: number, hash: number): number | undefined;
  set(id: number, hash: number, value: number): void;
}

/** Open addressing, at most three slots in four taken. */
function openTable(seed: number): IdTable {
  let ids = new Float64Array(FIRST_SLOTS).fill(Number.NaN);
  let values = new Uint32Array(FIRST_SLOTS);
  let count = 0;

  /** Where the id stands or would stand. */
  const slotOf = (id: number, hash: number) => {
    // Its lowest bits chose the table.
    let slot = Math.floor(hash / TABLES) & (ids.length - 1);
    while (ids[slot] !== id && !Number.isNaN(ids[slot])) slot = (slot + 1) & (ids.length - 1);
    return slot;
  };
  const set = (id: number, hash: number, value: number) => {
    if (count * 4 >= ids.length * 3) grow();
    const slot = slotOf(id, hash);
    if (ids[slot] !== id) count++;
    ids[slot] = id;
    values[slot] = value;
  };
  const grow = () => {
    const [before, kept] = [ids, values];
    ids = new Float64Array(before.length * 2).fill(Number.NaN);
    values = new Uint32Array(before.length * 2);
    count = 0;
    for (const [slot, id] of before.entries()) if (!Number.isNaN(id)) set(id, hashOf(id, seed), kept[slot] ?? 0);
  };

  return {
    get(id, hash) {
      const slot = slotOf(id, hash);
      return ids[slot] === id ? values[slot] : undefined;
    },
    set,
  };
}

/** murmur3's finalizer over both halves of the number. */
function hashOf(id: number, seed: number): number {
  let hash = (id | 0) ^ Math.imul(Math.floor(id / 2 ** 32), 0x9e3779b1) ^ seed;
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}
