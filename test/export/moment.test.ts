import { expect, test } from "vitest";
import { parseMoment } from "../../src/export/export-state.ts";

test.each([
  ["2026-07-01", "2026-07-01"],
  ["2024-02-29", "2024-02-29"],
  ["0001-01-01", "0001-01-01"],
  ["9999-12-31T23:59:59.999999Z", "9999-12-31T23:59:59.999999Z"],
  ["2026-07-01T12:00", "2026-07-01T12:00Z"],
  ["2026-07-01 12:00:00.5", "2026-07-01 12:00:00.5Z"],
  ["2026-07-01T12:00:00+05:30", "2026-07-01T12:00:00+05:30"],
  ["2026-07-01T12:00:00-0800", "2026-07-01T12:00:00-0800"],
])("%s is the time %s", (text, iso) => {
  expect(parseMoment("--since", text)).toEqual({ iso });
});

test.each([
  ["7d", 604_800_000],
  ["36h", 129_600_000],
  ["36500d", 3_153_600_000_000],
])("%s is %i ms ago", (text, agoMs) => {
  expect(parseMoment("--since", text)).toEqual({ agoMs });
});

test.each([
  // Other formats.
  ...["", "yesterday", "2026-7-1", "2026-07-01Z", "12026-07-01", "2026-07-01; DROP TABLE x"],
  // Ages, days and times that do not exist.
  ...["0d", "36501d", "2026-02-29", "2026-00-10", "0000-01-01", "2026-07-01T24:00", "2026-07-01T12:00:60"],
  ...["2026-07-01T12:00:00.1234567", "2026-07-01T12:00:00+15:00"],
])("%j is not a moment", (text) => {
  expect(() => parseMoment("--since", text)).toThrow(`--since ${JSON.stringify(text)} is not a moment`);
});
