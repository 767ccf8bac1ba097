import { setImmediate } from "node:timers/promises";
import { crc32 } from "node:zlib";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { ScenarioId } from "../../src/model.ts";
import { InvalidResponse } from "../../src/service/wire/item-checks.ts";
import { readScenarioList } from "../../src/service/wire/wire-scenarios.ts";
import { bodyOf, type CollectingSink, collect } from "./service-under-test.ts";

const KEY = { owner: "ann", name: "Lib" };

/** An in-memory sink that also keeps the batches in order. */
function collectBatches(): CollectingSink & { readonly batches: ScenarioId[][] } {
  const sink = collect();
  const batches: ScenarioId[][] = [];
  return {
    ...sink,
    batches,
    async add(batch) {
      batches.push(batch.map(({ id }) => id));
      await sink.add(batch);
    },
    async remove(id) {
      // A staging table answers later, too.
      await setImmediate();
      await sink.remove(id);
    },
  };
}

async function read(...batches: readonly (readonly string[])[]) {
  const sink = collectBatches();
  const parts = batches.filter(({ length }) => length > 0).map((sources) => sources.join(","));
  const body = bodyOf(...`[${parts.join(",\f")}]`.split("\f"));
  const found = await readScenarioList(body, KEY, sink, new AbortController().signal);
  return { ...found, scenarios: [...sink.scenarios.values()], batches: sink.batches };
}

function reject(code: string, path: string, reason: string, payload: string) {
  return { key: KEY, kind: "scenario", code, path, reason, payload };
}

test("readable scenarios reach the sink unchanged, in their original batches and order", async () => {
  const full =
    '{"scenarioId":2,"parentId":1,"scenarioName":"A ([1] @ 13-Oct-2024 10:00 AM)","isResult":true,"lastModified":"2024-10-13 at 10:00 AM","description":"é","more":{"a":[1.0]}}';
  const bare = '{ "scenarioId": 1 }';
  const { scenarios, rejects, items, batches, present } = await read([full, bare], [], ['{"scenarioId":7}']);
  expect(scenarios.slice(0, 2)).toEqual([
    {
      id: 2,
      parentId: 1,
      name: "A ([1] @ 13-Oct-2024 10:00 AM)",
      isResult: true,
      lastModified: "2024-10-13 at 10:00 AM",
      description: "é",
      source: full,
    },
    { id: 1, parentId: null, name: null, isResult: null, lastModified: null, description: null, source: bare },
  ]);
  expect({ rejects, items, batches, present }).toEqual({
    rejects: [],
    items: 3,
    batches: [[2, 1], [7]],
    present: { scenarioName: 1, isResult: 1, lastModified: 1 },
  });
});

describe("integers are parsed exactly or rejected (faults 35, 36)", () => {
  const BEYOND = "an integer beyond ±(2^63−1)";
  const FRACTION = "a number with a fraction, an integer was expected";
  test.each([
    ["9223372036854775808", "out_of_range", BEYOND],
    ["-9223372036854775808", "out_of_range", BEYOND],
    ["1e400", "out_of_range", BEYOND],
    ["1.5", "wrong_type", FRACTION],
    ["1.00000000000000000001", "wrong_type", FRACTION],
    ["45035996273704.9999", "wrong_type", FRACTION],
    ["1e-400", "wrong_type", FRACTION],
    ['"5"', "wrong_type", "a string, an integer was expected"],
    ["[1]", "wrong_type", "a list, an integer was expected"],
  ])("%s is rejected", async (numeral, code, what) => {
    const asId = `{"scenarioId":${numeral}}`;
    const asParent = `{"scenarioId":2,"parentId":${numeral}}`;
    const { scenarios, rejects, items } = await read([asId, asParent, '{"scenarioId":3}']);
    expect(rejects).toEqual([
      reject(code, "scenarioId", `scenarioId is ${what}`, asId),
      reject(code, "parentId", `parentId is ${what}`, asParent),
    ]);
    expect(scenarios.map(({ id }) => id)).toEqual([3]);
    expect(items).toBe(3);
  });

  test("any spelling of an integer is parsed exactly or rejected", async () => {
    const digits = fc.stringMatching(/^(0|[1-9][0-9]{0,19})$/);
    const fraction = fc.stringMatching(/^[0-9]{0,18}$/);
    const numeral = fc.record({ minus: fc.boolean(), digits, fraction, exponent: fc.integer({ min: -40, max: 40 }) });
    await fc.assert(
      fc.asyncProperty(numeral, async ({ minus, digits, fraction, exponent }) => {
        const text = `${minus ? "-" : ""}${digits}${fraction && "."}${fraction}${exponent === 0 ? "" : `e${exponent}`}`;
        const power = exponent - fraction.length;
        const all = BigInt(minus ? -1 : 1) * BigInt(digits + fraction);
        const [dividend, divisor] = power < 0 ? [all, 10n ** BigInt(-power)] : [all * 10n ** BigInt(power), 1n];
        const integer = dividend / divisor;
        const isRead = dividend % divisor === 0n && -(2n ** 63n) < integer && integer < 2n ** 63n;

        const { scenarios } = await read([`{"scenarioId":${text}}`]);
        expect(scenarios.map(({ id }) => BigInt(id))).toEqual(isRead ? [integer] : []);
      }),
      { numRuns: 3_000 },
    );
  });

  const escapedId = [..."scenarioId"].map((one) => `\\u00${one.charCodeAt(0).toString(16)}`).join("");
  test.each([
    ["whose key has an escaped letter", '{"scenario\\u0049d":9007199254740993}'],
    ["whose key is all escapes", `{"${escapedId}":9007199254740993,"parentId":1.0000000000000000}`],
    ["that a later equal key overrides", '{"scenarioId":9007199254740995,"scenarioId":9007199254740993}'],
    [
      "next to a long description",
      `{"description":${JSON.stringify('1234567890123456 \\" '.repeat(50_000))},"scenarioId":9007199254740993}`,
    ],
  ])("an id %s is exact", async (_, source) => {
    expect(await read([source])).toMatchObject({ scenarios: [{ id: 9007199254740993n }], rejects: [] });
  });
});

