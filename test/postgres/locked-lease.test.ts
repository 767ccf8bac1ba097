import { expect, onTestFinished, test, vi } from "vitest";
import { type Fixture, fixture, syncedFixture } from "../support/fixture.ts";
import { library } from "../support/organization.ts";
import { startOwnServer } from "./own-server.ts";
import { told } from "./told.ts";

/** Both wait for a minute, at the same time. */
test("a run ends after 60 s if the row of its lease stays locked, and names what locks it (fault 167)", {
  timeout: 200_000,
}, async () => {
  await Promise.all([lockedLease(), leaseOfPreparedTransaction()]);
});

/** A forgotten transaction that locks the row of a released lease. Nothing else holds it. */
async function lockedLease(): Promise<void> {
  const { database, start, asked } = await syncedFixture([library("alice", "Fire")]);
  const holder = await database.pool.connect();
  onTestFinished(() => holder.release());
  await holder.query("BEGIN; SET LOCAL application_name = 'forgotten'; SELECT FROM simcat.leases FOR UPDATE");
  const { rows } = await holder.query("SELECT pg_backend_pid() AS pid, current_user AS role");
  const [{ pid, role }] = rows;

  const ended = await endLate(start(["sync"]));

  await holder.query("ROLLBACK");
  const session = `simcat.leases is locked by session ${pid} \\(role ${role}, forgotten, for [67]\\d s\\)`;
  expect(told(ended)).toEqual({
    exit: 69,
    code: "database_failed",
    said: expect.stringMatching(
      new RegExp(`^${session}; wait until it ends, or end it: SELECT pg_terminate_backend\\(${pid}\\)$`),
    ),
  });
  expect(ended.stderr).toContain("waiting for a lock on the lease");
  expect(ended.stdout + ended.stderr).not.toContain("another run");
  expect(asked()).toEqual([]);
}

/** The end of a run that waits for a minute, which is as long as the harness waits. */
async function endLate(running: ReturnType<Fixture["start"]>) {
  await vi.waitFor(() => expect(running.output()).toContain("is locked by"), { timeout: 120_000, interval: 500 });
  return running.ended;
}

async function leaseOfPreparedTransaction(): Promise<void> {
  const server = await startOwnServer({ max_prepared_transactions: "1" });
  const { start, simcat } = await fixture([library("alice", "Fire")]);
  expect((await simcat(["sync"], { DATABASE_URL: server.url })).code).toBe(0);
  await server.query("BEGIN; SELECT FROM simcat.leases FOR UPDATE; PREPARE TRANSACTION 'forgotten'");

  const ended = await endLate(start(["sync"], { DATABASE_URL: server.url }));

  expect(told(ended)).toEqual({
    exit: 69,
    code: "database_failed",
    said: expect.stringMatching(
      /^simcat\.leases is locked by the prepared transaction 'forgotten', which has no session \(role \w+, for [67]\d s\); wait until it ends, or end it: ROLLBACK PREPARED 'forgotten'$/,
    ),
  });
  await server.query("ROLLBACK PREPARED 'forgotten'");
  expect((await simcat(["sync"], { DATABASE_URL: server.url })).code).toBe(0);
}
