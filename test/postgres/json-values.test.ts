import fc from "fast-check";
import { expect, test } from "vitest";
import { fitsNumeric, jsonEqual } from "../../src/service/wire/storable-json.ts";
import { useTestDatabase } from "../support/database.ts";

const database = useTestDatabase({ empty: true });

/** Groups of texts that spell the same value. */
const NUMBERS = [
  ["1", "1.0", "10e-1", "1E0", "0.1e+1"],
  ["0", "-0", "0.0", "0e99"],
  ["-20", "-2e1", "-20.000"],
  ["12345678901234567890", "12345678901234567890.0", "1.2345678901234567890e19"],
  ["12345678901234567891"],
  ["0.1", "1e-1", "0.10000000000000000000000000"],
  ["0.10000000000000000001"],
  ["1e400", "10e399"],
];
const LONG = "k".repeat(45);
const STRINGS = [
  ['"a"', '"\\u0061"'],
  ['"é/"', '"\\u00E9\\/"', '"\\u00e9/"'],
  [`"${LONG}1"`, `"\\u006b${LONG.slice(1)}1"`],
  [`"${LONG}2"`],
  ['"__proto__"'],
  ['"1"', '"\\u0031"'],
];
const spelled = (spellings: readonly (readonly string[])[]) =>
  fc.constantFrom(...spellings).chain((some) => fc.constantFrom(...some));
const space = fc.constantFrom("", "", " ", "\n\t");
const scalar = fc.oneof(spelled(NUMBERS), spelled(STRINGS), fc.constantFrom("true", "false", "null"));
const { json } = fc.letrec<{ json: string; list: string; object: string }>((tie) => ({
  json: fc.oneof({ maxDepth: 3 }, scalar, tie("list"), tie("object")),
  list: fc
    .array(
      fc.tuple(space, tie("json"), space).map((parts) => parts.join("")),
      { maxLength: 3 },
    )
    .map((items) => `[${items.join(",")}]`),
  // Few distinct keys, so that many objects contain a duplicate key.
  object: fc
    .array(
      fc
        .tuple(space, spelled(STRINGS), space, tie("json"))
        .map(([before, key, after, value]) => `${before}${key}${after}:${value}${after}`),
      { maxLength: 3 },
    )
    .map((members) => `{${members.join(",")}}`),
}));

const TOKEN = /"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*/g;
const SPELLINGS = new Map([...NUMBERS, ...STRINGS].flatMap((some) => some.map((one) => [one, some] as const)));

/** The same value, with each number and string in its first spelling. */
const respell = (text: string) => text.replace(TOKEN, (token) => SPELLINGS.get(token)?.[0] ?? token);

test("two texts are equal exactly if their jsonb values are, and each equals the text that jsonb makes of it", async () => {
  const pairs = [
    ...fc.sample(fc.tuple(json, json), 4_000),
    ...fc.sample(json, 2_000).map((text) => [text, respell(text)] as const),
    ...fc.sample(fc.tuple(scalar, scalar), 1_000),
  ];
  const rows = await database().query<{ equal: boolean; made: string }>(
    `SELECT a::jsonb = b::jsonb AS equal, a::jsonb::text AS made
     FROM unnest($1::text[], $2::text[]) WITH ORDINALITY AS p(a, b, ord) ORDER BY ord`,
    [pairs.map(([a]) => a), pairs.map(([, b]) => b)],
  );
  expect(pairs.filter(([a, b], at) => jsonEqual(a, b) !== rows[at]?.equal)).toEqual([]);
  expect(pairs.filter(([a], at) => !jsonEqual(a, rows[at]?.made ?? ""))).toEqual([]);
  expect(pairs.filter(([a, b], at) => a !== b && rows[at]?.equal).length).toBeGreaterThan(100);
});

test.each([
  // Digits before the point.
  ...["1e131071", "1e131072", "9e131071", "-99e131070", "0.1e131072", "0.1e131073", "1e200000", "0e131073"],
  ...[`1${"0".repeat(131_071)}`, `1${"0".repeat(131_072)}`],
  // Digits after it.
  ...["1e-16383", "1e-16384", "0e-16383", "0e-16384", "10e-16384", "1.0e-16383"],
  ...[16_383, 16_384].map((count) => `0.${"0".repeat(count)}`),
  ...[`0.${"0".repeat(16_384)}e1`, `1.${"0".repeat(16_384)}`],
  // Exponents that are wide themselves.
  ...["1e1000000000", "0e1000000000", "0e2147483648", "1e99999999999999999999"],
])("%#: a number is called too wide exactly where jsonb refuses it", async (numeral) => {
  const isTaken = await database()
    .query("SELECT $1::jsonb IS NULL", [numeral])
    .then(
      () => true,
      () => false,
    );
  expect(fitsNumeric(numeral)).toBe(isTaken);
});
