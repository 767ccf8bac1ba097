/** A random generator: the same seed gives the same sequence on every machine. */
export type Random = ReturnType<typeof createRandom>;

/** The mulberry32 generator. It uses only integer arithmetic, so all JavaScript engines give the same numbers. */
export function createRandom(seed: number) {
  let state = seed >>> 0;
  /** A number in [0, 1). */
  function next(): number {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 0x1_0000_0000;
  }
  /** An integer in [0, limit). */
  const below = (limit: number): number => Math.floor(next() * limit);
  return {
    next,
    below,
    /** An integer in [from, to], both included. */
    between: (from: number, to: number): number => from + below(to - from + 1),
    chance: (probability: number): boolean => next() < probability,
    /** One of the items, of which there is at least one. */
    pick: <T>(items: readonly T[]): T => items[below(items.length)] as T,
  };
}
