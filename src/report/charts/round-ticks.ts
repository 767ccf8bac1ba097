const STEPS = [1, 2, 3, 4, 5, 10];

export interface Ticks {
  /** The end of the axis, which starts at 0. */
  readonly max: number;
  readonly interval: number;
}

/**
 * At most `maxSteps` steps of a round length, chosen so that the axis ends as close to `largest` as possible.
 * `isWhole`: the length is a whole number.
 */
export function roundTicks(largest: number, maxSteps: number, isWhole: boolean): Ticks {
  const choices = Array.from({ length: maxSteps }, (_, index) => ticksIn(maxSteps - index, largest, isWhole));
  return choices.reduce((best, ticks) => (ticks.max < best.max - SLACK ? ticks : best));
}

/** Tolerates rounding: 2.0000000000000004 counts as 2. */
const SLACK = 1e-9;

function ticksIn(steps: number, largest: number, isWhole: boolean): Ticks {
  const least = Math.max(largest / steps, isWhole || largest === 0 ? 1 : 0);
  const power = 10 ** Math.floor(Math.log10(least));
  const interval = (STEPS.find((step) => step >= least / power - SLACK) ?? 10) * power;
  return { max: interval * Math.max(1, Math.ceil(largest / interval - SLACK)), interval };
}
