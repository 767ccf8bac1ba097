import { setImmediate } from "node:timers/promises";
import { crc32 } from "node:zlib";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Scenario, ScenarioId, ScenarioSink } from "../../src/model.ts";
import { UntrustedResponse } from "../../src/service/json/parse-errors.ts";
import { createScenarioReader, type ScenarioList } from "../../src/service/wire/wire-scenarios.ts";

const KEY = { owner: "ann", name: "Lib" };

/** An in-memory sink that also keeps the batches in order. */
function collect(): ScenarioSink & { readonly scenarios: Map<ScenarioId, Scenario>; readonly batches: ScenarioId[][] } {
  const scenarios = new Map<ScenarioId, Scenario>();
  const batches: ScenarioId[][] = [];
  return {
    scenarios,
    batches,
    restart: async () => scenarios.clear(),
    add: async (batch) => {
      batches.push(batch.map(({ id }) => id));
      for (const scenario of batch) scenarios.set(scenario.id, scenario);
    },
    sources: async (ids) =>
      new Map(ids.flatMap((id) => (scenarios.has(id) ? [[id, scenarios.get(id)?.source ?? ""]] : []))),
    remove: async (id) => {
      // A staging table answers later, too.
      await setImmediate();
      scenarios.delete(id);
    },
  };
}

interface Read extends ScenarioList {
  readonly scenarios: readonly Scenario[];
  readonly batches: readonly ScenarioId[][];
}

async function read(...batches: readonly (readonly string[])[]): Promise<Read> {
  const sink = collect();
  const reader = createScenarioReader(KEY, sink);
  for (const sources of batches) await reader.add(sources.map((source) => ({ source, value: JSON.parse(source) })));
  return { ...(await reader.finish()), scenarios: [...sink.scenarios.values()], batches: sink.batches };
}

function reject(code: string, path: string, reason: string, payload: string) {
  return { key: KEY, kind: "scenario", code, path, reason, payload };
}

