import { expect, test } from "vitest";
import { UsageError } from "../../src/errors.ts";
import { assertKnown, EVERYTHING, isEverything, parseSelection, selectorOf } from "../../src/sync/rules/selection.ts";

test("no selector stands for everything", () => {
  const selection = parseSelection([], []);
  expect(selection).toEqual(EVERYTHING);
  expect(isEverything(selection)).toBe(true);
  expect(selectorOf(selection)({ owner: "a", name: "b" })).toBe(true);
});

test("what any selector names is in, byte for byte (fault 26)", () => {
  const isSelected = selectorOf(parseSelection(["a/Lib", "a/Q1%2FQ2"], ["b"]));
  expect(isSelected({ owner: "a", name: "Lib" })).toBe(true);
  expect(isSelected({ owner: "a", name: "Q1/Q2" })).toBe(true);
  expect(isSelected({ owner: "b", name: "anything" })).toBe(true);
  expect(isSelected({ owner: "a", name: "lib" })).toBe(false);
  expect(isSelected({ owner: "B", name: "Lib" })).toBe(false);
});

test("a selector that is given twice, in one spelling or another, counts once", () => {
  const selection = parseSelection(["a/x", "a/%78", "a/x"], ["b", "b"]);
  expect(selection.owners).toEqual(["b"]);
  expect(() => assertKnown(selection, () => false)).toThrow(/^a\/x is neither/);
});

test("a malformed selector is a usage error", () => {
  expect(() => parseSelection(["nobody"], [])).toThrow(UsageError);
  expect(() => parseSelection([], [""])).toThrow(UsageError);
});

test("a library that is neither listed nor stored is a usage error, an owner without libraries is not", () => {
  const selection = parseSelection(["a/x", "a/y%2F"], ["nobody"]);
  expect(() => assertKnown(selection, ({ name }) => name === "x")).toThrow("a/y%2F is neither listed nor stored");
  expect(() => assertKnown(selection, () => false)).toThrow("a/x, a/y%2F are neither listed nor stored");
  expect(() => assertKnown(selection, () => true)).not.toThrow();
});
