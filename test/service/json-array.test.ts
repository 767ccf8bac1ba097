import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { InvalidResponse } from "../../src/service/wire/item-checks.ts";
import { createArraySplitter } from "../../src/service/wire/json-array.ts";

/** Returns the source texts of the items, and checks that each parses to the value of its item. */
function splitChunks(chunks: readonly Uint8Array[]): string[] {
  const splitter = createArraySplitter();
  const items = chunks.flatMap((chunk) => splitter.push(Buffer.from(chunk)));
  splitter.end();
  return items.map(({ source, value }) => {
    expect(value).toEqual(JSON.parse(source));
    return source;
  });
}

const split = (text: string | Uint8Array) => splitChunks([Buffer.from(text)]);
const splitBytes = (text: string | Uint8Array) =>
  splitChunks(Array.from(Buffer.from(text), (byte) => Uint8Array.of(byte)));

function cutAt(bytes: Uint8Array, cuts: readonly number[]): Uint8Array[] {
  const at = [0, ...cuts.map((cut) => cut % (bytes.length + 1)).sort((a, b) => a - b), bytes.length];
  return at.slice(1).map((end, i) => bytes.subarray(at[i], end));
}

function caught(run: () => unknown): { message: string; isTruncated: boolean } {
  try {
    run();
  } catch (error) {
    if (!(error instanceof InvalidResponse)) throw error;
    return { message: error.message, isTruncated: error.isTruncated };
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
    ["what is no object", '[1,"a,]",null,true,[2,[3]],-1.5e3]', ["1", '"a,]"', "null", "true", "[2,[3]]", "-1.5e3"]],
    ["text beyond ASCII", '["é🌲مكتبة"]', ['"é🌲مكتبة"']],
    ["escapes, kept as they are", '["\\u0000\\ud800"]', ['"\\u0000\\ud800"']],
  ])("%s", (_, text, items) => {
    expect(split(text)).toEqual(items);
    expect(splitBytes(text)).toEqual(items);
  });

  test("any text over JSON's alphabet is accepted exactly when JSON.parse accepts it as a list", () => {
    const part = fc.constantFrom(
      ...["[", "]", "{", "}", ",", ":", '"', "\\", " ", "1", "null", '"a"', '{"a":1}', "é", "},{", "}]", '{"a":'],
    );
    const object = fc.dictionary(
      fc.constantFrom("a", "b", "c"),
      fc.oneof(fc.integer(), fc.constantFrom("},{", "}]", 'é"},{"', "\\"), fc.array(fc.constantFrom({}, "}]"))),
    );
    const text = fc.oneof(
      fc.array(part).map((parts) => `[${parts.join("")}`),
      fc
        .tuple(fc.array(fc.oneof(fc.jsonValue(), object)), fc.constantFrom(undefined, 1, "\t"))
        .map(([list, indent]) => JSON.stringify(list, null, indent)),
    );
    fc.assert(
      fc.property(text, fc.array(fc.nat()), (source, cuts) => {
        const read = () => splitChunks(cutAt(Buffer.from(source), cuts)).map((item) => JSON.parse(item) as unknown);
        let expected: unknown;
        try {
          expected = JSON.parse(source);
        } catch {
          expect(read).toThrow();
          return;
        }
        expect(read()).toEqual(expected);
      }),
      { numRuns: 5000 },
    );
  });

  test("each item is returned by the chunk that has its end, and the buffer of a chunk may be reused", () => {
    const splitter = createArraySplitter();
    const chunk = Buffer.alloc(12);
    const returned = ['[{"a":1},{"b', '":"\\', "", '""},', "3", "4]"].map((text) => {
      const items = splitter.push(chunk.subarray(0, chunk.write(text)));
      return items.map(({ source }) => source);
    });
    expect(returned).toEqual([['{"a":1}'], [], [], ['{"b":"\\""}'], [], ["34"]]);
    expect(() => splitter.end()).not.toThrow();
  });
});

describe("an answer that is not a list is reported with its actual kind (faults 6, 10, 11)", () => {
  test.each([
    ["<!doctype html><title>Sign in</title>", "an HTML page where a list belongs"],
    ['{"message": "error"}', "an object where a list belongs"],
    ['"nothing here"', "a string where a list belongs"],
    ["17", "a number where a list belongs"],
    ["null", "null where a list belongs"],
    ["false", "a boolean where a list belongs"],
    ["Bad gateway", "plain text or binary data where a list belongs"],
    ["\ufeff[]", "plain text or binary data where a list belongs"],
    [Uint8Array.of(0x1f, 0x8b, 0x08, 0x00), "plain text or binary data where a list belongs"],
  ])("%j is reported as %s", (text, message) => {
    expect(caught(() => split(text))).toEqual({ message, isTruncated: false });
  });
});

