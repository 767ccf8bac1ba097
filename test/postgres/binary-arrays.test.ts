import { expect, test } from "vitest";
import { boolArray, float8Array, int8Array, jsonbArray, textArray, timestamptzArray } from "../../src/db/statement.ts";
import { useTestDatabase } from "../support/database.ts";

const database = useTestDatabase({ empty: true });

/** Returns the array as Postgres reads it, each element as text. */
async function sent(type: string, array: Buffer): Promise<readonly (string | null)[]> {
  const rows = await database().query<{ element: string | null }>(
    `SELECT element::text FROM unnest($1::${type}[]) WITH ORDINALITY AS u(element, ord) ORDER BY ord`,
    [array],
  );
  return rows.map((row) => row.element);
}

test("texts arrive unchanged: empty, NULL, quotes, every UTF-8 width, and array syntax", async () => {
  const texts = ["", null, "NULL", '"', "\\", "{a,b}", " é€🌲 ", "\u0001\t\n", "x".repeat(70_000)];
  expect(await sent("text", textArray([...texts, undefined]))).toEqual([...texts, null]);
});

test("JSON arrives as spelled in its source, including every digit", async () => {
  const sources = ['{"a": 12345678901234567890.10}', null, '"é🌲"', "[1, 2]"];
  expect(await sent("jsonb", jsonbArray(sources))).toEqual(sources);
});

test("integers arrive exactly, around the limits of doubles and of their own type", async () => {
  const integers = [0, -1, null, 2 ** 53 - 1, 2n ** 53n + 1n, 2n ** 63n - 1n, -(2n ** 63n) + 1n];
  expect(await sent("int8", int8Array(integers))).toEqual(integers.map((one) => one?.toString() ?? null));
});

test("numbers, booleans and empty arrays arrive", async () => {
  expect(await sent("float8", float8Array([1.5, null, 1694444160.123]))).toEqual(["1.5", null, "1694444160.123"]);
  expect(await sent("bool", boolArray([true, null, false]))).toEqual(["true", null, "false"]);
  expect(await sent("text", textArray([]))).toEqual([]);
  expect(await sent("int8", int8Array([null]))).toEqual([null]);
});

test("moments arrive with microseconds, from the year 1 to the year 9999", async () => {
  const microseconds = [
    0n,
    -1n,
    1_726_759_481_399_446n,
    BigInt(Date.parse("0001-01-01T00:00:00Z")) * 1000n + 1n,
    BigInt(Date.parse("9999-12-31T23:59:59.999Z")) * 1000n + 999n,
  ];
  const rows = await database().query<{ moment: string }>(
    `SELECT to_char(moment AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS.US') AS moment
     FROM unnest($1::timestamptz[]) WITH ORDINALITY AS u(moment, ord) ORDER BY ord`,
    [timestamptzArray([...microseconds, null])],
  );
  expect(rows.map(({ moment }) => moment)).toEqual([
    "1970-01-01 00:00:00.000000",
    "1969-12-31 23:59:59.999999",
    "2024-09-19 15:24:41.399446",
    "0001-01-01 00:00:00.000001",
    "9999-12-31 23:59:59.999999",
    null,
  ]);
});

test("a text with a NUL is refused as bad data, as in text format", async () => {
  await expect(sent("text", textArray(["a\0b"]))).rejects.toMatchObject({ code: "22021" });
  await expect(sent("jsonb", jsonbArray(['{"a":']))).rejects.toMatchObject({ code: "22P02" });
});
