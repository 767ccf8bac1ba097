import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { MalformedJson } from "../../src/service/json/parse-errors.ts";
import { type ArraySplitter, createArraySplitter } from "../../src/service/wire/json-array.ts";

/** Returns the source texts of the items, and checks that each parses to the value of its item. */
function push(splitter: ArraySplitter, chunk: Uint8Array): string[] {
  return splitter.push(Buffer.from(chunk)).map(({ source, value }) => {
    expect(value).toEqual(JSON.parse(source));
    return source;
  });
}

function splitChunks(chunks: readonly Uint8Array[]): string[] {
  const splitter = createArraySplitter();
  const items = chunks.flatMap((chunk) => push(splitter, chunk));
  splitter.end();
  return items;
}

function split(text: string | Uint8Array): string[] {
  return splitChunks([Buffer.from(text)]);
}

/** An item as a service sends it: its strings and lists contain text that looks like the border between two items. */
const object = fc.dictionary(
  fc.constantFrom("a", "b", "c"),
  fc.oneof(fc.integer(), fc.constantFrom("},{", "}]", 'é"},{"', "\\"), fc.array(fc.constantFrom({}, { a: 1 }, "}]"))),
);

function byteByByte(bytes: Uint8Array): Uint8Array[] {
  return Array.from(bytes, (byte) => Uint8Array.of(byte));
}

function cutAt(bytes: Uint8Array, cuts: readonly number[]): Uint8Array[] {
  const at = [0, ...cuts.map((cut) => cut % (bytes.length + 1)).sort((a, b) => a - b), bytes.length];
  return at.slice(1).map((end, i) => bytes.subarray(at[i], end));
}

function caught(run: () => unknown): { message: string; truncated: boolean; empty: boolean } {
  try {
    run();
  } catch (error) {
    if (!(error instanceof MalformedJson)) throw error;
    return { message: error.message, truncated: error.truncated, empty: error.empty };
  }
  throw new Error("nothing was thrown");
}

describe("a list is split into the exact source text of its items", () => {
  test.each([
    ["an empty list", "[]", []],
    ["an empty list in white space", " \t\r\n[ \n] \t", []],
    ["one object", '[{"a":1}]', ['{"a":1}']],
    ["white space around items, which is left out", '[ {"a": 1}\n,\t{ } ]\n', ['{"a": 1}', "{ }"]],
    ["a digit that a double cannot hold", '[{"id":9007199254740993.0}]', ['{"id":9007199254740993.0}']],
    [
      "brackets, commas and escaped quotes in strings",
      '[{"a":"]},\\"[\\\\"},{"b":"\\\\\\""}]',
      ['{"a":"]},\\"[\\\\"}', '{"b":"\\\\\\""}'],
    ],
    [
      "what stands between two items, and behind the last, in a string",
      '[{"a":"},{"},{"b":"}]"},{"c":1}]',
      ['{"a":"},{"}', '{"b":"}]"}', '{"c":1}'],
    ],
    [
      "the same in lists of objects within items",
      '[{"a":[{},{"b":1}]},{"c":[{"d":{}},{}]},{}]',
      ['{"a":[{},{"b":1}]}', '{"c":[{"d":{}},{}]}', "{}"],
    ],
    ["objects between which others stand", '[{"a":1},[{"b":2},{"c":3}],{}]', ['{"a":1}', '[{"b":2},{"c":3}]', "{}"]],
    ["what is no object", '[1,"a,]",null,true,[2,[3]],-1.5e3]', ["1", '"a,]"', "null", "true", "[2,[3]]", "-1.5e3"]],
    ["text beyond ASCII", '["é🌲مكتبة"]', ['"é🌲مكتبة"']],
    ["escapes, kept as they are", '["\\u0000\\ud800"]', ['"\\u0000\\ud800"']],
  ])("%s", (_, text, items) => {
    expect(split(text)).toEqual(items);
    expect(splitChunks(byteByByte(Buffer.from(text)))).toEqual(items);
  });

  test("any list, cut anywhere, yields the same items as JSON.parse", () => {
    fc.assert(
      fc.property(
        fc.array(fc.oneof(fc.jsonValue(), object)),
        fc.constantFrom(undefined, 1, "\t"),
        fc.array(fc.nat()),
        (list, indent, cuts) => {
          const bytes = Buffer.from(JSON.stringify(list, null, indent));
          const items = splitChunks(cutAt(bytes, cuts));
          expect(items.map((item) => JSON.parse(item))).toEqual(JSON.parse(JSON.stringify(list)));
        },
      ),
      { numRuns: 500 },
    );
  });

  test("any text over JSON's alphabet is accepted exactly when JSON.parse accepts it as a list", () => {
    const text = fc
      .array(
        fc.constantFrom(
          ...["[", "]", "{", "}", ",", ":", '"', "\\", " ", "1", "null", '"a"', '{"a":1}', "é", "},{", "}]", '{"a":'],
        ),
      )
      .map((parts) => `[${parts.join("")}`);
    fc.assert(
      fc.property(text, fc.array(fc.nat()), (source, cuts) => {
        const parse = () => JSON.parse(source) as unknown;
        const read = () => splitChunks(cutAt(Buffer.from(source), cuts)).map((item) => JSON.parse(item) as unknown);
        let expected: unknown;
        try {
          expected = parse();
        } catch {
          expect(read).toThrow();
          return;
        }
        expect(read()).toEqual(expected);
      }),
      { numRuns: 5000 },
    );
  });

  test("each item is returned by the chunk that completes it", () => {
    const splitter = createArraySplitter();
    expect(push(splitter, Buffer.from('[{"a":1},{"b'))).toEqual(['{"a":1}']);
    expect(push(splitter, Buffer.from('":2}'))).toEqual(['{"b":2}']);
    expect(push(splitter, Buffer.from(",3"))).toEqual([]);
    expect(push(splitter, new Uint8Array())).toEqual([]);
    expect(push(splitter, Buffer.from("4]"))).toEqual(["34"]);
    expect(() => splitter.end()).not.toThrow();
  });

  test("reusing the buffer of a chunk has no effect", () => {
    const splitter = createArraySplitter();
    const buffer = Buffer.from('["ab');
    splitter.push(buffer);
    buffer.fill("x");
    expect(push(splitter, Buffer.from('c"]'))).toEqual(['"abc"']);
  });

  test("an empty chunk between a backslash and the escaped character has no effect", () => {
    const chunks = ['["a\\', "", '"b"]'].map((text) => Buffer.from(text));
    expect(splitChunks(chunks)).toEqual(['"a\\"b"']);
  });

  test("a description of five megabytes in small chunks arrives complete (fault 34)", () => {
    const item = JSON.stringify({ description: "é".repeat(2_500_000) });
    const bytes = Buffer.from(`[${item}]`);
    const chunks = Array.from({ length: 10_001 }, (_, i) => bytes.subarray(i * 500, (i + 1) * 500));
    expect(splitChunks(chunks)[0] === item).toBe(true);
  });
});

