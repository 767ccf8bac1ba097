import { expect, test } from "vitest";
import { createIdSet } from "../../src/off-heap.ts";

/** More than the set keeps in a `Set`, so that later ids are stored in the tables. */
const MANY = Array.from({ length: 2_000 }, (_, at) => at + 10_000);

test.each([
  ["few", []],
  ["many", MANY],
])("an added id is found among %s others", (_, others) => {
  const seen = createIdSet();
  for (const id of others) seen.add(id);
  const ids = [0, -1, -(2 ** 40), Number.MAX_SAFE_INTEGER, 2 ** 32, 2 ** 32 + 1, 2n ** 60n];
  expect(ids.filter(seen.has)).toEqual([]);
  for (const id of ids) seen.add(id);
  expect(ids.filter(seen.has)).toEqual(ids);
  expect([1, 2, -2, 2 ** 33, 2n ** 60n + 1n].filter(seen.has)).toEqual([]);
});

test("a table that has grown many times still holds its ids, sequential or scattered", () => {
  const seen = createIdSet();
  const idOf = (at: number) => (at % 2 === 0 ? at : at * 1_000_003);
  for (let at = 0; at < 50_000; at++) seen.add(idOf(at));
  const all = Array.from({ length: 50_000 }, (_, at) => at);
  expect(all.filter((at) => !seen.has(idOf(at)))).toEqual([]);
  expect(all.filter((at) => seen.has(idOf(at) + 0.5))).toEqual([]);
});
