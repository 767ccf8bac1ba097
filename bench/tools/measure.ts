import type { World } from "../bench.ts";

/** Seconds that the work took. */
export async function timed(work: () => Promise<unknown>): Promise<number> {
  const began = performance.now();
  await work();
  return (performance.now() - began) / 1000;
}

const WARM_UP_SECONDS = 0.5;

type Contenders<Name extends string> = Readonly<Record<Name, () => Promise<number>>>;

/**
 * Lets contenders run in turn, round by round, and every other round in the opposite order: whatever else the machine
 * does meets all of them. Each answers its seconds, so that what it prepares does not count. Where there are several
 * rounds, each runs for `WARM_UP_SECONDS` before them, once at least: no contender's figure is that of its compiler.
 */
export async function interleave<Name extends string>(
  rounds: number,
  contenders: Contenders<Name>,
): Promise<Record<Name, number[]>> {
  const names = Object.keys(contenders) as Name[];
  const results = Object.fromEntries(names.map((name) => [name, [] as number[]])) as Record<Name, number[]>;
  if (rounds > 1) for (const name of names) await warmUp(contenders[name]);
  for (let round = 0; round < rounds; round++) {
    for (const name of round % 2 === 0 ? names : names.toReversed()) results[name].push(await contenders[name]());
  }
  return results;
}

/** For work of half a second or less, on which other load has a different effect in each round. */
export const manyRounds = ({ tiny, rounds }: Pick<World, "tiny" | "rounds">) => (tiny ? 1 : 3 * rounds);

async function warmUp(contender: () => Promise<number>): Promise<void> {
  let seconds = 0;
  while (seconds < WARM_UP_SECONDS) seconds += await contender();
}

/** Round by round, so that a disturbance that met both cancels out. */
export function ratios(ours: readonly number[], floor: readonly number[]): number[] {
  return ours.map((value, round) => value / (floor[round] ?? Number.NaN));
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length / 2;
  const [low = Number.NaN, high = low] = [sorted[Math.ceil(middle) - 1], sorted[Math.floor(middle)]];
  return (low + high) / 2;
}

export function sayTime(seconds: number): string {
  if (seconds < 1) return `${(seconds * 1000).toPrecision(3)} ms`;
  return `${seconds.toPrecision(3)} s`;
}

/** `1.21 s against 1.05 s`: the medians of a ratio. */
export function sayBoth(ours: readonly number[], floor: readonly number[]): string {
  return `${sayTime(median(ours))} against ${sayTime(median(floor))}`;
}

export function sayCount(count: number): string {
  return Math.round(count).toLocaleString("en");
}
