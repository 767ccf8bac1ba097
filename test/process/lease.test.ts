import { expect, test, vi } from "vitest";
import { startPostgresProxy } from "../postgres/proxy.ts";
import { holdLocks, untilSession, WAITS_FOR_LOCK } from "../postgres/sessions.ts";
import { told } from "../postgres/told.ts";
import { fixture, syncedFixture } from "../support/fixture.ts";
import { changeAll, numbered, scenario } from "../support/organization.ts";
import { rowVersions } from "../support/row-versions.ts";
import { createTrigger } from "../support/trigger.ts";
import { gateAfter } from "./gate.ts";
import { expireLease, serviceRows, storedRows } from "./service-rows.ts";

const WAIT = { timeout: 25_000, interval: 15 };

test("others end with 75 during a run, without a row or request, however far its lease ends (faults 64, 65)", async () => {
  const gate = gateAfter(3);
  const { start, call, query, lines, asked, service } = await fixture(numbered(20), { onRequest: gate.onRequest });
  const first = start(["backfill"], { SIMCAT_CONCURRENCY: "2" });
  await gate.reached;
  await query("UPDATE simcat.leases SET expires_at = expires_at + interval '1 year'");
  asked();

  const others = [["sync"], ["backfill"], ["sync", "--library", "alice/Lib 1"]];
  const ended = await Promise.all(others.map((args) => call(args)));

  const said = `^another run is at work \\(.+:${first.process.pid}\\); nothing was done here\\.`;
  const busy = { exit: 75, code: "busy", said: expect.stringMatching(new RegExp(said)) };
  expect(ended.map(told)).toEqual([busy, busy, busy]);
  expect(ended.map(({ stdout }) => stdout)).toEqual(["", "", ""]);
  expect(asked()).not.toContain("GET /libs");
  expect(await lines("SELECT status FROM simcat.sync_runs")).toEqual(["running"]);

  gate.open();
  expect((await first.ended).code).toBe(0);
  expect(await storedRows(query)).toEqual(serviceRows(service.organization));
  expect(await lines("SELECT token FROM simcat.leases")).toEqual(["1"]);
});

test("a run stopped past its lease writes nothing when it resumes, and ends with 75 (faults 62, 64, 151)", async () => {
  const gate = gateAfter(10);
  const { start, call, query, lines, service } = await fixture(numbered(20), { onRequest: gate.onRequest });
  const late = start(["backfill"], { SIMCAT_CONCURRENCY: "3" });
  await gate.reached;
  await expect.poll(() => query("SELECT 1 FROM simcat.libraries")).not.toEqual([]);
  late.process.kill("SIGSTOP");
  gate.open();
  // Requests that the stopped run sent before, and whose answers it has not read yet, are older than this.
  changeAll(service, { lastModified: "2024-01-02 at 3:04 PM", scenarios: [scenario(2), scenario(4)] });
  await expireLease(query);
  const stored = Number(await lines("SELECT count(content_read_at) FROM simcat.library_sync"));
  expect(stored).toBeGreaterThan(0);

  expect((await call(["backfill"])).code).toBe(0);
  expect(await storedRows(query)).toEqual(serviceRows(service.organization));
  const before = await rowVersions(query, ["leases"]);
  const [lease] = await query("SELECT * FROM simcat.leases");
  late.process.kill("SIGCONT");
  const ended = await late.ended;

  expect(ended.code).toBe(75);
  expect(ended.stdout).toContain("another run took over the lease");
  expect(await rowVersions(query, ["leases"])).toEqual(before);
  expect(await query("SELECT * FROM simcat.leases")).toEqual([lease]);
  const told = "error LIKE '%killed%its database or its lease%'";
  expect(await lines(`SELECT status, libraries_read, ${told} FROM simcat.sync_runs ORDER BY id`)).toEqual([
    `abandoned ${stored} true`,
    "ok 20 NULL",
  ]);
});

