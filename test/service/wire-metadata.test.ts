import { describe, expect, test } from "vitest";
import { MalformedJson, UntrustedResponse } from "../../src/service/json/parse-errors.ts";
import { parseMetadata } from "../../src/service/wire/wire-metadata.ts";

const KEY = { owner: "ann", name: "Lib" };

function read(text: string | Uint8Array): ReturnType<typeof parseMetadata> {
  return parseMetadata(KEY, Buffer.from(text));
}

const WHOLE = `{
  "libraryName": "Lib", "libraryOwner": "org", "lastModified": "2023-09-11 at 2:56 PM", "fileSize": "216 KB  (221,184 B)",
  "packageName": "stsim", "packageVersion": "4.0.1", "description": "é 🌲", "unknown": [1.0]
}`;

describe("readable metadata", () => {
  test("is kept unchanged, with its source text (faults 39, 48)", () => {
    expect(read(` \n${WHOLE}\r\n\t`)).toEqual({
      metadata: {
        libraryName: "Lib",
        libraryOwner: "org",
        lastModified: "2023-09-11 at 2:56 PM",
        fileSize: "216 KB  (221,184 B)",
        packageName: "stsim",
        packageVersion: "4.0.1",
        description: "é 🌲",
        absent: [],
        source: WHOLE,
      },
      rejects: [],
    });
  });

  test.each([
    [
      '{"libraryOwner":null}',
      ["libraryName", "lastModified", "fileSize", "packageName", "packageVersion", "description"],
    ],
    [
      '{"libraryName":null,"fileSize":null,"description":null,"packageName":null}',
      ["libraryOwner", "lastModified", "packageVersion"],
    ],
  ])(
    "%s in every other field is null, never the text null; an absent field is not null (fault 40)",
    (source, absent) => {
      expect(read(source)).toEqual({
        metadata: {
          libraryName: null,
          libraryOwner: null,
          lastModified: null,
          fileSize: null,
          packageName: null,
          packageVersion: null,
          description: null,
          absent,
          source,
        },
        rejects: [],
      });
    },
  );

  test("a part of a larger buffer is parsed by itself", () => {
    const bytes = Buffer.from('xx{"libraryName":"Lib"}xx');
    expect(parseMetadata(KEY, bytes.subarray(2, -2)).metadata?.source).toBe('{"libraryName":"Lib"}');
  });

  test("a description of five megabytes is kept exactly (fault 34)", () => {
    const description = "abc 1234567890123456 é\n".repeat(220_000);
    expect(read(JSON.stringify({ description })).metadata?.description === description).toBe(true);
  });
});

describe("metadata that cannot be stored is one reject", () => {
  test.each([
    ['{"fileSize":240}', "wrong_type", "fileSize", "fileSize is a number, a string was expected"],
    ['{"libraryName":["Lib"]}', "wrong_type", "libraryName", "libraryName is a list, a string was expected"],
    ['{"description":"a\\u0000b"}', "bad_text", "description", "description holds a NUL or half of a surrogate pair"],
    ['{"fileSize":"1 KB","x":{"\\ud800":1}}', "bad_text", "x.?", "x.? holds a NUL or half of a surrogate pair"],
    [
      '{"fileSize":"1 KB","x":1e-99999}',
      "out_of_range",
      "x",
      "x holds a number that Postgres cannot store: it has room for 131072 digits before the point and 16383 after it",
    ],
  ])("%s (fault 33)", (source, code, path, reason) => {
    expect(read(source)).toEqual({
      metadata: null,
      rejects: [{ key: KEY, kind: "metadata", code, path, reason, payload: source }],
    });
  });
});

describe("an answer that cannot be metadata is identified", () => {
  test.each([
    ["<html></html>", "an HTML page where library metadata belongs"],
    ['[{"libraryName":"Lib"}]', "a list where library metadata belongs"],
    ["null", "null where library metadata belongs"],
    ["17", "a number where library metadata belongs"],
    ['"Lib"', "a string where library metadata belongs"],
    ["Bad gateway", "plain text where library metadata belongs"],
    ['{"message":"error"}', "an object without any field of library metadata"],
    ["{}", "an object without any field of library metadata"],
  ])("%s: %s (faults 10, 11)", (text, message) => {
    expect(() => read(text)).toThrow(new UntrustedResponse(message));
  });

  test("placeholder words are reported as those of the mock", () => {
    const mock = () => read('{"libraryName":"string","libraryOwner":"string","fileSize":"string"}');
    expect(mock).toThrow(UntrustedResponse);
    expect(mock).toThrow(/placeholder words.*SIMCAT_BASE_URL points at a mock, and nothing was stored/);
    expect(read('{"libraryName":"string","fileSize":"1 KB"}').metadata).not.toBeNull();
  });
});

describe("a malformed answer is distinguished from a truncated one (faults 3, 41)", () => {
  function caught(text: string | Uint8Array): unknown {
    try {
      return read(text);
    } catch (error) {
      if (!(error instanceof MalformedJson)) throw error;
      return { message: error.message, truncated: error.truncated, empty: error.empty };
    }
  }

  test("every proper prefix is truncated", () => {
    const bytes = Buffer.from(WHOLE);
    for (let end = 1; end < bytes.length; end++) {
      expect(caught(bytes.subarray(0, end)), `${end} bytes`).toEqual({
        message: "the answer ends in the middle of its JSON",
        truncated: true,
        empty: false,
      });
    }
  });

  test.each([
    ['{"libraryName":"Lib"}}', { message: "not well-formed JSON", truncated: false, empty: false }],
    ['{"libraryName":}', { message: "not well-formed JSON", truncated: false, empty: false }],
    ["", { message: "an empty answer", truncated: true, empty: true }],
    [" \n", { message: "an empty answer", truncated: true, empty: true }],
    [
      Buffer.concat([Buffer.from('{"libraryName":"'), Uint8Array.of(0xe9), Buffer.from('"}')]),
      { message: "not UTF-8 at byte 16", truncated: false, empty: false },
    ],
  ])("%s", (text, expected) => {
    expect(caught(text)).toEqual(expected);
  });
});