const BAD_TEXT = "holds a NUL or half of a surrogate pair";
const TOO_WIDE =
  "holds a number that Postgres cannot store: it has room for 131072 digits before the point and 16383 after it";

describe("an item that cannot be stored is a reject, and the others are stored", () => {
  test.each([
    ["null", "not_an_object", "", "is null, an object was expected"],
    ['[{"scenarioId":1}]', "not_an_object", "", "is a list, an object was expected"],
    ['{"scenarioName":"A"}', "missing_field", "scenarioId", "is missing, an integer was expected"],
    ['{"scenarioId":null}', "missing_field", "scenarioId", "is null, an integer was expected"],
    ['{"scenarioId":1,"isResult":0}', "wrong_type", "isResult", "is a number, a boolean was expected"],
    ['{"scenarioId":1,"lastModified":{}}', "wrong_type", "lastModified", "is an object, a string was expected"],
    ['{"scenarioId":1,"a":{"b":[0,{"c":"\\uD83C"}]}}', "bad_text", "a.b[1].c", BAD_TEXT],
    ['{"scenarioId":1,"a":{"\\u0000":0}}', "bad_text", "a.?", BAD_TEXT],
    ['{"scenarioId":1,"a":"\\u0000","a":"b"}', "bad_text", "", BAD_TEXT],
    ['{"scenarioId":1,"a":[1e131072]}', "out_of_range", "a[0]", TOO_WIDE],
    ['{"scenarioId":1,"a":1e-16384,"a":1}', "out_of_range", "", TOO_WIDE],
  ])("%s (faults 33, 36)", async (source, code, path, what) => {
    const { scenarios, rejects, items } = await read([source, '{"scenarioId":3}']);
    expect(rejects).toEqual([reject(code, path, `${path || "the item"} ${what}`, source)]);
    expect(scenarios.map(({ id }) => id)).toEqual([3]);
    expect(items).toBe(2);
  });

  test.each([
    '{"scenarioId":1,"a":"\\\\u0000"}',
    '{"scenarioId":1,"a":"\\ud83c\\udf32"}',
    '{"scenarioId":1,"a":"\\\\ud83c"}',
    '{"scenarioId":1,"a":1e131071,"b":1e-16383,"c":"1e-99999"}',
    '{"scenarioId":1,"__proto__":{"scenarioId":"x"}}',
    JSON.stringify({ scenarioId: 1, a: '[{\\"'.repeat(600) }),
  ])("%.80s is accepted", async (source) => {
    expect(await read([source])).toMatchObject({ scenarios: [{ id: 1, source }], rejects: [] });
  });

  test("nesting of 500 levels is stored, of 501 rejected, and of 100,000 does no harm", async () => {
    const nest = (id: number, levels: number) =>
      `{"scenarioId":${id},"a":${"[".repeat(levels - 1)}"]["${"]".repeat(levels - 1)}}`;
    const { scenarios, rejects } = await read([nest(1, 500), nest(2, 501), nest(3, 100_000)]);
    expect(scenarios.map(({ id }) => id)).toEqual([1]);
    expect(rejects.map(({ code, path }) => ({ code, path }))).toEqual([
      { code: "too_deep", path: "" },
      { code: "too_deep", path: "" },
    ]);
  });
});

