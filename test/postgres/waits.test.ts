import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { gateAfter } from "../process/gate.ts";
import { serviceRows, storedRows } from "../process/service-rows.ts";
import { fixture, syncedFixture } from "../support/fixture.ts";
import { library, numbered } from "../support/organization.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";
import { startPostgresProxy } from "./proxy.ts";
import { createRole } from "./roles.ts";
import { holdLocks } from "./sessions.ts";
import { databaseFailed, told } from "./told.ts";

const LOCKED =
  /^simcat\.\w+ is locked by session \d+ \(.*\); wait until it ends, or end it: SELECT pg_terminate_backend\(\d+\)$/;

/** All of them wait at the same time, because each takes half a minute or more. */
test("locks, a dead server and no free connection end a command in bounded time (faults 79, 81, 83, 167, 190, 198)", async () => {
  const tables = ["scenarios", "libraries", "library_sync", "library_history", "events", "leases", "sync_runs"];
  const [took] = await Promise.all([
    Promise.all(tables.map((table) => lockedTable(table))),
    // As CREATE INDEX locks it.
    lockedTable("leases", "SHARE"),
    serverStaysDown(),
    noConnectionLeft(),
    lockedLease(),
    lockedReads(),
  ]);
  // One more wait of five seconds would show, however busy the machine is.
  expect(Math.max(...took) - Math.min(...took)).toBeLessThan(4_000);
});

/** @returns how long a run waited for the lock, in milliseconds */
async function lockedTable(table: string, mode = "ACCESS EXCLUSIVE"): Promise<number> {
  const where = `held: ${table}, ${mode}`;
  const { query, database, service, call, asked } = await syncedFixture([
    library("alice", "Fire", { scenarios: [1, 2] }),
    library("bob", "Water", { scenarios: [1] }),
  ]);
  const before = await storedRows(query);
  service.change("bob", "Water", { lastModified: "2024-01-02 at 3:04 PM" });
  asked();
  const holder = await holdLocks(database, `LOCK TABLE simcat.${table} IN ${mode} MODE`);
  const startedAt = performance.now();

  const ended = await call(["sync"]);

  const took = performance.now() - startedAt;
  await holder.query("ROLLBACK");
  // The state of the libraries is read before the run begins, too.
  const isBeforeTheRun = ["leases", "sync_runs", "library_sync"].includes(table);
  expect({ where, ...told(ended) }).toEqual({ where, ...databaseFailed(LOCKED) });
  expect(took, where).toBeLessThan(75_000);
  const { libraries, scenarios } = await storedRows(query);
  expect({ where, libraries, scenarios }).toEqual({ where, libraries: before.libraries, scenarios: before.scenarios });
  if (isBeforeTheRun) expect(asked(), where).toEqual([]);
  expect(await query("SELECT status FROM simcat.sync_runs ORDER BY id"), where).toEqual([
    { status: "ok" },
    ...(isBeforeTheRun ? [] : [{ status: "database_failed" }]),
  ]);
  await query("UPDATE simcat.leases SET expires_at = '-infinity'");
  expect({ where, code: (await call(["sync"])).code }).toEqual({ where, code: 0 });
  expect(await storedRows(query), where).toEqual(serviceRows(service.organization));
  return took;
}

async function serverStaysDown(): Promise<void> {
  const gate = gateAfter(24);
  const { start, call, query, service, database } = await fixture(numbered(20), { onRequest: gate.onRequest });
  const proxy = await startPostgresProxy(database.url);
  const running = start(["sync"], { DATABASE_URL: proxy.url(database.url), SIMCAT_CONCURRENCY: "2" });
  await gate.reached;
  await vi.waitFor(async () => expect(await query("SELECT 1 FROM simcat.libraries")).not.toEqual([]), {
    timeout: 10_000,
  });

  // A busy machine may have taken over a second to connect, and that wait is logged too.
  const logged = running.output().length;
  proxy.goDown();
  gate.open();
  const startedAt = performance.now();
  const ended = await running.ended;

  const refused = /ECONNREFUSED.*; check that the server runs, and its address in DATABASE_URL,/;
  expect(told(ended)).toEqual(databaseFailed(refused));
  expect(performance.now() - startedAt).toBeLessThan(100_000);
  expect(ended.stdout).toMatch(/^sync database failed in /);
  const lines = ended.stderr.slice(logged).split("\n");
  expect(lines.filter((line) => line.includes("waiting_for_database"))).toEqual([
    // The connection that was cut, if the machine is too busy for another attempt within a second.
    expect.stringMatching(/waiting for the database: (connect ECONNREFUSED|\w+ ECONNRESET)/),
  ]);
  expect(await query("SELECT status FROM simcat.sync_runs")).toEqual([{ status: "running" }]);
  await query("UPDATE simcat.leases SET expires_at = '-infinity'");
  expect((await call(["sync"])).code).toBe(0);
  expect(await storedRows(query)).toEqual(serviceRows(service.organization));
  expect(await query("SELECT status FROM simcat.sync_runs ORDER BY id")).toEqual([
    { status: "abandoned" },
    { status: "ok" },
  ]);
}

async function noConnectionLeft(): Promise<void> {
  const { database, call, asked } = await fixture([library("alice", "Fire")]);
  const { url } = await createRole(database, { attributes: "CONNECTION LIMIT 0" });
  const startedAt = performance.now();

  const ended = await call(["sync"], { DATABASE_URL: url });

  const refused =
    /^connecting to the database failed: too many connections for role .* \(53300\); raise the role's or the server's connection limit, or end other sessions$/;
  expect(told(ended)).toEqual(databaseFailed(refused));
  expect(performance.now() - startedAt).toBeLessThan(30_000);
  expect(asked()).toEqual([]);
}

/** A forgotten transaction locks the row of a released lease. Nothing else holds it. */
async function lockedLease(): Promise<void> {
  const { database, call, asked } = await syncedFixture([library("alice", "Fire")]);
  const locking = "SET LOCAL application_name = 'forgotten'; SELECT FROM simcat.leases FOR UPDATE";
  const holder = await holdLocks(database, locking);
  const { rows } = await holder.query("SELECT pg_backend_pid() AS pid, current_user AS role");
  const [{ pid, role }] = rows;

  const ended = await call(["sync"]);

  await holder.query("ROLLBACK");
  const session = `simcat.leases is locked by session ${pid} \\(role ${role}, forgotten, for [67]\\d s\\)`;
  const said = `^${session}; wait until it ends, or end it: SELECT pg_terminate_backend\\(${pid}\\)$`;
  expect(told(ended)).toEqual(databaseFailed(new RegExp(said)));
  expect(ended.stderr).toContain("waiting for a lock on the lease");
  expect(ended.stdout + ended.stderr).not.toContain("another run");
  expect(asked()).toEqual([]);
}

async function lockedReads(): Promise<void> {
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
}
