const STEPS = [1, 2, 3, 4, 5, 10];

export interface Ticks {
  /** Where the axis ends; it begins at 0. */
  readonly max: number;
  readonly interval: number;
}

/**
 * At most so many steps of a round length, whole ones where nothing between is counted. The axis ends as little beyond
 * `largest` as that allows.
 */
export function roundTicks(largest: number, most: number, isWhole: boolean): Ticks {
  const choices = Array.from({ length: most }, (_, at) => ticksIn(most - at, largest, isWhole));
  return choices.reduce((best, ticks) => (ticks.max < best.max - SLACK ? ticks : best));
}

/** A quotient such as 2.0000000000000004 is 2. */
const SLACK = 1e-9;

function ticksIn(steps: number, largest: number, isWhole: boolean): Ticks {
  const least = Math.max(largest / steps, isWhole || largest === 0 ? 1 : 0);
  const power = 10 ** Math.floor(Math.log10(least));
  const interval = (STEPS.find((step) => step >= least / power - SLACK) ?? 10) * power;
  return { max: interval * Math.max(1, Math.ceil(largest / interval - SLACK)), interval };
}
