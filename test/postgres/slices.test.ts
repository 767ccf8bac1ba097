import fc from "fast-check";
import { expect, test } from "vitest";
import { isInSlice, isInSliceSql } from "../../src/slice.ts";
import { useTestDatabase } from "../support/database.ts";

const database = useTestDatabase();

/** Well-formed texts, among them astral characters, controls, the separator and the empty text. */
const part = fc.oneof(
  fc.string({ unit: "grapheme", maxLength: 12 }),
  fc.string({ unit: fc.constantFrom("\x1f", "a", "🌲", "é", "\u{10ffff}", "\n"), maxLength: 6 }),
);
const key = fc.record({ owner: part, name: part });

test("Node and SQL put each of 10,000 keys into the same one of eight slices of nearly one size", async () => {
  const isStorable = ({ owner, name }: { owner: string; name: string }) => !`${owner}${name}`.includes("\0");
  const drawn = fc.sample(key, { numRuns: 4_000, seed: 7 }).filter(isStorable);
  const keys = [
    ...drawn,
    ...Array.from({ length: 10_000 - drawn.length }, (_, at) => ({ owner: "ann", name: `Lib ${at}` })),
  ];
  const slices = Array.from({ length: 8 }, (_, at) => ({ index: at + 1, count: 8 }));

  const inNode = keys.map((one) => slices.filter((slice) => isInSlice(slice, one)).map(({ index }) => index));
  const rows = await database().query<{ slices: number[] }>(
    `SELECT ARRAY(SELECT i FROM generate_series(1, 8) i WHERE ${isInSliceSql("(i || '/8')")} ORDER BY i) AS slices
     FROM unnest($1::text[], $2::text[]) WITH ORDINALITY AS k(owner, library_name, at) ORDER BY at`,
    [keys.map(({ owner }) => owner), keys.map(({ name }) => name)],
  );

  expect(rows.map((row) => row.slices)).toEqual(inNode);
  expect(new Set(inNode.map((found) => found.length))).toEqual(new Set([1]));
  const unique = [...new Set(keys.map(({ owner, name }) => JSON.stringify([owner, name])))].map((text) => {
    const [owner = "", name = ""]: string[] = JSON.parse(text);
    return { owner, name };
  });
  const sizes = slices.map((slice) => unique.filter((one) => isInSlice(slice, one)).length);
  for (const size of sizes) expect(Math.abs(size / (unique.length / 8) - 1)).toBeLessThan(0.1);
});
