import { expect, it } from "vitest";
import { cachedMs, hasNextPage, parseHttpDate, parseRetryAfter } from "../../src/service/http/response.ts";

const NOON = Date.UTC(2026, 0, 15, 12, 0, 0);
const AT_NOON = "Thu, 15 Jan 2026 12:00:00 GMT";
const AFTER_NOON = "Thu, 15 Jan 2026 12:00:05 GMT";

it.each([
  ['</libs?page=2>; rel="next"', true],
  ["</libs?page=2>; rel=next", true],
  ['</libs?page=2>; REL="Next"', true],
  ['<a>; rel="prev", <b>; title="more, later"; rel="next"', true],
  ['<a>; rel="last next"', true],
  ["<a>; rel='next'", true],
  ['<a>; title="x"; rel = "next"', true],
  ["", false],
  ['</libs>; rel="prev"', false],
  ['</libs?rel=next>; rel="self"', false],
  ['</libs;rel=next>; rel="first"', false],
  ['<a>; title="; rel=next"; rel="up"', false],
  ["<a>; rel=nextish", false],
  ["<a>; rev=next", false],
  ["</next>", false],
])("a Link header of %j has a next page: %j", (link, expected) => {
  expect(hasNextPage(link)).toBe(expected);
});

it.each([
  [undefined, 0],
  ["0", 0],
  ["0, 0", 0],
  [" 60 ", 60_000],
  ["0.5", 500],
  ["60, 70", 70_000],
  ["31536000", 365 * 24 * 3_600_000],
  ["31536001", Number.POSITIVE_INFINITY],
  ["9".repeat(400), Number.POSITIVE_INFINITY],
  ["60, soon", Number.POSITIVE_INFINITY],
  ["-1", Number.POSITIVE_INFINITY],
  ["1e3", Number.POSITIVE_INFINITY],
  ["", Number.POSITIVE_INFINITY],
])("reads how long a cache held a response with Age: %s (fault 178)", (age, ms) => {
  expect(cachedMs(age === undefined ? {} : { age })).toBe(ms);
});

it.each([
  ["Sun, 06 Nov 1994 08:49:37 GMT", Date.UTC(1994, 10, 6, 8, 49, 37)],
  [AFTER_NOON, NOON + 5000],
  ["", null],
  ["2026-01-15T12:00:00Z", null],
  ["Thu, 15 Jan 2026 12:00:00 CET", null],
  ["Thu, 31 Feb 2026 12:00:00 GMT", null],
  ["Fri, 15 Jan 2026 12:00:00 GMT", null],
  ["Sunday, 06-Nov-94 08:49:37 GMT", null],
  ["Sun Nov  6 08:49:37 1994", null],
  ["tomorrow", null],
  ["Invalid Date", null],
])("parses only the date format of HTTP: %j", (text, expected) => {
  expect(parseHttpDate(text)).toBe(expected);
});

it.each([
  ["2", 2000],
  [" 120 ", 120_000],
  [AFTER_NOON, 5000],
  ["8640000000001", 365 * 86_400_000],
  ["9".repeat(400), 365 * 86_400_000],
  [null, null],
  ["0", null],
  ["-1", null],
  ["1.5", null],
  ["+3", null],
  ["1e3", null],
  ["soon", null],
  ["", null],
  ["2, 3", null],
  [AT_NOON, null],
  ["Thu, 15 Jan 2026 11:59:59 GMT", null],
])("waits for a Retry-After of %j: %j ms (fault 19)", (value, expected) => {
  expect(parseRetryAfter(value, null, NOON)).toBe(expected);
});

it("measures a Retry-After against the Date of the answer, so that a wrong local clock has no effect", () => {
  expect(parseRetryAfter(AFTER_NOON, AT_NOON, NOON + 3_600_000)).toBe(5000);
  expect(parseRetryAfter(AFTER_NOON, "now", NOON)).toBe(5000);
});
