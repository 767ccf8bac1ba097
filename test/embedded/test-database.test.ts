import { describe, expect, test } from "vitest";
import { createTestDatabase, freshTestDatabase, useTestDatabase } from "../support/database.ts";

describe("a test database", () => {
  const database = useTestDatabase();

  test("has the project's schema", async () => {
    expect(await database().query("SELECT count(*)::int AS runs FROM simcat.sync_runs")).toEqual([{ runs: 0 }]);
  });

  test("can be created empty", async () => {
    const empty = await freshTestDatabase({ empty: true });
    expect(await empty.query("SELECT to_regclass('simcat.sync_runs')::text AS runs")).toEqual([{ runs: null }]);
  });

  test("can be created while others are created", async () => {
    const several = await Promise.all(Array.from({ length: 6 }, () => createTestDatabase()));
    const names = await Promise.all(several.map(({ query }) => query("SELECT current_database() AS name")));
    expect(new Set(names.flat().map((row) => JSON.stringify(row))).size).toBe(6);
    await Promise.all(several.map(({ drop }) => drop()));
  });

  test("reports a connection that was left open, and is dropped nevertheless", async () => {
    const kept = await createTestDatabase();
    (await kept.pool.connect()).on("error", () => {});
    await expect(kept.drop()).rejects.toThrow("1 connections of the test's pool were not given back");
    const name = new URL(kept.url).pathname.slice(1);
    expect(await database().query("SELECT 1 FROM pg_database WHERE datname = $1", [name])).toEqual([]);
  });
});