test("a run stopped in a transaction blocks others only until its session times out (faults 62, 64)", async () => {
  const { start, call, query, service, database } = await fixture(numbered(20));
  const blocker = await holdLocks(database, "LOCK TABLE simcat.scenarios IN SHARE MODE");
  const late = start(["sync"]);
  await untilSession(query, WAITS_FOR_LOCK);
  late.process.kill("SIGSTOP");
  await blocker.query("ROLLBACK");
  const { pid } = await untilSession(query, "state = 'idle in transaction'");
  await expireLease(query);
  const next = start(["sync"]);
  // The other run waits for the stopped run's lock on the lease until the server ends that session: after 15 s, or now.
  const waits = "another session holds it, and if it still does after 60 s";
  await vi.waitFor(() => expect(next.output()).toContain(waits), WAIT);
  await query("SELECT pg_terminate_backend($1)", [pid]);

  expect((await next.ended).code).toBe(0);
  const before = await rowVersions(query, ["leases"]);
  late.process.kill("SIGCONT");
  expect((await late.ended).code).toBe(75);

  expect(await rowVersions(query, ["leases"])).toEqual(before);
  expect(await storedRows(query)).toEqual(serviceRows(service.organization));
  expect((await call(["sync"])).stdout).toContain("20 listed, 0 read, 20 skipped");
});

test("a dead lease that ends far ahead expires after 15 s; the wait is announced once (faults 62, 96)", async () => {
  const { call, query, lines } = await fixture(numbered(20));
  await query("INSERT INTO simcat.leases VALUES ('sync', 'elsewhere:1', 7, now() + interval '1 year')");
  const began = performance.now();

  const { code, stderr } = await call(["sync"]);

  expect(code).toBe(0);
  expect(performance.now() - began).toBeGreaterThan(15_000);
  expect(await lines("SELECT token, expires_at::text FROM simcat.leases")).toEqual(["8 -infinity"]);
  const announced = stderr.split("\n").filter((line) => line.includes("waiting_for_lease"));
  expect(announced).toEqual([expect.stringContaining("waiting for the lease of another run (elsewhere:1)")]);
});

test("a run inside a long transaction counts as busy, not as a database failure (fault 94)", async () => {
  const { start, call, query, lines } = await fixture(numbered(20));
  await query("CREATE TABLE public.gate AS SELECT 1");
  const wait = "WHILE EXISTS (SELECT FROM public.gate) LOOP PERFORM pg_sleep(0.05); END LOOP; RETURN NULL;";
  await createTrigger(query, "AFTER INSERT ON simcat.scenarios", wait);
  const holder = start(["sync"]);
  await untilSession(query, "state = 'active' AND wait_event = 'PgSleep'");

  expect(told(await call(["sync"]))).toMatchObject({ exit: 75, code: "busy" });

  await query("DELETE FROM public.gate");
  expect((await holder.ended).code).toBe(0);
  expect(await lines("SELECT status FROM simcat.sync_runs")).toEqual(["ok"]);
});

test("a hanging connection costs neither the lease nor the run (fault 95)", async () => {
  const gate = gateAfter(3);
  const { start, lines, database } = await fixture(numbered(20), { onRequest: gate.onRequest });
  const proxy = await startPostgresProxy(database.url);
  let renewals = 0;
  let begins = 0;
  let gateIsOpen = false;
  proxy.judge = (statement) => {
    if (statement.startsWith("BEGIN") && gateIsOpen && ++begins === 1) return "black-hole";
    if (!/^\s*UPDATE simcat.leases\s+SET expires_at = CASE/.test(statement)) return "pass";
    renewals += 1;
    return renewals === 1 ? "black-hole" : "pass";
  };
  const running = start(["sync"], { DATABASE_URL: proxy.url(database.url) });
  await gate.reached;
  const expiry = () => lines("SELECT expires_at::text FROM simcat.leases");
  const taken = await expiry();

  await vi.waitFor(async () => expect(await expiry()).not.toEqual(taken), WAIT);

  expect(renewals).toBeGreaterThan(1);
  gateIsOpen = true;
  gate.open();
  expect((await running.ended).code).toBe(0);
  expect(begins).toBeGreaterThan(1);
  expect(await lines("SELECT token FROM simcat.leases")).toEqual(["1"]);
});

test("a run whose last transaction fails has released its lease when it ends", async () => {
  const { call, query, lines, database } = await syncedFixture(numbered(20));
  const proxy = await startPostgresProxy(database.url);
  let releases = 0;
  proxy.judge = (statement) => {
    if (!statement.includes("SET expires_at = '-infinity'")) return "pass";
    releases += 1;
    return releases === 2 ? "cut before" : "pass";
  };
  await createTrigger(query, "BEFORE UPDATE ON simcat.sync_runs FOR EACH ROW", "RAISE 'refused';");

  expect((await call(["sync"], { DATABASE_URL: proxy.url(database.url) })).code).toBe(69);
  expect(await lines("SELECT expires_at::text FROM simcat.leases")).toEqual(["-infinity"]);
  expect(releases).toBe(3);
});
