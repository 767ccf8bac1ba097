import { expect, test } from "vitest";
import { hashInteger, hashKey } from "../src/hash.ts";

test("the hash of a key is the same on every machine, and another one with a seed", () => {
  const key = { owner: "ann", name: "Lib" };
  expect([hashKey(key), hashKey(key, 7)]).toEqual([3949316141, 2504389330]);
  expect(hashKey({ owner: "🌲", name: "é" })).toBe(1500312783);
});

test("moving a character from the name to the owner changes the hash of a key", () => {
  expect(hashKey({ owner: "annL", name: "ib" })).not.toBe(hashKey({ owner: "ann", name: "Lib" }));
});

test("the hash of an integer depends on both of its halves, its sign and the seed", () => {
  const values = [1, -2, 2 ** 32 + 1, 2 ** 33 + 1].map((value) => hashInteger(value, 0));
  expect(new Set([...values, hashInteger(1, 5)]).size).toBe(5);
  expect(hashInteger(1, 0)).toBe(1364076727);
});
