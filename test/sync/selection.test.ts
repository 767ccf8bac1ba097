import { expect, test } from "vitest";
import { toScope } from "../../src/db/runs.ts";
import { assertKnown } from "../../src/sync/assert-known.ts";
import { parseSelection, selectorOf } from "../../src/sync/rules/selection.ts";
import { listingOf } from "../support/listing.ts";

test("selects the union of all selectors, byte for byte (fault 31)", () => {
  const isSelected = selectorOf(parseSelection(["a/Lib", "a/Q1%2FQ2"], ["b"]));
  expect(isSelected({ owner: "a", name: "Lib" })).toBe(true);
  expect(isSelected({ owner: "a", name: "Q1/Q2" })).toBe(true);
  expect(isSelected({ owner: "b", name: "anything" })).toBe(true);
  expect(isSelected({ owner: "a", name: "lib" })).toBe(false);
  expect(isSelected({ owner: "B", name: "Lib" })).toBe(false);
});

test("a selector given twice, in any spelling, counts once", () => {
  const selection = parseSelection(["a/x", "a/%78", "a/x"], ["b", "b"]);
  expect(selection).toEqual({ libraries: [{ owner: "a", name: "x" }], owners: ["b"] });
});

test("equal scopes are one value, however they were typed or repeated", () => {
  const scope = toScope(parseSelection(["b/y", "a/x", "b/%79"], ["d", "c", "d"]));
  expect(scope).toEqual({
    libraries: [
      ["a", "x"],
      ["b", "y"],
    ],
    owners: ["c", "d"],
  });
  expect(toScope(parseSelection(["a/x", "b/y"], ["c", "d"]))).toEqual(scope);
});

test("no selector means no scope", () => {
  expect(toScope(parseSelection([], []))).toBeNull();
});

test("a library in the listing is known, even if its entry is a reject", async () => {
  const entry = (owner: string, name: string) => ({ key: { owner, name }, lastModified: null, source: "{}" });
  const reject = {
    key: { owner: "..", name: "x" },
    kind: "listing",
    code: "",
    path: "",
    reason: "",
    payload: "",
  } as const;
  const listing = { libraries: listingOf([entry("a", "x"), entry("b", "y")]), rejects: [reject] };

  const known = parseSelection(["a/x", "../x"], ["b", ".."]);
  const assert = (selection: typeof known) =>
    assertKnown(selection, { listing, pool: null, source: "tables" }, new AbortController().signal);

  expect(await assert(known)).toBe(known);
  const unknown = parseSelection(["a/x", "a/X", "../x", "../y"], ["b", "..", "c"]);
  await expect(assert(unknown)).rejects.toThrow(
    /^a\/X is neither .*; \.\.\/y is neither .*; owner c is neither [^;]*$/,
  );
});
