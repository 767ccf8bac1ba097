import type { World } from "../bench.ts";

/** Runs the work and returns its time in seconds. */
export async function timed(work: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now();
  await work();
  return (performance.now() - startedAt) / 1000;
}

const WARM_UP_SECONDS = 0.5;

type Contenders<Name extends string> = Readonly<Record<Name, () => Promise<number>>>;

/**
 * Runs the contenders alternately, round by round, with the order reversed in every second round, so that other load on the
 * machine affects all of them. Each returns its own seconds, so that its preparation does not count. If there are several
 * rounds, each contender first runs for at least `WARM_UP_SECONDS`, so that no figure includes the time of compilation.
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

/** More rounds, for work of half a second or less, because other load affects each of its rounds differently. */
export const repeatedRounds = ({ tiny, rounds }: Pick<World, "tiny" | "rounds">) => (tiny ? 1 : 3 * rounds);

async function warmUp(contender: () => Promise<number>): Promise<void> {
  let seconds = 0;
  while (seconds < WARM_UP_SECONDS) seconds += await contender();
}

/** One ratio per round, so that a disturbance that affects both cancels out. */
export function ratios(measured: readonly number[], floor: readonly number[]): number[] {
  return measured.map((value, round) => value / (floor[round] ?? Number.NaN));
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length / 2;
  const [low = Number.NaN, high = low] = [sorted[Math.ceil(middle) - 1], sorted[Math.floor(middle)]];
  return (low + high) / 2;
}

export function formatSeconds(seconds: number): string {
  if (seconds < 1) return `${(seconds * 1000).toPrecision(3)} ms`;
  return `${seconds.toPrecision(3)} s`;
}

/** `1.21 s against 1.05 s`: the medians of both. */
export function formatMedians(measured: readonly number[], floor: readonly number[]): string {
  return `${formatSeconds(median(measured))} against ${formatSeconds(median(floor))}`;
}

export function formatCount(count: number): string {
  return Math.round(count).toLocaleString("en");
}