describe("readable scenarios", () => {
  test("reach the sink unchanged, in their original batches and order", async () => {
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

  test("null in every optional field stays null and counts as present (faults 37, 40)", async () => {
    const source =
      '{"scenarioId":1,"parentId":null,"scenarioName":null,"isResult":null,"lastModified":null,"description":null}';
    const { scenarios, present } = await read([source]);
    expect(scenarios).toEqual([
      { id: 1, parentId: null, name: null, isResult: null, lastModified: null, description: null, source },
    ]);
    expect(present).toEqual({ scenarioName: 1, isResult: 1, lastModified: 1 });
  });

  test("an empty list has no items", async () => {
    expect(await read([])).toMatchObject({ rejects: [], items: 0, scenarios: [] });
  });

  test("a parent that is zero, the scenario itself or missing is stored unchanged (fault 37)", async () => {
    const { scenarios } = await read([
      '{"scenarioId":1,"parentId":0}',
      '{"scenarioId":2,"parentId":2}',
      '{"scenarioId":3,"parentId":9}',
    ]);
    expect(scenarios.map(({ parentId }) => parentId)).toEqual([0, 2, 9]);
  });

  test("an isResult that contradicts parentId is stored (fault 38)", async () => {
    expect((await read(['{"scenarioId":1,"parentId":null,"isResult":true}'])).scenarios).toMatchObject([
      { isResult: true },
    ]);
  });
});

describe("integers are parsed exactly or rejected (faults 35, 36)", () => {
  test.each<[string, ScenarioId]>([
    ["0", 0],
    ["-0", 0],
    ["-5", -5],
    ["7.0", 7],
    ["1e2", 100],
    ["1.50E+1", 15],
    ["120e-1", 12],
    ["2147483648", 2147483648],
    ["9007199254740991", 9007199254740991],
    ["9007199254740992", 9007199254740992n],
    ["9007199254740993", 9007199254740993n],
    ["-9007199254740993", -9007199254740993n],
    ["9007199254740.993e3", 9007199254740993n],
    ["9.1e15", 9100000000000000n],
    ["9223372036854775807", 9223372036854775807n],
    ["9223372036854775807.000", 9223372036854775807n],
    ["-9223372036854775807", -9223372036854775807n],
    ["1.0000000000000000000000", 1],
    ["0e999999999", 0],
    ["1000000000000000000000000e-23", 10],
    ["80071992547409910e-1", 8007199254740991],
    ["1e3", 1000],
    ["1E+2", 100],
    ["-0.0e5", 0],
    [`0.${"0".repeat(400)}1e401`, 1],
  ])("%s is accepted", async (numeral, id) => {
    const { scenarios, rejects } = await read([`{"scenarioId":${numeral},"parentId":${numeral}}`]);
    expect(rejects).toEqual([]);
    expect(scenarios).toMatchObject([{ id, parentId: id }]);
    expect(Object.is(scenarios[0]?.id, -0)).toBe(false);
  });

  test.each([
    ["9223372036854775808", "out_of_range", "an integer beyond ±(2^63−1)"],
    ["-9223372036854775808", "out_of_range", "an integer beyond ±(2^63−1)"],
    ["1e19", "out_of_range", "an integer beyond ±(2^63−1)"],
    ["1e400", "out_of_range", "an integer beyond ±(2^63−1)"],
    ["1.5", "wrong_type", "a number with a fraction, an integer was expected"],
    ["1.00000000000000000001", "wrong_type", "a number with a fraction, an integer was expected"],
    ["80071992547409915e-1", "wrong_type", "a number with a fraction, an integer was expected"],
    ["123e-2", "wrong_type", "a number with a fraction, an integer was expected"],
    [`0.${"0".repeat(400)}1e400`, "wrong_type", "a number with a fraction, an integer was expected"],
    ["45035996273704.9999", "wrong_type", "a number with a fraction, an integer was expected"],
    ["1e-400", "wrong_type", "a number with a fraction, an integer was expected"],
    ['"5"', "wrong_type", "a string, an integer was expected"],
    ['"abc"', "wrong_type", "a string, an integer was expected"],
    ["true", "wrong_type", "a boolean, an integer was expected"],
    ["[1]", "wrong_type", "a list, an integer was expected"],
    ['{"value":"5"}', "wrong_type", "an object, an integer was expected"],
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

  test.each([
    ['{"scenarioName":"A"}', "missing"],
    ['{"scenarioId":null}', "null"],
  ])("%s has no id", async (source, what) => {
    const { rejects } = await read([source]);
    expect(rejects).toEqual([
      reject("missing_field", "scenarioId", `scenarioId is ${what}, an integer was expected`, source),
    ]);
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

  test("a key with escaped letters is the same key", async () => {
    const escapeAll = (key: string) =>
      [...key].map((one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, "0")}`).join("");
    const { scenarios, rejects } = await read([
      '{"scenario\\u0049d":9007199254740993}',
      `{"${escapeAll("scenarioId")}":9007199254740995,"parentId":1.0000000000000000}`,
    ]);
    expect(rejects).toEqual([]);
    expect(scenarios.map(({ id }) => id)).toEqual([9007199254740993n, 9007199254740995n]);
  });

  test("the last of two equal keys wins, as with JSON.parse", async () => {
    const { scenarios } = await read(['{"scenarioId":9007199254740993,"scenarioId":9007199254740995}']);
    expect(scenarios).toMatchObject([{ id: 9007199254740995n }]);
  });

  test("a long description next to a large id does not affect its exactness", async () => {
    const description = JSON.stringify('1234567890123456 \\" '.repeat(50_000));
    const { scenarios } = await read([`{"description":${description},"scenarioId":9007199254740993}`]);
    expect(scenarios).toMatchObject([{ id: 9007199254740993n }]);
  });
});

const TOO_WIDE =
  "holds a number that Postgres cannot store: it has room for 131072 digits before the point and 16383 after it";

describe("an item that cannot be stored is a reject, and the others are stored", () => {
  test.each([
    ["17", "not_an_object", "", "the item is a number, an object was expected"],
    ["null", "not_an_object", "", "the item is null, an object was expected"],
    ['[{"scenarioId":1}]', "not_an_object", "", "the item is a list, an object was expected"],
    [
      '{"scenarioId":1,"scenarioName":5}',
      "wrong_type",
      "scenarioName",
      "scenarioName is a number, a string was expected",
    ],
    ['{"scenarioId":1,"isResult":"yes"}', "wrong_type", "isResult", "isResult is a string, a boolean was expected"],
    ['{"scenarioId":1,"isResult":0}', "wrong_type", "isResult", "isResult is a number, a boolean was expected"],
    [
      '{"scenarioId":1,"lastModified":{}}',
      "wrong_type",
      "lastModified",
      "lastModified is an object, a string was expected",
    ],
    [
      '{"scenarioId":1,"description":false}',
      "wrong_type",
      "description",
      "description is a boolean, a string was expected",
    ],
    [
      '{"scenarioId":1,"description":"\\u0000"}',
      "bad_text",
      "description",
      "description holds a NUL or half of a surrogate pair",
    ],
    [
      '{"scenarioId":1,"a":{"b":[0,{"c":"\\uD83C"}]}}',
      "bad_text",
      "a.b[1].c",
      "a.b[1].c holds a NUL or half of a surrogate pair",
    ],
    ['{"scenarioId":1,"a":{"\\u0000":0}}', "bad_text", "a.?", "a.? holds a NUL or half of a surrogate pair"],
    ['{"scenarioId":1,"a":"\\u0000","a":"b"}', "bad_text", "", "the item holds a NUL or half of a surrogate pair"],
    ['{"scenarioId":1,"a":[1e131072]}', "out_of_range", "a[0]", `a[0] ${TOO_WIDE}`],
    ['{"scenarioId":1,"a":1e-16384,"a":1}', "out_of_range", "", `the item ${TOO_WIDE}`],
  ])("%s (faults 33, 36)", async (source, code, path, reason) => {
    const { scenarios, rejects, items } = await read([source, '{"scenarioId":3}']);
    expect(rejects).toEqual([reject(code, path, reason, source)]);
    expect(scenarios.map(({ id }) => id)).toEqual([3]);
    expect(items).toBe(2);
  });

  test.each([
    '{"scenarioId":1,"a":"\\\\u0000"}',
    '{"scenarioId":1,"a":"\\ud83c\\udf32"}',
    '{"scenarioId":1,"a":"\\\\ud83c"}',
    '{"scenarioId":1,"a":"\\u0001\\u00e9"}',
    '{"scenarioId":1,"a":1e131071}',
    '{"scenarioId":1,"a":1e-16383}',
    '{"scenarioId":1,"a":"1e-99999"}',
    '{"scenarioId":1,"__proto__":{"scenarioId":"x"}}',
  ])("%s is accepted", async (source) => {
    const { scenarios, rejects } = await read([source]);
    expect(rejects).toEqual([]);
    expect(scenarios).toMatchObject([{ id: 1, source }]);
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

  test("brackets within a long string do not count as nesting", async () => {
    const { rejects } = await read([JSON.stringify({ scenarioId: 1, a: '[{\\"'.repeat(600) })]);
    expect(rejects).toEqual([]);
  });
});

describe("items with the same id", () => {
  const one = '{"scenarioId":1,"scenarioName":"A"}';
  const same = '{ "scenarioName": "\\u0041", "scenarioId": 1.0 }';
  const other = '{"scenarioId":1,"scenarioName":"B"}';
  const reason = "another item of the list has the same scenarioId and says something else";

  test("that are equal are stored once (fault 29)", async () => {
    const { scenarios, rejects, items } = await read([one, one], [same, one]);
    expect(scenarios).toMatchObject([{ id: 1, source: one }]);
    expect(rejects).toEqual([]);
    expect(items).toBe(4);
  });

  test.each([
    ["of one batch", [[one, other]]],
    ["of two batches", [[one], [other]]],
  ])("that differ, %s, are both rejected", async (_, batches) => {
    const { scenarios, rejects } = await read(...batches, ['{"scenarioId":2}']);
    expect(scenarios.map(({ id }) => id)).toEqual([2]);
    expect(rejects).toEqual([
      reject("contradiction", "scenarioId", reason, one),
      reject("contradiction", "scenarioId", reason, other),
    ]);
  });

  test("a third one is rejected as well, even if it equals the first", async () => {
    const { scenarios, rejects } = await read([one, other, one]);
    expect(scenarios).toEqual([]);
    expect(rejects.map(({ payload }) => payload)).toEqual([one, other, one]);
  });

  test("a bad item also rejects a good one with its id, in either order", async () => {
    const bad = '{"scenarioId":1,"isResult":"yes"}';
    const before = await read([bad, one]);
    const behind = await read([one, bad]);
    expect([before.scenarios, behind.scenarios]).toEqual([[], []]);
    expect(before.rejects.map(({ code }) => code)).toEqual(["wrong_type", "contradiction"]);
    expect(behind.rejects.map(({ code }) => code)).toEqual(["contradiction", "wrong_type"]);
  });

  test("ids that are equal as doubles stay distinct (fault 35)", async () => {
    const { scenarios } = await read(['{"scenarioId":9007199254740993}', '{"scenarioId":9007199254740992}']);
    expect(scenarios.map(({ id }) => id)).toEqual([9007199254740993n, 9007199254740992n]);
  });

  test("equal large ids match in any spelling", async () => {
    const { rejects } = await read(['{"scenarioId":9007199254740993}', '{"scenarioId":9007199254740993.0,"a":1}']);
    expect(rejects).toHaveLength(2);
  });

  test("differences in unknown fields count, even beyond a double's precision", async () => {
    const { rejects } = await read([
      '{"scenarioId":1,"a":0.10000000000000000001}',
      '{"scenarioId":1,"a":0.10000000000000000002}',
    ]);
    expect(rejects).toHaveLength(2);
  });

  test.each([
    [
      "a long unknown key",
      `{"scenarioId":1,"${"k".repeat(50)}1":1.0000000000000000}`,
      `{"scenarioId":1,"${"k".repeat(50)}2":1.0000000000000000}`,
    ],
    [
      "digits under one of two long keys",
      `{"scenarioId":1,"${"k".repeat(50)}1":0.10000000000000000001,"${"k".repeat(50)}2":1}`,
      `{"scenarioId":1,"${"k".repeat(50)}1":0.10000000000000000002,"${"k".repeat(50)}2":1}`,
    ],
    ["a long value", `{"scenarioId":1,"a":"${"v".repeat(50)}1"}`, `{"scenarioId":1,"a":"${"v".repeat(50)}2"}`],
    ["the type of a value", '{"scenarioId":1,"a":1}', '{"scenarioId":1,"a":"1"}'],
    ["the key __proto__", '{"scenarioId":1,"__proto__":1}', '{"scenarioId":1,"__proto__":2}'],
  ])("that differ in %s are both rejected", async (_, first, second) => {
    const { scenarios, rejects } = await read([first, second]);
    expect(scenarios).toEqual([]);
    expect(rejects.map(({ payload }) => payload)).toEqual([first, second]);
  });

  test.each([
    ['{"scenarioId":1,"a":12345678901234567890,"b":1}', '{"b":1.0,"a":1234567890123456789e1,"scenarioId":1e0}'],
    ['{"scenarioId":1,"a":-0}', '{"scenarioId":1,"a":0.0}'],
    ['{"scenarioId":1,"a":1,"a":2}', '{"scenarioId":1,"a":2}'],
    [`{"scenarioId":1,"${"é".repeat(50)}":100}`, `{"scenarioId":1,"${"\\u00e9".repeat(50)}":1E+2}`],
  ])("%s and %s are equal", async (first, second) => {
    const { scenarios, rejects } = await read([first, second], [second, first]);
    expect(rejects).toEqual([]);
    expect(scenarios).toMatchObject([{ id: 1, source: first }]);
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

  test("a list that repeats every item looks up the first ones in batches of hundred", async () => {
    const list = Array.from({ length: 250 }, (_, id) => `{"scenarioId":${id}}`);
    const sink = collect();
    const asked: number[] = [];
    const counting: ScenarioSink = {
      ...sink,
      sources: (ids) => {
        asked.push(ids.length);
        return sink.sources(ids);
      },
    };
    const reader = createScenarioReader(KEY, counting);
    await reader.add([...list, ...list].map((source) => ({ source, value: JSON.parse(source) })));
    expect(asked).toEqual([100, 100, 50]);
    expect(reader.finish().rejects).toEqual([]);
  });
});

describe("a list that cannot be from the service", () => {
  const placeholder =
    '{"scenarioId":"integer","parentId":"integer","scenarioName":"string","isResult":"boolean","lastModified":"string","description":"string"}';

  test("placeholder words are reported as those of the mock", async () => {
    await expect(read([placeholder, placeholder])).rejects.toThrow(UntrustedResponse);
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
      new UntrustedResponse("a list of 2 items without one field of a scenario"),
    );
  });
});
