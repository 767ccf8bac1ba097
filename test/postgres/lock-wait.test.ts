import { expect, onTestFinished, test, vi } from "vitest";
import { syncedFixture } from "../support/fixture.ts";
import { library } from "../support/organization.ts";

test.each([["sync"], ["status"], ["report"]])(
  "%s names the session for whose lock it waits, once and before its first attempt ends (fault 197)",
  async (command) => {
    const { database, start, query } = await syncedFixture([library("alice", "Fire", { scenarios: [1] })]);
    const holder = await database.pool.connect();
    onTestFinished(() => holder.release());
    await holder.query("BEGIN; LOCK TABLE simcat.libraries IN ACCESS EXCLUSIVE MODE");
    const { rows } = await holder.query("SELECT pg_backend_pid() AS pid");
    const named = `waiting for a lock that session ${rows[0].pid} (role `;

    const running = start([command]);
    await vi.waitFor(() => expect(running.output()).toContain(named), 20_000);
    // Postgres ends an attempt after five seconds; then the reason would be another one.
    expect(running.output()).not.toContain("lock timeout");
    await holder.query("ROLLBACK");

    const { code, stderr } = await running.ended;
    expect(code).toBe(0);
    expect(stderr.split(named)).toHaveLength(2);
    expect(await query("SELECT FROM simcat.libraries")).toHaveLength(1);
  },
);