describe("items with the same id", () => {
  const one = '{"scenarioId":1,"scenarioName":"A"}';
  const other = '{"scenarioId":1,"scenarioName":"B"}';
  const bad = '{"scenarioId":1,"isResult":"yes"}';
  const deep = `{"scenarioId":1,"a":${"[".repeat(501)}${"]".repeat(501)}}`;
  const long = "k".repeat(50);

  test.each([
    [one, '{ "scenarioName": "\\u0041", "scenarioId": 1.0 }'],
    ['{"scenarioId":1,"a":12345678901234567890,"b":1}', '{"b":1.0,"a":1234567890123456789e1,"scenarioId":1e0}'],
    ['{"scenarioId":1,"a":-0}', '{"scenarioId":1,"a":0.0}'],
    ['{"scenarioId":1,"a":1,"a":2}', '{"scenarioId":1,"a":2}'],
    [`{"scenarioId":1,"${"é".repeat(50)}":100}`, `{"scenarioId":1,"${"\\u00e9".repeat(50)}":1E+2}`],
  ])("that are equal are stored once: %s and %s (fault 29)", async (first, second) => {
    const { scenarios, rejects, items } = await read([first, first, second], [second, first]);
    expect(rejects).toEqual([]);
    expect(scenarios).toMatchObject([{ id: 1, source: first }]);
    expect(items).toBe(5);
  });

  test.each([
    ["in a field", one, other],
    ["in the spelling of a large id, and a field", '{"scenarioId":1e15}', '{"scenarioId":1000000000000000,"a":1}'],
    ["in a long unknown key", `{"scenarioId":1,"${long}1":1.0000000000000000}`, `{"scenarioId":1,"${long}2":1}`],
    [
      "beyond a double's precision",
      `{"scenarioId":1,"${long}1":0.10000000000000000001,"${long}2":1}`,
      `{"scenarioId":1,"${long}1":0.10000000000000000002,"${long}2":1}`,
    ],
    ["in a long value", `{"scenarioId":1,"a":"${long}1"}`, `{"scenarioId":1,"a":"${long}2"}`],
    ["in the type of a value", '{"scenarioId":1,"a":1}', '{"scenarioId":1,"a":"1"}'],
    ["in the key __proto__", '{"scenarioId":1,"__proto__":1}', '{"scenarioId":1,"__proto__":2}'],
  ])("that differ %s are all rejected, of one batch or of several", async (_, first, second) => {
    for (const batches of [[[first, second, first]], [[first], [second], [first]]]) {
      const { scenarios, rejects } = await read(...batches, ['{"scenarioId":2}']);
      expect(scenarios.map(({ id }) => id)).toEqual([2]);
      const reason = "another item of the list has the same scenarioId and says something else";
      expect(rejects).toEqual(
        [first, second, first].map((payload) => reject("contradiction", "scenarioId", reason, payload)),
      );
    }
  });

  test.each([
    ["a bad one", bad, "wrong_type"],
    ["one that nests too deep", deep, "too_deep"],
  ])("of which %s also rejects a good one, in either order", async (_, item, code) => {
    const codes = [code, "contradiction"];
    for (const [items, expected] of [[[item, one], codes] as const, [[one, item], codes.toReversed()] as const]) {
      const { scenarios, rejects } = await read(items);
      expect(scenarios).toEqual([]);
      expect(rejects.map((each) => each.code)).toEqual(expected);
    }
  });

  test("are not those whose ids are only equal as doubles (fault 35)", async () => {
    const { scenarios } = await read(['{"scenarioId":9007199254740993}', '{"scenarioId":9007199254740992}']);
    expect(scenarios.map(({ id }) => id)).toEqual([9007199254740993n, 9007199254740992n]);
  });

  test("are also found in a long list, even with equal CRC-32 (fault 29)", async () => {
    const list = Array.from({ length: 3000 }, (_, id) => `{"scenarioId":${id},"scenarioName":"A"}`);
    const [first, second] = ["HTtiMYK4", "PwdnvYKO"].map((name) => `{"scenarioId":3000,"scenarioName":"${name}"}`);
    const repeats = ['{"scenarioId":2998,"scenarioName":"A"}', '{"scenarioId":2999,"scenarioName":"B"}', second ?? ""];
    expect(crc32(first ?? "")).toBe(crc32(second ?? ""));
    const { scenarios, rejects, items } = await read([...list, first ?? ""], repeats);
    expect(scenarios).toHaveLength(2999);
    expect(rejects.map(({ payload }) => payload)).toEqual([list[2999], repeats[1], first, second]);
    expect(items).toBe(3004);
  });
});

describe("a list that cannot be from the service", () => {
  const placeholder =
    '{"scenarioId":"integer","parentId":"integer","scenarioName":"string","isResult":"boolean","lastModified":"string","description":"string"}';

  test("placeholder words are reported as those of the mock", async () => {
    await expect(read([placeholder, placeholder])).rejects.toThrow(InvalidResponse);
    await expect(read([placeholder])).rejects.toThrow(
      /placeholder words.*SIMCAT_BASE_URL points at a mock, and nothing was stored/,
    );
  });

  test("a placeholder item among others is an ordinary reject", async () => {
    const { scenarios, rejects } = await read(['{"scenarioId":1}', placeholder]);
    expect(scenarios).toHaveLength(1);
    expect(rejects).toMatchObject([{ code: "wrong_type", path: "scenarioId" }]);
  });

  test("items that lack every field of a scenario are rejected as a whole (fault 11)", async () => {
    await expect(read(['{"message":"error"}', "null"])).rejects.toThrow(
      new InvalidResponse("a list of 2 items without one field of a scenario"),
    );
  });
});
