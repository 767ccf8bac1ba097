import { expect, test } from "vitest";
import { openSeenIds } from "../../src/service/compact/seen-ids.ts";

test("an id that was never set is not there, in an empty table either", () => {
  const seen = openSeenIds();
  expect(seen.get(1)).toBeUndefined();
  seen.set(1, 5);
  expect(seen.get(2)).toBeUndefined();
});

test("numbers, texts and ids beyond 2^53 are kept side by side, and the last value counts", () => {
  const seen = openSeenIds();
  seen.set(1, "text");
  seen.set(2, 7);
  seen.set(2n ** 60n, 9);
  seen.set(1, -1);
  seen.set(2, -1);
  expect([1, 2, 2n ** 60n].map(seen.get)).toEqual([-1, -1, 9]);
});

test("zero, negative ids and the largest exact one are ids like others", () => {
  const seen = openSeenIds();
  const ids = [0, -1, -(2 ** 40), Number.MAX_SAFE_INTEGER, 2 ** 32, 2 ** 32 + 1];
  for (const [at, id] of ids.entries()) seen.set(id, at);
  expect(ids.map(seen.get)).toEqual([0, 1, 2, 3, 4, 5]);
});

test("a table that grew many times holds what it held, in order or scattered", () => {
  const seen = openSeenIds();
  const idOf = (at: number) => (at % 2 === 0 ? at : at * 1_000_003);
  for (let at = 0; at < 50_000; at++) seen.set(idOf(at), at);
  const wrong = Array.from({ length: 50_000 }, (_, at) => at).filter((at) => seen.get(idOf(at)) !== at);
  expect(wrong).toEqual([]);
});
