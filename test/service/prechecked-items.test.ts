import fc from "fast-check";
import { expect, test } from "vitest";
import { createArraySplitter } from "../../src/service/wire/json-array.ts";
import { findUnstorable } from "../../src/service/wire/storable.ts";
import { readScenarioItem } from "../../src/service/wire/wire-scenarios.ts";

/** Splits a list in chunks of this size; returns its items and whether all of them need no check. */
function split(text: string, chunkSize: number): { items: string[]; prechecked: boolean } {
  const bytes = Buffer.from(text);
  const splitter = createArraySplitter();
  const items: string[] = [];
  let prechecked = true;
  for (let at = 0; at < bytes.length; at += chunkSize) {
    items.push(...splitter.push(bytes.subarray(at, at + chunkSize)).map(({ source }) => source));
    prechecked &&= splitter.prechecked();
  }
  splitter.end();
  return { items, prechecked };
}

const deep = (levels: number) => "[".repeat(levels) + "]".repeat(levels);

test.each([
  ['{"id":123456789012345,"at":"2024-09-19 15:24:41.3994461","n":[1.5,-2,true,false,null]}', true],
  ['{"id":1234567890123456}', false],
  ['{"id":1.00000000000000}', false],
  ['{"id":1e99,"at":[1E-99,-1.5e+10]}', true],
  ['{"id":1e100}', false],
  ['{"id":1E-100}', false],
  ['{"id":1E+100}', false],
  ['{"name":"caf\\u00e9"}', false],
  ['{"name":"12345678901234567890"}', false],
  [`{"deep":${deep(600)}}`, true],
  ["1", true],
])("%s needs no check: %s, wherever it is cut", (item, prechecked) => {
  for (const chunkSize of [1, 2, 3, 7, 10_000]) expect(split(`[${item}]`, chunkSize).prechecked).toBe(prechecked);
});

test("one item that needs a check affects its own chunk and no later one", () => {
  const splitter = createArraySplitter();
  splitter.push(Buffer.from('[{"a":1},{"a":1e500},{"a":2},'));
  expect(splitter.prechecked()).toBe(false);
  splitter.push(Buffer.from('{"a":3}]'));
  expect(splitter.prechecked()).toBe(true);
});

const numeral = fc.oneof(
  fc.integer().map(String),
  fc.bigInt({ min: -(2n ** 70n), max: 2n ** 70n }).map(String),
  fc
    .tuple(fc.integer({ min: 0, max: 9 }), fc.stringMatching(/^[0-9]{1,20}$/))
    .map(([whole, part]) => `${whole}.${part}`),
  fc
    .tuple(fc.integer(), fc.constantFrom("e", "E"), fc.constantFrom("", "+", "-"), fc.nat(2000))
    .map((parts) => parts.join("")),
);
const text = fc.oneof(
  fc.string({ unit: "grapheme" }).map((value) => JSON.stringify(value)),
  fc.stringMatching(/^(\\u[0-9a-f]{4}|[a-z0-9.]|\\\\|\\"){0,12}$/).map((value) => `"${value}"`),
);
const value = fc.oneof(
  numeral,
  text,
  fc.constantFrom("null", "true", "[]", "{}"),
  fc.integer({ min: 1, max: 600 }).map(deep),
);
const item = fc
  .array(fc.tuple(fc.constantFrom("scenarioId", "x", "y"), value), { maxLength: 5 })
  .map((fields) => `{${fields.map(([name, one]) => `"${name}":${one}`).join(", ")}}`);

test("an item that needs no check is parsed the same as with the check, wherever it is cut", () => {
  fc.assert(
    fc.property(fc.array(item, { maxLength: 4 }), fc.integer({ min: 1, max: 40 }), (items, chunkSize) => {
      const found = split(`[${items.join(",")}]`, chunkSize);
      expect(found.items).toEqual(items);
      if (!found.prechecked) return;
      for (const source of items) {
        const value = JSON.parse(source);
        expect(findUnstorable(source, value, true)).toEqual(findUnstorable(source, value));
        expect(readScenarioItem(value, source, true)).toEqual(readScenarioItem(value, source, false));
      }
    }),
    { numRuns: 2_000 },
  );
});
