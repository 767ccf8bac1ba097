import { expect, test } from "vitest";
import { roundTicks } from "../../src/report/charts/round-ticks.ts";

test.each([
  [2_063, 3, true, { max: 3_000, interval: 1_000 }],
  [2_000, 2, true, { max: 2_000, interval: 1_000 }],
  [2_001, 2, true, { max: 3_000, interval: 3_000 }],
  [20_978, 2, true, { max: 30_000, interval: 30_000 }],
  [645, 5, true, { max: 800, interval: 200 }],
  [35, 5, true, { max: 40, interval: 10 }],
  [13.9, 5, false, { max: 15, interval: 3 }],
  [1, 5, false, { max: 1, interval: 0.2 }],
  [1, 5, true, { max: 1, interval: 1 }],
  [4, 5, true, { max: 4, interval: 1 }],
  [6, 5, true, { max: 6, interval: 2 }],
  [7, 1, true, { max: 10, interval: 10 }],
  [0, 5, true, { max: 1, interval: 1 }],
  [0, 5, false, { max: 1, interval: 1 }],
])("%d in at most %d steps, whole: %s", (largest, most, isWhole, ticks) => {
  expect(roundTicks(largest, most, isWhole)).toEqual(ticks);
});
