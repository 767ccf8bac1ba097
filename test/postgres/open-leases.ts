import { createClock } from "../../src/db/clock.ts";
import { acquireLease } from "../../src/db/lease.ts";
import type { TestDatabase } from "../support/database.ts";
import { openPool } from "../support/pool.ts";

/** The program's pool, and a function that takes a lease as a run does. */
export async function openLeases(database: TestDatabase) {
  const { signal } = new AbortController();
  const pool = await openPool(database);
  const clock = await createClock(pool, signal);
  const take = (name: string) =>
    acquireLease(pool, clock, { name, holder: `host:1 ${name}` }, async () => null, signal);
  return { pool, take };
}
