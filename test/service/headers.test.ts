import { expect, it } from "vitest";
import { cachedMs, hasNextPage } from "../../src/service/http/headers.ts";

it.each([
  '</libs?page=2>; rel="next"',
  "</libs?page=2>; rel=next",
  "</libs?page=2>;rel=NEXT",
  '</libs?page=2>; REL="Next"',
  '<a>; rel="prev", <b>; title="more, later"; rel="next"',
  '<a>; rel="last next"',
  "<a>; rel='next'",
  '<a>; title="x"; rel = "next"',
])("detects a next page in %s", (link) => {
  expect(hasNextPage(link)).toBe(true);
});

it.each([
  "",
  '</libs>; rel="prev"',
  '</libs?rel=next>; rel="self"',
  '</libs;rel=next>; rel="first"',
  '<a>; title="; rel=next"; rel="up"',
  "<a>; rel=nextish",
  "<a>; rev=next",
  "</next>",
])("detects no next page in %j", (link) => {
  expect(hasNextPage(link)).toBe(false);
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
