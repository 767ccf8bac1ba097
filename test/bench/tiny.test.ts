import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect, test } from "vitest";

interface Result {
  readonly bench: string;
  readonly name: string;
  readonly values: readonly number[];
}

test("every bench runs and prints a figure for everything that it measures", async () => {
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ["--import", "tsx", "bench/main.ts", "--tiny", "--json"],
    { maxBuffer: 2 ** 24 },
  );
  const { machine, results } = JSON.parse(stdout) as { machine: Record<string, unknown>; results: readonly Result[] };
  expect(machine).toMatchObject({ node: process.version, postgres: expect.stringMatching(/^\d+/) });
  const figures: Record<string, number> = {};
  for (const { bench } of results) figures[bench] = (figures[bench] ?? 0) + 1;
  expect(figures).toEqual({
    write: 2,
    rewrite: 2,
    extract: 2,
    backfill: 2,
    "nothing-new": 1,
    "one-percent": 1,
    latency: 2,
    memory: 4,
    growth: 1,
    slices: 4,
    "start-up": 3,
  });
  const measured = results.filter(({ values }) => values.length > 0 && values.every((value) => value > 0));
  expect(measured).toHaveLength(results.length);
});
