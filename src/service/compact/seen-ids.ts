import type { ScenarioId } from "../../model.ts";

/** What is remembered of each id that a list had: a text or a number. */
export interface SeenIds {
  get(id: ScenarioId): string | number | undefined;
  set(id: ScenarioId, value: string | number): void;
}

const FIRST_SLOTS = 4096;

/**
 * Values of 32 bits for ids that are numbers stand in a hash table beside the heap, of 24 to 48 bytes an id: as a `Map` a
 * million of them took 60 MB of the heap, and the collector lets as much garbage gather around them.
 */
export function openSeenIds(): SeenIds {
  const others = new Map<ScenarioId, string | number>();
  // Another order of slots in each process, so that no list of ids is slow by intent.
  const seed = Math.floor(Math.random() * 2 ** 32);
  let ids = new Float64Array(0);
  let values = new Uint32Array(0);
  let count = 0;

  /** Where the id stands or would stand; at most half of the slots are taken. */
  const slotOf = (id: number) => {
    let slot = hashOf(id, seed) & (ids.length - 1);
    while (ids[slot] !== id && !Number.isNaN(ids[slot])) slot = (slot + 1) & (ids.length - 1);
    return slot;
  };
  const put = (id: number, value: number) => {
    const slot = slotOf(id);
    if (ids[slot] !== id) count++;
    ids[slot] = id;
    values[slot] = value;
  };
  const grow = () => {
    const [before, kept] = [ids, values];
    const slots = Math.max(FIRST_SLOTS, before.length * 2);
    ids = new Float64Array(slots).fill(Number.NaN);
    values = new Uint32Array(slots);
    count = 0;
    for (const [slot, id] of before.entries()) if (!Number.isNaN(id)) put(id, kept[slot] ?? 0);
  };

  return {
    get(id) {
      const other = others.get(id);
      if (other !== undefined || typeof id === "bigint" || count === 0) return other;
      const slot = slotOf(id);
      return ids[slot] === id ? values[slot] : undefined;
    },
    set(id, value) {
      if (typeof id === "bigint" || typeof value === "string" || value >>> 0 !== value || others.has(id)) {
        others.set(id, value);
        return;
      }
      if (count * 2 >= ids.length) grow();
      put(id, value);
    },
  };
}

/** murmur3's finalizer over both halves of the number. */
function hashOf(id: number, seed: number): number {
  let hash = (id | 0) ^ Math.imul(Math.floor(id / 2 ** 32), 0x9e3779b1) ^ seed;
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}
