import { expect, onTestFinished, test, vi } from "vitest";
import { type Fixture, syncedFixture } from "../support/fixture.ts";
import { library } from "../support/organization.ts";
import { told } from "./told.ts";

/** A forgotten transaction locks the row of a released lease. Nothing else holds it. */
test("a run ends after 60 s if the row of its lease stays locked, and names the session (fault 167)", {
  timeout: 200_000,
}, async () => {
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
});

/** The end of a run that waits for a minute, which is as long as the harness waits. */
async function endLate(running: ReturnType<Fixture["start"]>) {
  await vi.waitFor(() => expect(running.output()).toContain("is locked by"), { timeout: 120_000, interval: 500 });
  return running.ended;
}
