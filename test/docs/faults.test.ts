import { readFileSync } from "node:fs";
import { expect, test } from "vitest";

const rows = readFileSync("docs/faults.md", "utf8")
  .split("\n")
  .flatMap((line) => {
    const number = /^\| (\d+) \|/.exec(line)?.[1];
    const links = [...line.matchAll(/\]\(\.\.\/([^)]+\.test\.ts)\)/g)].map(([, file = ""]) => file);
    return number === undefined ? [] : [{ number: Number(number), files: links }];
  });

/** The numbers in `fault 3`, `faults 3, 5 and 6`. */
function faultsNamed(text: string): Set<number> {
  const lists = [...text.matchAll(/\bfaults? (\d+(?:(?:, | and )\d+)*)/g)].map(([, numbers = ""]) => numbers);
  return new Set(lists.flatMap((numbers) => numbers.split(/, | and /).map(Number)));
}

test("the faults are numbered in ascending order, each number once", () => {
  const numbers = rows.map(({ number }) => number);
  expect(numbers.length).toBeGreaterThan(100);
  expect(numbers).toEqual([...new Set(numbers)].sort((a, b) => a - b));
});

test.each(rows)("fault $number is shown by tests that name it", ({ number, files }) => {
  expect(files.length).toBeGreaterThan(0);
  const silent = files.filter((file) => !faultsNamed(readFileSync(file, "utf8")).has(number));
  expect(silent).toEqual([]);
});
