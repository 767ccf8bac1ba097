import { describe, expect, test } from "vitest";
import { InvalidResponse } from "../../src/service/wire/item-checks.ts";
import { parseMetadata } from "../../src/service/wire/wire-metadata.ts";

const KEY = { owner: "ann", name: "Lib" };

function read(text: string | Uint8Array): ReturnType<typeof parseMetadata> {
  return parseMetadata(KEY, Buffer.from(text));
}

const WHOLE = `{
  "libraryName": "Lib", "libraryOwner": "org", "lastModified": "2023-09-11 at 2:56 PM", "fileSize": "216 KB  (221,184 B)",
  "packageName": "stsim", "packageVersion": "4.0.1", "description": "é 🌲", "unknown": [1.0]
}`;

test("a part of a larger buffer is parsed by itself", () => {
  const bytes = Buffer.from('xx{"libraryName":"Lib"}xx');
  expect(parseMetadata(KEY, bytes.subarray(2, -2)).metadata?.source).toBe('{"libraryName":"Lib"}');
});

describe("an answer that cannot be metadata is identified (faults 3, 10, 11, 41)", () => {
  test.each([
    ["<html></html>", "an HTML page where library metadata belongs"],
    ['[{"libraryName":"Lib"}]', "a list where library metadata belongs"],
    ['{"message":"error"}', "an object without any field of library metadata"],
    ["{}", "an object without any field of library metadata"],
    ['{"libraryName":"Lib"}}', "not well-formed JSON in UTF-8"],
    ['{"libraryName":}', "not well-formed JSON in UTF-8"],
    [Buffer.from('{"libraryName":"\u00e9"}', "latin1"), "not well-formed JSON in UTF-8"],
    ["", "an empty answer"],
    [" \n", "an empty answer"],
  ])("%s: %s", (text, message) => {
    expect(() => read(text)).toThrow(new InvalidResponse(message));
  });

  test("every proper prefix is truncated", () => {
    const bytes = Buffer.from(WHOLE);
    const truncated = new InvalidResponse("the answer ends in the middle of its JSON", true);
    for (let end = 1; end < bytes.length; end++) {
      expect(() => read(bytes.subarray(0, end)), `${end} bytes`).toThrow(truncated);
    }
  });
});
