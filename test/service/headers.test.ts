import { expect, it } from "vitest";
import { hasNextPage } from "../../src/service/http/headers.ts";

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
