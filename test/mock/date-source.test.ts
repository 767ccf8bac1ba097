import { expect, test } from "vitest";
import { createDateSource, type DateFormat } from "../support/mock/date-source.ts";

const AFTERNOON = "2023-09-11T14:56:12.097Z";

const format = (date: string, format: DateFormat, zone: string): string =>
  createDateSource({ format, zone }).text(new Date(date));

test.each<[DateFormat, string, string]>([
  ["minute", "UTC", "2023-09-11 at 2:56 PM"],
  ["milliseconds", "UTC", "2023-09-11T14:56:12.097Z"],
  ["seconds", "UTC", "2023-09-11T14:56:12Z"],
  ["day", "UTC", "2023-09-11"],
  ["minute", "America/Vancouver", "2023-09-11 at 7:56 AM"],
  ["seconds", "America/Vancouver", "2023-09-11T07:56:12-07:00"],
  ["day", "+14:00", "2023-09-12"],
  ["milliseconds", "+05:30", "2023-09-11T20:26:12.097+05:30"],
])("writes %s in %s as %s", (name, zone, text) => {
  expect(format(AFTERNOON, name, zone)).toBe(text);
});

test("writes ticks with seven digits of the second, the first three of them true", () => {
  expect(format(AFTERNOON, "ticks", "UTC")).toMatch(/^2023-09-11 14:56:12\.097\d{4}$/);
});

test("writes midnight and noon as twelve", () => {
  expect(format("2024-02-29T00:05:00Z", "minute", "UTC")).toBe("2024-02-29 at 12:05 AM");
  expect(format("2024-02-29T12:05:00Z", "minute", "UTC")).toBe("2024-02-29 at 12:05 PM");
});

test("writes the two moments of an autumn night that share one text", () => {
  expect(format("2024-11-03T08:30:00Z", "minute", "America/Vancouver")).toBe("2024-11-03 at 1:30 AM");
  expect(format("2024-11-03T09:30:00Z", "minute", "America/Vancouver")).toBe("2024-11-03 at 1:30 AM");
});

test("writes the date of a run with the month's name", () => {
  expect(createDateSource().runText(new Date("2024-03-20T16:27:00Z"))).toBe("20-Mar-2024 4:27 PM");
});