describe("an answer that is not a list is reported with its actual kind", () => {
  test.each([
    ["<!doctype html><title>Sign in</title>", "an HTML page where a list belongs"],
    ['{"message": "error"}', "an object where a list belongs"],
    ['"nothing here"', "a string where a list belongs"],
    ["17", "a number where a list belongs"],
    ["null", "null where a list belongs"],
    ["false", "a boolean where a list belongs"],
    ["Bad gateway", "plain text where a list belongs"],
    ["\ufeff[]", "plain text where a list belongs"],
  ])("%j is reported as %s (faults 10, 11)", (text, message) => {
    expect(caught(() => split(text))).toEqual({ message, truncated: false, empty: false });
    expect(caught(() => splitChunks(byteByByte(Buffer.from(text))))).toEqual({
      message,
      truncated: false,
      empty: false,
    });
  });

  test("one object with the placeholder words of the mock is reported as the mock", () => {
    const { message } = caught(() => split('{"libraryName":"string","lastModified":"string"}'));
    expect(message).toContain("SIMCAT_BASE_URL points at a mock");
    expect(message).toContain("nothing was stored");
    expect(caught(() => split('{"scenarioId": "integer"}')).message).toContain("SIMCAT_BASE_URL points at a mock");
  });

  test("rejects an endless answer after four kilobytes", () => {
    const splitter = createArraySplitter();
    splitter.push(Buffer.from("<".padEnd(4095)));
    expect(caught(() => splitter.push(Buffer.from(" "))).message).toBe("an HTML page where a list belongs");
  });

  test("compressed bytes without a declared encoding are rejected (fault 6)", () => {
    expect(caught(() => split(Uint8Array.of(0x1f, 0x8b, 0x08, 0x00))).message).toBe("not UTF-8 at byte 1");
  });
});