describe("a malformed list is rejected (fault 41)", () => {
  const notJson = (nth: number) => `item ${nth} of the list is not well-formed JSON`;
  const empty = (nth: number) => `no item ${nth} in the list`;

  test.each([
    ['[{"a":1},{secret}]', notJson(2)],
    ['[{"a":1},{"b":secret},{"c":3}]', notJson(2)],
    ['[{"a":1,},{"c":3}]', notJson(1)],
    ['[{"a":1},{"b":2},secret]', notJson(3)],
    ['[{"a":1},{"b":2]},{"c":3}]', notJson(2)],
    ['[{"a":1}},{"b":2}]', notJson(1)],
    ["[1 2]", notJson(1)],
    ['[{"a":1}{"b":2}]', notJson(1)],
    ["[\u00a0]", notJson(1)],
    ["[1,]", empty(2)],
    ["[,1]", empty(1)],
    ["[1,,2]", empty(2)],
    ["[]]", "more text after the end of the list"],
    ["[] []", "more text after the end of the list"],
    ["[]\ufeff", "more text after the end of the list"],
  ])("%j: %s, and the message does not quote it", (text, message) => {
    expect(caught(() => split(text))).toEqual({ message, isTruncated: false });
    expect(caught(() => splitBytes(text))).toEqual({ message, isTruncated: false });
  });

  test.each([
    ["a stray continuation byte", [0x80]],
    ["an overlong slash", [0xc0, 0xaf]],
    ["half of a surrogate pair", [0xed, 0xa0, 0x80]],
    ["a code point beyond the last", [0xf4, 0x90, 0x80, 0x80]],
    ["a sequence cut short by the quote", [0xc3, 0xa9, 0xe2, 0x82]],
    ["Latin-1", [0x4d, 0xe9]],
  ])("%s is not UTF-8, in whichever item", (_, bytes) => {
    for (const [text, nth] of [
      ['[{"a":"*"},{"b":2},{"c":3}]', 1],
      ['[{"a":1},{"b":"*"},{"c":3}]', 2],
      ['[{"a":1},{"b":2},{"c":"*"}]', 3],
    ] as const) {
      const [before = "", behind = ""] = text.split("*");
      const answer = Buffer.concat([Buffer.from(before), Uint8Array.from(bytes), Buffer.from(behind)]);
      const refused = { message: `item ${nth} of the list is not UTF-8`, isTruncated: false };
      expect(caught(() => split(answer))).toEqual(refused);
      expect(caught(() => splitBytes(answer))).toEqual(refused);
    }
  });
});

describe("a truncated answer is distinguished from a malformed one (fault 3)", () => {
  test("every proper prefix of a list is truncated, except for white space, which is an empty answer", () => {
    const whole = Buffer.from(' [{"é":"\\"]"}, 12, [null]]');
    for (let end = 0; end < whole.length; end++) {
      const { message, isTruncated } = caught(() => split(whole.subarray(0, end)));
      const expected = end < 2 ? "an empty answer" : "the answer ends in the middle of the list";
      expect([message, isTruncated], `${end} bytes`).toEqual([expected, end >= 2]);
    }
    expect(split(whole)).toHaveLength(3);
  });
});

describe("an item over 16 MiB is not parsed, and only its beginning is kept (fault 159)", () => {
  const MOST = 16 * 1024 * 1024;
  const item = (bytes: number) =>
    `{"scenarioId":2,"a":"${"},{".repeat((bytes - 23) / 3)}${"x".repeat((bytes - 23) % 3)}"}`;

  test.each([
    [MOST, "at once", 64 * 1024 * 1024],
    [MOST, "in chunks", 1_000_003],
    [MOST + 1, "at once", 64 * 1024 * 1024],
    [MOST + 1, "in chunks", 1_000_003],
  ])("of %i bytes, %s", (bytes, _, chunkBytes) => {
    const text = Buffer.from(`[{"scenarioId":1},${item(bytes)},{"scenarioId":3}]`);
    const splitter = createArraySplitter();
    const items = [];
    for (let at = 0; at < text.length; at += chunkBytes)
      items.push(...splitter.push(text.subarray(at, at + chunkBytes)));
    splitter.end();
    expect(items.map(({ value }) => value !== undefined)).toEqual([true, bytes === MOST, true]);
    expect(items[1]?.source).toHaveLength(bytes === MOST ? bytes : 64 * 1024);
    expect(items[1]?.source.startsWith('{"scenarioId":2,"a":"},{')).toBe(true);
  });

  test("one that does not end is truncated", () => {
    const splitter = createArraySplitter();
    for (let at = 0; at < 20; at++) splitter.push(Buffer.from(`${at === 0 ? '["' : ""}${"x".repeat(1 << 20)}`));
    expect(caught(() => splitter.end()).isTruncated).toBe(true);
  });
});
