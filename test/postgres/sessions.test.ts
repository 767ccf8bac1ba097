import { expect, onTestFinished, test, vi } from "vitest";
import { runProgram } from "../../src/cli/program.ts";
import { type Connection, connect, disconnect, Pool } from "../../src/db/connect.ts";
import { cancelOnAbort } from "../../src/db/read/stream-rows.ts";
import { readSnapshot, withTransaction } from "../../src/db/transaction.ts";
import { gateAfter } from "../process/gate.ts";
import { serviceRows, storedRows } from "../process/service-rows.ts";
import { createContext } from "../support/call-cli.ts";
import { freshTestDatabase } from "../support/database.ts";
import { type Fixture, fixture, syncedFixture } from "../support/fixture.ts";
import { changeAll, library, NEWER, numbered, scenario } from "../support/organization.ts";
import { openPool } from "../support/pool.ts";
import { createTrigger } from "../support/trigger.ts";
import { startPostgresProxy } from "./proxy.ts";
import { createRole } from "./roles.ts";
import { holdLocks, sessionsWhere, untilSession, WAITS_FOR_LOCK } from "./sessions.ts";
import { databaseFailed, told } from "./told.ts";

async function expectWhole({ query, service }: Fixture): Promise<void> {
  expect(await storedRows(query)).toEqual(serviceRows(service.organization));
}

test("a run whose idle sessions are all ended by the server opens others and ends well (fault 78)", async () => {
  const gate = gateAfter(10);
  const made = await fixture(numbered(20), { onRequest: gate.onRequest });
  const { call, query } = made;
  const running = call(["sync"], { SIMCAT_CONCURRENCY: "2" });
  await gate.reached;
  await expect.poll(() => query("SELECT 1 FROM simcat.libraries")).not.toEqual([]);
  await expect.poll(() => sessionsWhere(query, "state <> 'idle'")).toEqual([]);

  const ended = await query(
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'simcat'",
  );
  expect(ended.length).toBeGreaterThan(0);
  gate.open();

  expect((await running).code).toBe(0);
  expect(await query("SELECT status, libraries_read, libraries_failed FROM simcat.sync_runs")).toEqual([
    { status: "ok", libraries_read: 20, libraries_failed: 0 },
  ]);
  await expectWhole(made);
});

test("a run continues if a session is ended at any statement and so are the next three (fault 78)", async () => {
  const sync = async (endBefore: ReadonlySet<string>) => {
    const made = await fixture([library("alice", "Fire", { scenarios: [1, 2] }), library("bob", "Water")]);
    const proxy = await startPostgresProxy(made.database.url);
    const sent = new Set<string>();
    proxy.judge = (statement) => {
      const isNew = !sent.has(statement);
      sent.add(statement);
      if (!isNew || !endBefore.has(statement)) return "pass";
      proxy.endAtOnce = 3;
      return "cut before";
    };
    const ended = await made.call(["sync"], { DATABASE_URL: proxy.url(made.database.url) });
    await expectWhole(made);
    return { ended: { code: ended.code, said: ended.code === 0 ? "" : ended.stderr, left: proxy.endAtOnce }, sent };
  };

  const statements = [...(await sync(new Set())).sent];
  expect(statements.length).toBeGreaterThan(20);
  // Several per run, far enough apart that one failure does not hit the retry of another.
  const interrupted = [0, 1, 2, 3, 4].map(async (remainder) => {
    const some = new Set(statements.filter((_, at) => at % 5 === remainder));
    const { ended, sent } = await sync(some);
    expect({ remainder, ...ended }).toEqual({ remainder, code: 0, said: "", left: 0 });
    expect([...some].filter((statement) => !sent.has(statement))).toEqual([]);
  });
  await Promise.all(interrupted);
});

test("a connection attempt interrupted by system sleep is retried once, unless no wait is allowed", async () => {
  const { database } = await fixture([]);
  const proxy = await startPostgresProxy(database.url);
  const { signal } = new AbortController();
  const patiently = (retryForMs: number) => {
    const pool = new Pool(proxy.url(database.url), {});
    onTestFinished(() => disconnect(pool));
    proxy.endAtOnce = 1;
    const options = { operation: "asking", retryForMs };
    return withTransaction(pool, options, (connection) => connection.query("SELECT 1 AS one"), signal);
  };

  // The patience ends before a connection can be made.
  expect((await patiently(0.001)).rows).toEqual([{ one: 1 }]);
  await expect(patiently(0)).rejects.toThrow(/^asking failed: /);
});

/** The first n statements on the table raise the SQLSTATE, retries included. */
async function raising({ query }: Fixture, times: number, state: string, on: string): Promise<void> {
  await query("CREATE SEQUENCE public.raised; GRANT ALL ON public.raised TO public");
  const raise = `RAISE EXCEPTION 'raised by the test' USING ERRCODE = '${state}'`;
  const statements = `IF nextval('public.raised') <= ${times} THEN ${raise}; END IF; RETURN NULL;`;
  await createTrigger(query, `AFTER ${on} FOR EACH STATEMENT`, statements);
}

test("a slow transaction is announced, but not a silent one", async () => {
  const { database } = await fixture([]);
  const waits: string[] = [];
  const { signal } = new AbortController();
  const pool = await connect(database.url, { slowAfterMs: 50, onWait: ({ message }) => waits.push(message) }, signal);
  onTestFinished(() => disconnect(pool));
  const wait = (operation: string, isSilent: boolean) =>
    withTransaction(pool, { operation, isSilent }, (one) => one.query("SELECT pg_sleep(0.2)"), signal);

  await wait("reading in silence", true);
  expect(waits).toEqual([]);
  await wait("reading", false);
  expect(waits).toEqual(["waiting for the database: reading, 50 ms so far"]);
});