describe("a malformed list is rejected (fault 41)", () => {
  test.each([
    ['[{"a":1},{secret}]', 2],
    ['[{"a":1},{"b":secret},{"c":3}]', 2],
    ['[{"a":1,},{"c":3}]', 1],
    ['[{"a":1},{"b":2},secret]', 3],
    ['[{"a":1},{"b":2]},{"c":3}]', 2],
  ])("%j: an item that is not JSON rejects the answer, and the message does not quote it", (text, nth) => {
    const refused = { message: `item ${nth} of the list is not well-formed JSON`, truncated: false, empty: false };
    expect(caught(() => split(text))).toEqual(refused);
    expect(caught(() => splitChunks(byteByByte(Buffer.from(text))))).toEqual(refused);
  });

  test.each([
    ["[1,]", "no item before byte 3 of the list"],
    ["[,1]", "no item before byte 1 of the list"],
    ["[1,,2]", "no item before byte 3 of the list"],
    ["[1 2]", "no comma at byte 3, between two items of the list"],
    ['[{"a":1}{"b":2}]', "no comma at byte 8, between two items of the list"],
    ["[]]", "more at byte 2, behind the end of the list"],
    ["[] []", "more at byte 3, behind the end of the list"],
    ["[]\ufeff", "more at byte 2, behind the end of the list"],
  ])("%j: %s", (text, message) => {
    expect(caught(() => split(text))).toEqual({ message, truncated: false, empty: false });
    expect(caught(() => splitChunks(byteByByte(Buffer.from(text))))).toEqual({
      message,
      truncated: false,
      empty: false,
    });
  });

  test.each([
    ["a stray continuation byte", [0x80], 3],
    ["an overlong slash", [0xc0, 0xaf], 3],
    ["half of a surrogate pair", [0xed, 0xa0, 0x80], 3],
    ["a code point beyond the last", [0xf4, 0x90, 0x80, 0x80], 3],
    ["a sequence cut short by the quote", [0xc3, 0xa9, 0xe2, 0x82], 5],
    ["Latin-1", [0x4d, 0xe9], 4],
  ])("%s is not UTF-8", (_, bytes, at) => {
    const answer = Buffer.concat([Buffer.from('[ "'), Uint8Array.from(bytes), Buffer.from('"]')]);
    const refused = { message: `not UTF-8 at byte ${at}`, truncated: false, empty: false };
    expect(caught(() => split(answer))).toEqual(refused);
    expect(caught(() => splitChunks(byteByByte(answer)))).toEqual(refused);
  });

  test.each([
    ["the first of three items", '[{"a":"*"},{"b":2},{"c":3}]', 7],
    ["one between two", '[{"a":1},{"b":"*"},{"c":3}]', 15],
    ["the last", '[{"a":1},{"b":2},{"c":"*"}]', 23],
  ])("%s is not UTF-8", (_, text, at) => {
    const answer = Buffer.from(text.replace("*", "\u00e9"), "latin1");
    const refused = { message: `not UTF-8 at byte ${at}`, truncated: false, empty: false };
    expect(caught(() => split(answer))).toEqual(refused);
    expect(caught(() => splitChunks(byteByByte(answer)))).toEqual(refused);
  });
});

describe("a truncated answer is distinguished from a malformed one (fault 3)", () => {
  test("every proper prefix of a list is truncated", () => {
    const whole = Buffer.from(' [{"é":"\\"]"}, 12, [null]]');
    for (let end = 1; end < whole.length; end++) {
      expect(
        caught(() => split(whole.subarray(0, end))),
        `${end} bytes`,
      ).toMatchObject({ truncated: true });
    }
    expect(split(whole)).toHaveLength(3);
  });

  test("an empty body or white space is an empty answer", () => {
    const empty = { message: "an empty answer", truncated: true, empty: true };
    expect(caught(() => split(""))).toEqual(empty);
    expect(caught(() => split(" \n"))).toEqual(empty);
  });
});

describe("an item over 16 MiB is not parsed, and only its beginning is kept (fault 159)", () => {
  const MOST = 16 * 1024 * 1024;
  const item = (bytes: number) =>
    `{"scenarioId":2,"a":"${"},{".repeat((bytes - 23) / 3)}${"x".repeat((bytes - 23) % 3)}"}`;

  test.each([
    ["at once", 64 * 1024 * 1024],
    ["in chunks", 1_000_003],
  ])("%s", (_, chunkBytes) => {
    for (const [bytes, isParsed] of [
      [MOST, true],
      [MOST + 1, false],
    ] as const) {
      const text = Buffer.from(`[{"scenarioId":1},${item(bytes)} ,{"scenarioId":3}]`);
      const splitter = createArraySplitter();
      const items = [];
      for (let at = 0; at < text.length; at += chunkBytes) {
        items.push(...splitter.push(text.subarray(at, at + chunkBytes)));
      }
      splitter.end();
      expect(items.map(({ value }) => value !== undefined)).toEqual([true, isParsed, true]);
      expect(items[1]?.source).toHaveLength(isParsed ? bytes : 64 * 1024);
      expect(items[1]?.source.startsWith('{"scenarioId":2,"a":"},{')).toBe(true);
    }
  });

  test("one that does not end is truncated", () => {
    const splitter = createArraySplitter();
    for (let at = 0; at < 20; at++) splitter.push(Buffer.from(`${at === 0 ? '["' : ""}${"x".repeat(1 << 20)}`));
    expect(caught(() => splitter.end()).truncated).toBe(true);
  });
});
