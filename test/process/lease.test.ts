import { expect, test, vi } from "vitest";
import { startPostgresProxy } from "../postgres/proxy.ts";
import { untilSession, WAITS_FOR_LOCK } from "../postgres/sessions.ts";
import { told } from "../postgres/told.ts";
import { fixture, syncedFixture } from "../support/fixture.ts";
import { numbered, scenario } from "../support/organization.ts";
import { gateAfter } from "./gate.ts";
import { expireLease, rowVersions, serviceRows, storedRows } from "./service-rows.ts";

const WAIT = { timeout: 25_000, interval: 15 };

test("during a run, another sync or backfill ends with 75, without a run row or a request (faults 64, 65)", async () => {
  const gate = gateAfter(3);
  const { start, call, query, asked, service } = await fixture(numbered(20), { onRequest: gate.onRequest });
  const first = start(["backfill"], { SIMCAT_CONCURRENCY: "2" });
  await gate.reached;
  asked();

  const others = [["sync"], ["backfill"], ["sync", "--library", "alice/Lib 1"]];
  const ended = await Promise.all(others.map((args) => call(args)));

  const busy = {
    exit: 75,
    code: "busy",
    said: expect.stringMatching(
      new RegExp(
        `^another run is at work \\(.+:${first.process.pid}\\) and renews its lease; nothing was done here\\.`,
      ),
    ),
  };
  expect(ended.map(told)).toEqual([busy, busy, busy]);
  expect(ended.map(({ stdout }) => stdout)).toEqual(["", "", ""]);
  expect(asked()).not.toContain("GET /libs");
  expect(await query("SELECT status FROM simcat.sync_runs")).toEqual([{ status: "running" }]);

  gate.open();
  expect((await first.ended).code).toBe(0);
  expect(await storedRows(query)).toEqual(serviceRows(service.organization));
  expect(await query("SELECT token::int FROM simcat.leases")).toEqual([{ token: 1 }]);
});

test("a run stopped past its lease writes nothing when it resumes, and ends with 75 (faults 62, 64, 151)", async () => {
  const gate = gateAfter(10);
  const { start, call, query, service } = await fixture(numbered(20), { onRequest: gate.onRequest });
  const late = start(["backfill"], { SIMCAT_CONCURRENCY: "3" });
  await gate.reached;
  await expect.poll(() => query("SELECT 1 FROM simcat.libraries")).not.toEqual([]);
  late.process.kill("SIGSTOP");
  gate.open();
  // Requests that the stopped run sent before, and whose answers it has not read yet, are older than this.
  for (const { name } of service.organization.libraries()) {
    service.change("alice", name, {
      lastModified: "2024-01-02 at 3:04 PM",
      scenarios: [scenario(2), scenario(4)],
    });
  }
  await expireLease(query);
  const [stored] = await query<{ count: number }>(
    "SELECT count(*)::int FROM simcat.library_sync WHERE content_read_at IS NOT NULL",
  );

  expect((await call(["backfill"])).code).toBe(0);
  expect(await storedRows(query)).toEqual(serviceRows(service.organization));
  const before = await rowVersions(query);
  const [lease] = await query("SELECT * FROM simcat.leases");
  late.process.kill("SIGCONT");
  const ended = await late.ended;

  expect(ended.code).toBe(75);
  expect(ended.stdout).toContain("another run took over the lease");
  expect(await rowVersions(query)).toEqual(before);
  expect(await query("SELECT * FROM simcat.leases")).toEqual([lease]);
  expect(
    await query(
      "SELECT status, error LIKE '%killed%its database or its lease%' AS told, libraries_read AS read FROM simcat.sync_runs ORDER BY id",
    ),
  ).toEqual([
    { status: "abandoned", told: true, read: stored?.count },
    { status: "ok", told: null, read: 20 },
  ]);
  expect(stored?.count).toBeGreaterThan(0);
});

test("a run stopped in a transaction blocks others only until its session times out (faults 62, 64)", async () => {
  const { start, call, query, service, database } = await fixture(numbered(20));
  const blocker = await database.pool.connect();
  await blocker.query("BEGIN; LOCK TABLE simcat.scenarios IN SHARE MODE");
  const late = start(["sync"]);
  await untilSession(query, WAITS_FOR_LOCK);
  late.process.kill("SIGSTOP");
  await blocker.query("ROLLBACK");
  blocker.release();
  const { pid } = await untilSession(query, "state = 'idle in transaction'");
  await expireLease(query);
  const next = start(["sync"]);
  // The other run waits for the stopped run's lock on the lease until the server ends that session: after 15 s, or now.
  await vi.waitFor(
    () => expect(next.output()).toContain("another session holds it, and if it still does after 60 s"),
    WAIT,
  );
  await query("SELECT pg_terminate_backend($1)", [pid]);

  expect((await next.ended).code).toBe(0);
  const before = await rowVersions(query);
  late.process.kill("SIGCONT");
  expect((await late.ended).code).toBe(75);

  expect(await rowVersions(query)).toEqual(before);
  expect(await storedRows(query)).toEqual(serviceRows(service.organization));
  expect((await call(["sync"])).stdout).toContain("20 listed, 0 read, 20 skipped");
});

