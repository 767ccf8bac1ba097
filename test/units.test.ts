import { expect, test } from "vitest";
import { formatDuration, formatShare, formatSize, isOver, parseDuration, parseShare, parseSize } from "../src/units.ts";

test.each([
  ["500ms", 500],
  ["60s", 60_000],
  ["15m", 900_000],
  ["24h", 86_400_000],
  ["36h", 129_600_000],
  ["7d", 604_800_000],
])("%j is a duration", (text, ms) => {
  expect(parseDuration(text)).toBe(ms);
  expect(parseDuration(formatDuration(ms))).toBe(ms);
});

test.each([
  ["64KiB", 65_536],
  ["512MiB", 536_870_912],
  ["1GiB", 1_073_741_824],
  ["1000B", 1000],
])("%j is a size", (text, bytes) => {
  expect(parseSize(text)).toBe(bytes);
  expect(formatSize(bytes)).toBe(text);
});

test("formats a duration in its largest whole unit", () => {
  expect([500, 60_000, 90_000, 604_800_000].map(formatDuration)).toEqual(["500ms", "1m", "90s", "7d"]);
});

test.each([
  ["30%", 300_000],
  ["0%", 0],
  ["0.0001%", 1],
  ["33.3%", 333_000],
  ["99.9999%", 999_999],
  ["100%", 1_000_000],
])("%s is a share in millionths, and is formatted unchanged", (text, share) => {
  expect(parseShare(text)).toBe(share);
  expect(formatShare(share)).toBe(text);
});

test.each([
  [parseDuration, ["", "60", "0s", "-1s", "1.5h", "1 h", "1H", "1w", "1e3s", "s", " 1s", "99999999999999999d"]],
  [parseSize, ["", "512", "512MB", "1.5GiB", "0B", "-1B", "1gib"]],
  [parseShare, ["", "30", "0.3", "101%", "100.1%", "-1%", "%", "1.23456%", "1e1%"]],
])("%o accepts none of %j", (parse, texts) => {
  expect(texts.filter((text) => parse(text) !== null)).toEqual([]);
});

test("over a share means strictly more, without rounding errors", () => {
  expect(isOver(3, 10, 300_000)).toBe(false);
  expect(isOver(4, 10, 300_000)).toBe(true);
  expect(isOver(300_000, 1_000_000, 300_000)).toBe(false);
  expect(isOver(300_001, 1_000_000, 300_000)).toBe(true);
});
