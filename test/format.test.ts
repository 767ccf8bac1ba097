import { expect, test } from "vitest";
import {
  cutToDifference,
  formatAgo,
  formatBytes,
  formatElapsed,
  formatInstant,
  formatLast,
  formatLimit,
  formatMoment,
} from "../src/format.ts";

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

test("a moment is shown as age and as time, to the second, and a missing one as never", () => {
  expect(formatMoment(null, NOW)).toBe("never");
  expect(formatMoment(justBefore(10_800_500), NOW)).toBe("2026-07-01T08:59:59Z (3 h ago)");
  expect(formatInstant(NOW)).toBe("2026-07-01T12:00:00Z");
});

test.each([
  [0, "0 ms"],
  [99, "99 ms"],
  [100, "0.1 s"],
  [9_949, "9.9 s"],
  [9_950, "10 s"],
  [59_499, "59 s"],
  [59_500, "1 min 00 s"],
  [3_599_499, "59 min 59 s"],
  [3_600_000, "1 h 00 min"],
])("a measured time of %i ms is %s", (ms, text) => {
  expect(formatElapsed(ms)).toBe(text);
});

test("a time limit is shown in one unit", () => {
  expect([60, 999, 1_000, 2_540, 3_600_000].map(formatLimit)).toEqual(["60 ms", "999 ms", "1 s", "2.5 s", "3600 s"]);
});

test("a span is shown in its largest whole unit, and a single one without a number (fault 312)", () => {
  const spans = [7 * 86_400_000, 86_400_000, 36 * 3_600_000, 3_600_000, 1_500].map(formatLast);
  expect(spans).toEqual(["last 7 days", "last day", "last 36 hours", "last hour", "last 1,500 milliseconds"]);
});

test("a size is rounded to one decimal from 1 KB", () => {
  expect([0, 1_023, 1_024, 4_404_019, 2 ** 50].map(formatBytes)).toEqual([
    "0 B",
    "1023 B",
    "1.0 KB",
    "4.2 MB",
    "1024.0 TB",
  ]);
});

test("texts are cut where they differ, and an ellipsis marks each end that is missing (fault 147)", () => {
  expect(cutToDifference("same, then a", "same, then b", 20)).toEqual(["same, then a", "same, then b"]);
  expect(cutToDifference("short", "long and longer", 8)).toEqual(["short", "long and…"]);
  expect(cutToDifference("0123456789 a few words", "0123456789 b few words", 8)).toEqual(["…9 a few …", "…9 b few …"]);
});
