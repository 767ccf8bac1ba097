import { expect, test } from "vitest";
import { toExportColumns } from "../../src/export/plan-export.ts";

const column = (name: string, type: string) => ({ name, type, comment: "A comment." });

test("an interval is exported in seconds, and left out if the view has its seconds", () => {
  expect(
    toExportColumns([column("age", "interval"), column("lag", "interval"), column("lag_seconds", "double precision")]),
  ).toEqual([
    {
      name: "age_seconds",
      type: "double precision",
      comment: "A comment. In seconds.",
      sql: 'extract(epoch FROM "age")::double precision',
    },
    { name: "lag_seconds", type: "double precision", comment: "A comment.", sql: '"lag_seconds"' },
  ]);
});

test("a type that no file format has is exported as text", () => {
  expect(toExportColumns([column('the "parts"', "text[]")])).toEqual([
    { name: 'the "parts"', type: "text", comment: "A comment.", sql: '"the ""parts"""::text' },
  ]);
});
