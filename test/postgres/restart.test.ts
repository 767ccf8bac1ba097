import { expect, test } from "vitest";
import { gateAfter } from "../process/gate.ts";
import { brokenHistories, serviceRows, storedRows } from "../process/service-rows.ts";
import { fixture } from "../support/fixture.ts";
import { library, scenario } from "../support/organization.ts";
import { startOwnServer } from "./own-server.ts";
import { sessionsWhere, untilSession } from "./sessions.ts";

const NEWER = "2024-01-02 at 3:04 PM";
const thirty = () => Array.from({ length: 30 }, (_, at) => library("alice", `Lib ${at}`, { scenarios: [1, 2, 3] }));
/** Inserts scenarios continuously until the server that was started first has gone. */
const ENDLESS_HERE = `
  CREATE TABLE public.here AS SELECT pg_postmaster_start_time() AS since;
  CREATE FUNCTION public.take_time() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    IF pg_postmaster_start_time() = (SELECT since FROM public.here) THEN PERFORM pg_sleep(600); END IF;
    RETURN NULL;
  END $$;
  CREATE TRIGGER take_time AFTER INSERT ON simcat.scenarios FOR EACH STATEMENT EXECUTE FUNCTION public.take_time()`;

test("a run continues after a server crash in its transaction and stores everything once (fault 79)", {
  timeout: 120_000,
}, async () => {
  const server = await startOwnServer();
  const { query } = server;
  const { start, call, service } = await fixture(thirty());
  const toServer = { DATABASE_URL: server.url };
  await call(["migrate"], toServer);
  await query(ENDLESS_HERE);
  const running = start(["sync"], toServer);
  await untilSession(query, "query LIKE '%INSERT INTO simcat.scenarios%' AND state = 'active'");

  await server.crash();
  await server.start();

  expect((await running.ended).code).toBe(0);
  expect(await storedRows(query)).toEqual(serviceRows(service.organization));
  expect(
    await query("SELECT status, libraries_read, libraries_changed, scenarios_inserted::int FROM simcat.sync_runs"),
  ).toEqual([{ status: "ok", libraries_read: 30, libraries_changed: 30, scenarios_inserted: 90 }]);
  expect(service.requests).toHaveLength(61);
});

test("a crash that loses the last commits during a sync leaves a consistent copy (fault 79)", {
  timeout: 180_000,
}, async () => {
  const server = await startOwnServer({ synchronous_commit: "off", wal_writer_delay: "10s" });
  const { query } = server;
  let gate = gateAfter(1_000);
  const { start, call, service } = await fixture(thirty(), { onRequest: (request) => gate.onRequest(request) });
  const toServer = { DATABASE_URL: server.url };
  await call(["sync"], toServer);
  await query("CHECKPOINT");
  for (const { name } of service.organization.libraries()) {
    service.change("alice", name, {
      lastModified: NEWER,
      scenarios: [scenario(1, { scenarioName: "renamed" }), scenario(4)],
    });
  }
  gate = gateAfter(24);
  const running = start(["sync"], { ...toServer, SIMCAT_CONCURRENCY: "2" });
  await gate.reached;
  const renamed = "SELECT 1 FROM simcat.scenarios WHERE scenario_name = 'renamed'";
  await expect.poll(() => query(renamed)).not.toEqual([]);
  await expect.poll(() => sessionsWhere(query, "state <> 'idle'")).toEqual([]);

  // Without synchronous commits a crash loses the last transactions, as on a disk that ignores flushes.
  await server.crash();
  await server.start();
  gate.open();
  const ended = await running.ended;

  // The lease or the run's row may be lost; the run must then not report success.
  expect([0, 69, 75]).toContain(ended.code);
  await query("UPDATE simcat.leases SET expires_at = '-infinity'");
  expect((await call(["sync"], toServer)).code).toBe(0);
  expect(await storedRows(query)).toEqual(serviceRows(service.organization));
  expect(await brokenHistories(query)).toEqual([]);
});
