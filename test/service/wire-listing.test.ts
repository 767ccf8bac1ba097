import { describe, expect, test } from "vitest";
import { InvalidResponse } from "../../src/service/wire/item-checks.ts";
import { readListing } from "../../src/service/wire/wire-listing.ts";
import { bodyOf } from "./service-under-test.ts";

async function read(sources: readonly string[], defaultOwner: string | null = null) {
  const { libraries, ...rest } = await readListing(bodyOf(`[${sources.join(",")}]`), defaultOwner);
  return { libraries: [...libraries], ...rest };
}

const LIB = '{"libraryName":"Lib","uploadUser":"ann","lastModified":"2023-09-11 at 2:56 PM"}';
const DATE = "2023-09-11 at 2:56 PM";
const ANN_LIB = { owner: "ann", name: "Lib" };

test("an entry is listed with its identity, its date and its source text", async () => {
  expect(await read([LIB])).toEqual({
    libraries: [{ key: ANN_LIB, lastModified: DATE, source: LIB }],
    rejects: [],
    incomplete: null,
    repeated: 0,
  });
});

test("entries beyond those that are kept as objects have the default owner too", async () => {
  const names = Array.from({ length: 20_002 }, (_, at) => `Lib ${at}`);
  const { libraries } = await read(
    names.map((libraryName) => JSON.stringify({ libraryName })),
    "ann",
  );
  expect(libraries.map(({ key }) => key)).toEqual(names.map((name) => ({ owner: "ann", name })));
});

describe("entries with an unreadable identity make the listing incomplete", () => {
  test.each([
    ["null", "not_an_object", "", "the item is null, an object was expected"],
    ['{"uploadUser":"ann"}', "missing_field", "libraryName", "libraryName is missing, a string was expected"],
    [
      '{"libraryName":null,"uploadUser":"o"}',
      "missing_field",
      "libraryName",
      "libraryName is null, a string was expected",
    ],
    ['{"libraryName":"L","uploadUser":7}', "wrong_type", "uploadUser", "uploadUser is a number, a string was expected"],
  ])("%s", async (source, code, path, reason) => {
    const other = '{"libraryName":"Other","uploadUser":"ann"}';
    expect(await read([source, other])).toEqual({
      libraries: [{ key: { owner: "ann", name: "Other" }, lastModified: null, source: other }],
      rejects: [{ key: null, kind: "listing", code, path, reason, payload: source }],
      incomplete: "1 entry of the listing names no library that could be read",
      repeated: 0,
    });
  });

  test.each([
    ['{"libraryName":"","uploadUser":"ann"}', "unaddressable", "libraryName"],
    ['{"libraryName":"a\\u0000","uploadUser":"ann"}', "bad_text", "libraryName"],
    ['{"libraryName":"Lib","uploadUser":"\\ud800"}', "bad_text", "uploadUser"],
    ['{"libraryName":""}', "unaddressable", "libraryName"],
    ['{"libraryName":7,"uploadUser":""}', "unaddressable", "uploadUser"],
  ])("except for %s, which no stored library has as its key", async (source, code, path) => {
    const { rejects, incomplete } = await read([source]);
    expect(rejects).toMatchObject([{ key: null, code, path, payload: source }]);
    expect(incomplete).toBeNull();
  });

  test("the message for a missing uploadUser names the setting that fixes it (fault 27)", async () => {
    const { libraries, incomplete } = await read(['{"libraryName":"A"}', '{"libraryName":"B","uploadUser":null}', "1"]);
    expect(libraries).toEqual([]);
    expect(incomplete).toBe(
      "3 entries of the listing name no library that could be read, 2 of them for want of uploadUser: set SIMCAT_DEFAULT_OWNER to the owner of such entries",
    );
    expect((await read(['{"libraryName":"A"}'])).incomplete).toBe(
      "1 entry of the listing names no library that could be read, for want of uploadUser: set SIMCAT_DEFAULT_OWNER to the owner of such entries",
    );
  });
});

describe("entries with the same key", () => {
  test("that are equal are kept once (fault 28)", async () => {
    const same = '{ "lastModified": "2023-09-11 at 2:56 PM", "uploadUser": "\\u0061nn", "libraryName": "Lib" }';
    expect(await read([LIB, LIB, same])).toEqual({
      libraries: [{ key: ANN_LIB, lastModified: DATE, source: LIB }],
      rejects: [],
      incomplete: null,
      repeated: 2,
    });
  });

  const later = LIB.replace("2:56", "2:57");
  const third = LIB.replace("}", ',"extra":1}');
  const bad = '{"libraryName":"Lib","uploadUser":"ann","lastModified":17}';
  const [wide, wider] = ["9007199254740992", "9007199254740993"].map((n) => LIB.replace("}", `,"extra":${n}}`));

  test.each([
    ["in their dates, are all rejected, and the library is listed without a date", [LIB, later], null],
    ["in their dates, reject a third one, whatever its date", [LIB, later, third, LIB], null],
    ["only in other fields, keep their common date", [LIB, third], DATE],
    ["only beyond a double's precision, are different", [wide ?? "", wider ?? ""], DATE],
  ])("that differ %s (fault 28)", async (_, entries, lastModified) => {
    const { libraries, rejects, incomplete } = await read(entries);
    expect(libraries).toEqual([{ key: ANN_LIB, lastModified, source: null }]);
    expect(rejects.map(({ code, key, payload }) => ({ code, key, payload }))).toEqual(
      entries.map((payload) => ({ code: "contradiction", key: ANN_LIB, payload })),
    );
    expect(incomplete).toBeNull();
  });

  test.each([
    ["before a good one rejects both", [bad, LIB], ["wrong_type", "contradiction"]],
    ["behind a good one rejects both", [LIB, bad], ["contradiction", "wrong_type"]],
    ["sent twice is two rejects of one payload", [bad, bad], ["wrong_type", "wrong_type"]],
  ])("a bad one %s", async (_, entries, codes) => {
    const { libraries, rejects } = await read(entries);
    expect(libraries).toEqual([{ key: ANN_LIB, lastModified: null, source: null }]);
    expect(rejects.map(({ code }) => code)).toEqual(codes);
    expect(rejects.map(({ payload }) => payload)).toEqual(entries);
  });
});

describe("a listing that cannot be from the service", () => {
  test.each([
    '{"libraryName":"string","lastModified":"string"}',
    '{"libraryName":"string","uploadUser":"string","lastModified":"string","more":1}',
  ])("placeholder words are reported as those of the mock: %s", async (source) => {
    await expect(read([source])).rejects.toThrow(InvalidResponse);
    await expect(read([source])).rejects.toThrow(
      /placeholder words.*SIMCAT_BASE_URL points at a mock, and nothing was stored/,
    );
  });

  test('a library named "string" among others is accepted', async () => {
    const source = '{"libraryName":"string","uploadUser":"string","lastModified":"2024-01-01"}';
    expect((await read([source])).libraries).toHaveLength(1);
    expect((await read(['{"libraryName":"string","uploadUser":"string"}', LIB])).libraries).toHaveLength(2);
  });

  test("entries that lack every field of a library are rejected as a whole", async () => {
    await expect(read(['{"message":"error"}', "1"])).rejects.toThrow(
      "a list of 2 items without one field of a library",
    );
    expect((await read(['{"message":"error"}', '{"lastModified":null}'])).incomplete).not.toBeNull();
  });
});
