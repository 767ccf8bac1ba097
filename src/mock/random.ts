/** A random generator: the same seed gives the same sequence on every machine. */
export interface Random {
  /** A number in [0, 1). */
  next(): number;
  /** An integer in [0, limit). */
  below(limit: number): number;
  /** An integer in [from, to], both included. */
  between(from: number, to: number): number;
  chance(probability: number): boolean;
  /**
   * One of the items.
   * @throws a RangeError if there are none
   */
  pick<T>(items: readonly T[]): T;
}

/** The mulberry32 generator. It uses only integer arithmetic, so all JavaScript engines give the same numbers. */
export function createRandom(seed: number): Random {
  let state = seed >>> 0;
  function next(): number {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 0x1_0000_0000;
  }
  const below = (limit: number): number => Math.floor(next() * limit);
  return {
    next,
    below,
    between: (from, to) => from + below(to - from + 1),
    chance: (probability) => next() < probability,
    pick<T>(items: readonly T[]): T {
      const index = below(items.length);
      if (index >= items.length) throw new RangeError("nothing to pick from");
      return items[index] as T;
    },
  };
}
