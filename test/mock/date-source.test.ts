import { expect, test } from "vitest";
import { createDateSource, type DateFormat } from "../support/mock/date-source.ts";

const AFTERNOON = "2023-09-11T14:56:12.097Z";

test.each<[DateFormat, string, string, string]>([
  ["minute", "UTC", AFTERNOON, "2023-09-11 at 2:56 PM"],
  ["minute", "UTC", "2024-02-29T00:05:00Z", "2024-02-29 at 12:05 AM"],
  ["minute", "UTC", "2024-02-29T12:05:00Z", "2024-02-29 at 12:05 PM"],
  ["milliseconds", "UTC", AFTERNOON, "2023-09-11T14:56:12.097Z"],
  ["day", "+14:00", AFTERNOON, "2023-09-12"],
  ["milliseconds", "+05:30", AFTERNOON, "2023-09-11T20:26:12.097+05:30"],
  ["seconds", "America/Vancouver", AFTERNOON, "2023-09-11T07:56:12-07:00"],
  // Two moments of an autumn night share one text.
  ["minute", "America/Vancouver", "2024-11-03T08:30:00Z", "2024-11-03 at 1:30 AM"],
  ["minute", "America/Vancouver", "2024-11-03T09:30:00Z", "2024-11-03 at 1:30 AM"],
])("writes in the format %s in %s the moment %s as %s", (format, zone, date, text) => {
  expect(createDateSource({ format, zone }).text(new Date(date))).toBe(text);
});

test("writes ticks with seven digits of the second, and the date of a run with the month's name", () => {
  const source = createDateSource({ format: "ticks" });
  expect(source.text(new Date(AFTERNOON))).toMatch(/^2023-09-11 14:56:12\.097\d{4}$/);
  expect(source.runText(new Date("2024-03-20T16:27:00Z"))).toBe("20-Mar-2024 4:27 PM");
});
