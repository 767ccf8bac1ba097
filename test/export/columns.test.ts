import { expect, test } from "vitest";
import { toExportColumns } from "../../src/export/plan-export.ts";

const column = (name: string, type: string) => ({ name, type, comment: "A comment." });

test("an interval is left out, because the view has its seconds", () => {
  const seconds = column("lag_seconds", "double precision");
  expect(toExportColumns([column("lag", "interval"), seconds])).toEqual([seconds]);
});

test("a type that no file format has is exported as text", () => {
  expect(toExportColumns([column("parts", "text[]")])).toEqual([column("parts", "text")]);
});
