import { afterAll, beforeAll, expect, test } from "vitest";
import { createTestDatabase, type TestDatabase } from "../support/database.ts";
import { type Control, openControl } from "./database.ts";
import { formatFailure, runSeed, type SeedResult } from "./run-seed.ts";

/** Seeds of the first fifty with the most different events for their time; `npm run simulate -- --seeds N` runs any number. */
const SEEDS = [3, 5, 6, 7, 9, 10, 15, 16, 20, 21, 27, 31, 34, 36, 40, 46];

let database: TestDatabase;
let control: Control;
beforeAll(async () => {
  database = await createTestDatabase();
  control = await openControl(database.url);
});
afterAll(async () => {
  await control.end();
  await database.drop();
});

/** Without the port of the service. */
const eventsOf = ({ trace }: SeedResult) => trace.map((line) => line.replaceAll(/127\.0\.0\.1:\d+/g, "service"));
const played = new Map<number, readonly string[]>();

test.each(SEEDS)(
  "seed %d: readers see whole libraries, no bad answer removes one, and the copy ends up equal",
  async (seed) => {
    const result = await runSeed(seed, control);
    expect(result.wrong, formatFailure(result)).toEqual([]);
    expect(result.runs).toBeGreaterThan(4);
    played.set(seed, eventsOf(result));
  },
);

test("a seed gives the same events every time", async () => {
  const first = played.get(7) ?? eventsOf(await runSeed(7, control));
  expect(eventsOf(await runSeed(7, control))).toEqual(first);
});
