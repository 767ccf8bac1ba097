import { expect, test } from "vitest";
import { tablePrinter } from "../../src/output/rows.ts";

test("a table that is too wide leaves out spare columns before it cuts cells", () => {
  const columns = ["library", "results", "state"].map((name) => ({ name, type: "text" as const }));
  const print = (width: number) => {
    const lines: string[] = [];
    const printer = tablePrinter(columns, (text) => lines.push(...text.split("\n")), width, { results: 1 });
    printer.add(["ann/Fire Risk", "58", "settled"]);
    printer.end();
    return lines.slice(0, 2);
  };
  expect(print(40)).toEqual(["library        results  state", "ann/Fire Risk       58  settled"]);
  expect(print(24)).toEqual(["library        state", "ann/Fire Risk  settled"]);
});