test("a dead lease that ends far ahead, after a clock was set back, expires after 15 seconds (fault 62)", async () => {
  const { call, query } = await fixture(numbered(20));
  await call(["migrate"]);
  await query(
    "INSERT INTO simcat.leases (name, holder, token, expires_at) VALUES ('sync', 'elsewhere:1', 7, now() + interval '1 year')",
  );
  const began = performance.now();

  expect((await call(["sync"])).code).toBe(0);

  expect(performance.now() - began).toBeGreaterThan(15_000);
  expect(await query("SELECT token::int, expires_at FROM simcat.leases")).toEqual([
    { token: 8, expires_at: Number.NEGATIVE_INFINITY },
  ]);
});

test("a lease that ends far ahead belongs to the holder that renews it (fault 64)", async () => {
  const gate = gateAfter(3);
  const { start, call, query } = await fixture(numbered(20), { onRequest: gate.onRequest });
  const first = start(["sync"]);
  await gate.reached;
  await query("UPDATE simcat.leases SET expires_at = expires_at + interval '1 year'");

  expect((await call(["sync"])).code).toBe(75);

  gate.open();
  expect((await first.ended).code).toBe(0);
});

test("a run inside a long transaction counts as busy, not as a database failure (fault 94)", async () => {
  const { start, call, query } = await fixture(numbered(20));
  await query("CREATE TABLE public.gate AS SELECT 1");
  await query(
    `CREATE FUNCTION public.wait() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
       WHILE EXISTS (SELECT FROM public.gate) LOOP PERFORM pg_sleep(0.05); END LOOP;
       RETURN NULL;
     END $$`,
  );
  await query("CREATE TRIGGER wait AFTER INSERT ON simcat.scenarios EXECUTE FUNCTION public.wait()");
  const holder = start(["sync"]);
  await untilSession(query, "state = 'active' AND wait_event = 'PgSleep'");

  expect(told(await call(["sync"]))).toMatchObject({ exit: 75, code: "busy" });

  await query("DELETE FROM public.gate");
  expect((await holder.ended).code).toBe(0);
  expect(await query("SELECT status FROM simcat.sync_runs")).toEqual([{ status: "ok" }]);
});

test("a hanging connection costs neither the lease nor the run (fault 95)", async () => {
  const gate = gateAfter(3);
  const { start, query, database } = await fixture(numbered(20), { onRequest: gate.onRequest });
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
  const expiry = () => query("SELECT expires_at FROM simcat.leases");
  const taken = await expiry();

  await vi.waitFor(async () => expect(await expiry()).not.toEqual(taken), WAIT);

  expect(renewals).toBeGreaterThan(1);
  gateIsOpen = true;
  gate.open();
  expect((await running.ended).code).toBe(0);
  expect(begins).toBeGreaterThan(1);
  expect(await query("SELECT token::int FROM simcat.leases")).toEqual([{ token: 1 }]);
});

test("a run that waits for a dead run's lease announces it once (fault 96)", async () => {
  const { call, query } = await fixture(numbered(20));
  await query(
    "INSERT INTO simcat.leases (name, holder, token, expires_at) VALUES ('sync', 'elsewhere:1', 7, now() + interval '12 s')",
  );

  const { code, stderr } = await call(["sync"]);

  expect(code).toBe(0);
  const lines = stderr.split("\n").filter((line) => line.includes("waiting_for_lease"));
  expect(lines).toEqual([expect.stringContaining("waiting for the lease of another run (elsewhere:1)")]);
});

test("a run whose last transaction fails has released its lease when it ends", async () => {
  const { call, query, database } = await syncedFixture(numbered(20));
  const proxy = await startPostgresProxy(database.url);
  let releases = 0;
  proxy.judge = (statement) => {
    if (!statement.includes("SET expires_at = '-infinity'")) return "pass";
    releases += 1;
    return releases === 2 ? "cut before" : "pass";
  };
  await query(
    `CREATE FUNCTION public.refuse() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN RAISE 'refused'; END$$;
     CREATE TRIGGER refuse BEFORE UPDATE ON simcat.sync_runs FOR EACH ROW EXECUTE FUNCTION public.refuse()`,
  );

  expect((await call(["sync"], { DATABASE_URL: proxy.url(database.url) })).code).toBe(69);
  expect(await query("SELECT expires_at = '-infinity' AS released FROM simcat.leases")).toEqual([{ released: true }]);
  expect(releases).toBe(3);
});
