import { expect, onTestFinished, test } from "vitest";
import { createClock } from "../../src/db/clock.ts";
import { connect, disconnect } from "../../src/db/connect.ts";
import { withLease } from "../../src/db/lease.ts";
import { useTestDatabase } from "../support/database.ts";

const database = useTestDatabase();
const never = new AbortController().signal;

test("leases with different names are held at the same time, and each has its own row", async () => {
  const pool = await connect(database().url, {}, never);
  onTestFinished(() => disconnect(pool));
  const clock = await createClock(pool, never);
  const rows = "SELECT name, holder, token::int, expires_at > now() AS held FROM simcat.leases ORDER BY name";
  const take = <T>(name: string, work: () => Promise<T>) =>
    withLease(pool, clock, { name, holder: `host:1 ${name}` }, work, never);

  const held = await take("sync 1/2", () => take("sync 2/2", () => database().query(rows)));

  expect(held).toEqual([
    { name: "sync 1/2", holder: "host:1 sync 1/2", token: 1, held: true },
    { name: "sync 2/2", holder: "host:1 sync 2/2", token: 1, held: true },
  ]);
});