test("a read ends as soon as its signal is aborted (fault 358)", async () => {
  const { database } = await fixture([]);
  const sleep = (connection: Connection) => connection.query("SELECT pg_sleep(20)");
  const pool = await openPool(database);
  const reading = readSnapshot(pool, "reading", sleep, AbortSignal.timeout(100));
  await expect(reading).rejects.toThrow("aborted due to timeout");
  const connection = await pool.connect();
  const silence = () => new Promise((_, reject) => connection.once("end", reject));
  const asking = cancelOnAbort(pool, connection, silence, AbortSignal.timeout(100));
  await expect(asking).rejects.toThrow("aborted due to timeout");
  connection.release(true);
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
  const running = runProgram(context, ["status"]);

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

test.each([
  ["40P01", "INSERT ON simcat.scenarios"],
  ["40001", "INSERT ON simcat.scenarios"],
  ["40001", "UPDATE ON simcat.library_sync"],
  ["40P01", "INSERT ON simcat.sync_runs"],
  ["40001", "INSERT OR UPDATE ON simcat.leases"],
  ["55P03", "INSERT ON simcat.library_sync"],
])("%s twice at %s: the whole transaction again, and the run is ok (fault 80)", async (state, on) => {
  const made = await fixture(numbered(20));
  await raising(made, 2, state, on);

  const { code, stdout } = await made.call(["sync"]);

  expect(code).toBe(0);
  expect(stdout).toContain("20 listed, 20 read, 0 skipped, 20 changed, 0 removed, 0 failed");
  expect(await made.query("SELECT status, scenarios_inserted::int FROM simcat.sync_runs")).toEqual([
    { status: "ok", scenarios_inserted: 60 },
  ]);
  await expectWhole(made);
});

test("a permanent 40001 ends the run with 69; the copy stays, and the next run recovers (fault 80)", async () => {
  const made = await syncedFixture(numbered(20));
  const before = await storedRows(made.query);
  changeAll(made.service, {
    lastModified: NEWER,
    scenarios: [scenario(1, { scenarioName: "renamed" }), scenario(2), scenario(4)],
  });
  await raising(made, 1_000_000, "40001", "INSERT OR UPDATE ON simcat.scenarios");

  expect(told(await made.call(["sync"]))).toEqual(databaseFailed("raised by the test (40001)"));

  const { libraries, scenarios } = await storedRows(made.query);
  expect({ libraries, scenarios }).toEqual({ libraries: before.libraries, scenarios: before.scenarios });
  expect(await made.query("SELECT DISTINCT bookmark, listed_text FROM simcat.library_sync")).toEqual([
    { bookmark: "2023-09-11 at 2:56 PM", listed_text: NEWER },
  ]);
  await made.query("DROP TRIGGER act ON simcat.scenarios");
  expect((await made.call(["sync"])).code).toBe(0);
  await expectWhole(made);
});

test("a deadlock with another session is resolved by retrying simcat's transaction (fault 80)", async () => {
  const made = await syncedFixture(numbered(20));
  const { query, database, service, call } = made;
  changeAll(service, { lastModified: NEWER });
  const lockOne = (name: string) => `UPDATE simcat.library_sync SET failures = failures WHERE library_name = '${name}'`;
  // The other session checks for deadlocks late, so that the server ends simcat's transaction.
  const other = await holdLocks(database, `SET LOCAL deadlock_timeout = '60s'; ${lockOne("Lib 19")}`);
  const running = call(["sync"]);
  await untilSession(query, `${WAITS_FOR_LOCK} AND query LIKE '%library_sync%'`);

  await other.query(lockOne("Lib 0"));
  await other.query("COMMIT");

  expect((await running).code).toBe(0);
  await expectWhole(made);
  const deadlocks = "SELECT deadlocks::int FROM pg_stat_database WHERE datname = current_database()";
  await vi.waitFor(async () => expect(await query(deadlocks)).toEqual([{ deadlocks: 1 }]), { timeout: 10_000 });
});

test("a table's lock that ends after one attempt to store fails no library (fault 200)", async () => {
  const { service, database, query, call } = await syncedFixture([library("alice", "Fire", { scenarios: [1] })]);
  service.change("alice", "Fire", { lastModified: NEWER, scenarios: [scenario(1), scenario(2)] });
  const holder = await holdLocks(database, "LOCK TABLE simcat.scenarios IN ACCESS EXCLUSIVE MODE");
  const running = call(["sync"]);

  // It finds out whether the tables can be written.
  await untilSession(query, "query LIKE '%SELECT NULL::%' AND wait_event_type = 'Lock'");
  await holder.query("ROLLBACK");

  expect((await running).code).toBe(0);
  expect(await storedRows(query)).toEqual(serviceRows(service.organization));
});

test("a role limited to one connection can run every command (fault 83)", async () => {
  const made = await fixture(numbered(20));
  const { url } = await createRole(made.database, { attributes: "CONNECTION LIMIT 1" });

  const { code, stdout } = await made.call(["sync"], { DATABASE_URL: url });

  expect(code).toBe(0);
  expect(stdout).toContain("20 listed, 20 read, 0 skipped, 20 changed, 0 removed, 0 failed");
  await expectWhole(made);
  expect((await made.call(["backfill"], { DATABASE_URL: url })).code).toBe(0);
});
