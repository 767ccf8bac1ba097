import { expect, test } from "vitest";
import { toScope } from "../../src/db/runs.ts";
import { parseSelection } from "../../src/sync/rules/selection.ts";

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
