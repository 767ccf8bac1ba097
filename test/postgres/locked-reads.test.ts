import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { status } from "../../src/cli/status.ts";
import { createContext } from "../support/call-cli.ts";
import { freshTestDatabase } from "../support/database.ts";
import { syncedFixture } from "../support/fixture.ts";
import { library } from "../support/organization.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";
import { holdLocks } from "./sessions.ts";
import { databaseFailed, told } from "./told.ts";

const LOCKED =
  /^simcat\.libraries is locked by session \d+ \(.*\); wait until it ends, or end it: SELECT pg_terminate_backend\(\d+\)$/;

/** All of them wait at the same time, `export` for a minute. */
test("reading commands name the session that locks a table (fault 198)", async () => {
  const { call, database } = await syncedFixture([library("alice", "Fire", { scenarios: [1, 2] })]);
  const holder = await holdLocks(database, "LOCK TABLE simcat.libraries IN ACCESS EXCLUSIVE MODE");
  const folder = temporaryDirectory();
  const read = async (...args: string[]) => ({ args, ...told(await call(args, { SIMCAT_LOG_FORMAT: "json" })) });

  const ended = await Promise.all([
    read("status"),
    read("explain", "alice/Fire"),
    read("verify"),
    read("report", "--out", join(folder, "report.html")),
    read("export", "--out", folder),
    read("query", "SELECT count(*) FROM libraries"),
    read("libraries"),
  ]);

  await holder.query("ROLLBACK");
  expect(ended).toEqual(ended.map(({ args }) => ({ args, ...databaseFailed(LOCKED) })));
});

test("a terminal shows a line after a second of a lock, and later who holds it (fault 199)", async () => {
  const database = await freshTestDatabase();
  const holder = await holdLocks(database, "LOCK TABLE simcat.libraries IN ACCESS EXCLUSIVE MODE");
  const { pid } = (await holder.query("SELECT pg_backend_pid() AS pid")).rows[0];
  const note = vi.fn();
  const context = {
    ...createContext({ DATABASE_URL: database.url }),
    terminal: { isOut: false, isErr: true, columns: 80, rows: 24 },
    note,
  };
  const startedAt = performance.now();
  const running = status(context, { json: false });

  await vi.waitFor(() => expect(note).toHaveBeenCalledTimes(1), { timeout: 8_000 });
  expect(performance.now() - startedAt).toBeLessThan(4_000);
  await vi.waitFor(() => expect(note).toHaveBeenCalledTimes(2), { timeout: 12_000 });
  await holder.query("ROLLBACK");

  expect(await running).toBe(0);
  expect(note.mock.calls).toEqual([
    ["waiting for the database: reading the status, 1.0 s so far"],
    [expect.stringContaining(`waiting for the database: simcat.libraries is locked by session ${pid} (`)],
  ]);
});
