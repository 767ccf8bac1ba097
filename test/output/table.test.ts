import { expect, test } from "vitest";
import { createTablePrinter } from "../../src/output/row-printers.ts";
import { formatTable, truncate, widthOf } from "../../src/output/table.ts";

const lines = (table: string) => table.split("\n");

test("columns are as wide as their widest cell, and numbers are right-aligned", () => {
  const rows = [
    ["helloworldCourse", "7", "ok"],
    ["Lib", "1,234", ""],
  ];
  expect(lines(formatTable(["library", "scenarios", "state"], rows, 80))).toEqual([
    "library           scenarios  state",
    "helloworldCourse          7  ok",
    "Lib                   1,234",
  ]);
});

test("a column of numbers and texts is left-aligned, and a table without rows is its titles", () => {
  const rows = ["7", "many"].map((count) => [count, "a"]);
  expect(lines(formatTable(["count", "x"], rows, 80))).toEqual(["count  x", "7      a", "many   a"]);
  expect(formatTable(["a", "b"], [], 80)).toBe("a  b");
});

test("a table that fits exactly is not cut, and one column less cuts its widest cells", () => {
  const rows = [["0123456789abcdef", "short"]];
  expect(lines(formatTable(["first", "second"], rows, 24))).toEqual([
    "first             second",
    "0123456789abcdef  short",
  ]);
  expect(lines(formatTable(["first", "second"], rows, 23))).toEqual([
    "first            second",
    "0123456789abcd…  short",
  ]);
});

test("a column is cut to its least width at the most, then the lines are", () => {
  const rows = [["abcdefghij", "abcdefghij"]];
  expect(lines(formatTable(["a", "b"], rows, 18))).toEqual(["a         b", "abcdefg…  abcdefg…"]);
  expect(lines(formatTable(["a", "b"], rows, 17))).toEqual(["a         b", "abcdefg…  abcdef…"]);
});

test("a text of megabytes is cut at once", () => {
  const others = Array.from({ length: 15 }, (_, at) => `c${at}`);
  const before = process.cpuUsage();
  const lines = formatTable(["text", ...others], [["x".repeat(4_000_000), ...others]], 100).split("\n");
  // Processor time, which a busy machine does not stretch; cut one by one, it takes 6 s.
  expect(process.cpuUsage(before).user).toBeLessThan(2_000_000);
  expect(lines[1]).toMatch(/^x+… {2}c0 .* c14$/);
});

test("a number is never cut, because the rest would be another number", () => {
  const rows = [["1,234,567,890", "a library with a long name"]];
  expect(lines(formatTable(["count", "library"], rows, 26))).toEqual([
    "        count  library",
    "1,234,567,890  a library …",
  ]);
});

test("spare columns are left out before anything is cut, the highest first", () => {
  const titles = ["run", { title: "took", spare: 1 }, { title: "at", spare: 2 }, "state"];
  const rows = [["1", "12 s", "noon", "finished"]];
  expect(lines(formatTable(titles, rows, 25))).toEqual(["run  took  at    state", "  1  12 s  noon  finished"]);
  expect(lines(formatTable(titles, rows, 24))).toEqual(["run  took  state", "  1  12 s  finished"]);
  expect(lines(formatTable(titles, rows, 18))).toEqual(["run  state", "  1  finished"]);
});

test("wide characters take two columns, and marks none", () => {
  expect(widthOf("Montre\u0301al")).toBe(8);
  expect(widthOf("森林火災")).toBe(8);
  expect(widthOf("🌲🔥 burn 👩‍🔬")).toBe(12);
  expect(widthOf("مكتبة ١")).toBe(7);
  expect(widthOf("ＡＢ")).toBe(4);
  const rows = ["森林", "ab"].map((name) => [name, "x"]);
  expect(lines(formatTable(["name", "n"], rows, 80))).toEqual(["name  n", "森林  x", "ab    x"]);
});

test("a text is cut between characters, never within one, and never too wide", () => {
  expect(truncate("森林火災", 8)).toBe("森林火災");
  expect(truncate("森林火災", 7)).toBe("森林火…");
  expect(truncate("森林火災", 6)).toBe("森林…");
  expect(truncate("👩‍🔬👩‍🔬", 3)).toBe("👩‍🔬…");
  expect(truncate("abc", 1)).toBe("…");
  expect(truncate("abc", 0)).toBe("");
});

test("text from the service cannot act on the terminal (fault 107)", () => {
  const rows = [["\u001b[31mred", "name\nERROR fake log line"]];
  expect(lines(formatTable(["a", "b"], rows, 200))).toEqual([
    "a              b",
    "\\u001b[31mred  name\\u000aERROR fake log line",
  ]);
});

test("a table that is too wide leaves out spare columns before it cuts cells", () => {
  const columns = ["library", "results", "state"].map((name) => ({ name, type: "text" as const }));
  const print = (width: number) => {
    const lines: string[] = [];
    const printer = createTablePrinter(columns, (text) => lines.push(...text.split("\n")), width, { results: 1 });
    printer.add(["ann/Fire Risk", "58", "settled"]);
    printer.end();
    return lines.slice(0, 2);
  };
  expect(print(40)).toEqual(["library        results  state", "ann/Fire Risk       58  settled"]);
  expect(print(24)).toEqual(["library        state", "ann/Fire Risk  settled"]);
});
