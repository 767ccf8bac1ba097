import { expect, test } from "vitest";
import { formatAgo, formatInstant, formatMoment } from "../../src/report/moments.ts";

const NOW = new Date("2026-07-01T12:00:00.000Z");
const justBefore = (ms: number) => new Date(NOW.getTime() - ms);

test.each([
  [0, "just now"],
  [999, "just now"],
  [1000, "1 s ago"],
  [59_999, "59 s ago"],
  [60_000, "1 min ago"],
  [3_599_999, "59 min ago"],
  [3_600_000, "1 h ago"],
  [2 * 86_400_000 - 1, "47 h ago"],
  [2 * 86_400_000, "2 d ago"],
  [-1000, "in 1 s"],
  [-90_000, "in 1 min"],
])("%i ms before now is %s", (ms, text) => {
  expect(formatAgo(justBefore(ms), NOW)).toBe(text);
});

test("a moment is shown as age and as time, to the second", () => {
  expect(formatMoment(justBefore(10_800_500), NOW)).toBe("2026-07-01T08:59:59Z (3 h ago)");
  expect(formatInstant(NOW)).toBe("2026-07-01T12:00:00Z");
});

test("a missing moment is shown as never", () => {
  expect(formatMoment(null, NOW)).toBe("never");
});
