import { expect, test } from "vitest";
import { UTC_DATES } from "../../src/mock/date-source.ts";

test.each([
  ["2024-02-29T00:05:00Z", "2024-02-29 at 12:05 AM"],
  ["2024-02-29T12:05:00Z", "2024-02-29 at 12:05 PM"],
  ["2023-09-11T14:56:12.097Z", "2023-09-11 at 2:56 PM"],
])("writes %s as the service does: %s", (date, text) => {
  expect(UTC_DATES.text(new Date(date))).toBe(text);
});

test("writes the date of a run with the month's name", () => {
  expect(UTC_DATES.runText(new Date("2024-03-20T16:27:00Z"))).toBe("20-Mar-2024 4:27 PM");
});
