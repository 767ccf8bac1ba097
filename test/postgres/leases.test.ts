import { expect, onTestFinished, test, vi } from "vitest";
import { withLease } from "../../src/db/lease.ts";
import { useTestDatabase } from "../support/database.ts";
import { openLeases } from "./open-leases.ts";
import { holdLocks, untilSession, WAITS_FOR_LOCK } from "./sessions.ts";

const database = useTestDatabase();

test("leases with different names are held at the same time, and each has its own row", async () => {
  const { take } = await openLeases(database());
  const rows = "SELECT name, holder, token::int, expires_at > now() AS held FROM simcat.leases ORDER BY name";

  const taken = [await take("sync 1/2"), await take("sync 2/2")];
  const held = await database().query(rows);
  for (const { lease } of taken) await lease.release();

  expect(held).toEqual([
    { name: "sync 1/2", holder: "host:1 sync 1/2", token: 1, held: true },
    { name: "sync 2/2", holder: "host:1 sync 2/2", token: 1, held: true },
  ]);
});

test("a run whose lease is locked names the session that locks it, not one that waits too (fault 167)", async () => {
  const { pool, take } = await openLeases(database());
  const { lease } = await take("sync");
  const locking = await holdLocks(database(), "SELECT FROM simcat.leases FOR UPDATE");
  const { rows } = await locking.query("SELECT pg_backend_pid() AS pid");
  const waiting = pool.query("UPDATE simcat.leases SET holder = 'other'");
  await untilSession(database().query, WAITS_FOR_LOCK);
  const options = { operation: "storing", lockTimeoutMs: 100, lockAttempts: 1 };
  const named = { message: expect.stringContaining(`simcat.leases is locked by session ${rows[0].pid} (`) };

  await expect(withLease(lease, options, async () => {})).rejects.toMatchObject(named);
  await expect(lease.end(1, options, async () => {})).rejects.toMatchObject(named);

  await locking.query("ROLLBACK");
  await waiting;
  await lease.release();
});

test("a run that meets other short runs for a minute is busy, and blames no lock (fault 218)", async () => {
  const { take } = await openLeases(database());
  const slices = ["sync 1/2", "sync 2/2"] as const;
  let rival = await take(slices[0]);
  let isOver = false;
  const rivals = (async () => {
    for (let turn = 1; !isOver; turn++) {
      const next = await take(slices[turn % 2 === 0 ? 0 : 1]);
      await rival.lease.release();
      rival = next;
    }
  })();
  const { now } = performance;
  const startedAt = performance.now();
  // An hour passes in a minute.
  vi.spyOn(performance, "now").mockImplementation(() => startedAt + (now.call(performance) - startedAt) * 60);
  onTestFinished(() => void vi.restoreAllMocks());

  const error = await take("sync").catch((thrown: unknown) => thrown);
  isOver = true;
  await rivals;
  await rival.lease.release();
  const message = expect.stringMatching(
    /^another run is at work \(host:1 sync .*, slice \d\/2\); nothing was done here/,
  );
  expect(error).toMatchObject({ code: "busy", message });
});
