import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { countLine, ROOT } from "./mutated-copy.ts";
import { MUTATIONS } from "./mutations.ts";

test("the line of each mutation occurs once in its file", () => {
  const stale = MUTATIONS.filter((mutation) => countLine(mutation) !== 1);

  expect(stale.map(({ name }) => name)).toEqual([]);
});

test("the tests that must notice a mutation exist", () => {
  const missing = MUTATIONS.flatMap(({ tests }) => tests).filter((path) => !existsSync(join(ROOT, path)));

  expect(missing).toEqual([]);
});
