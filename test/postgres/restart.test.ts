import { expect, test } from "vitest";
import { serviceRows, storedRows } from "../process/service-rows.ts";
import { fixture } from "../support/fixture.ts";
import { numbered } from "../support/organization.ts";
import { startOwnServer } from "./own-server.ts";
import { untilSession } from "./sessions.ts";

/** Inserts scenarios continuously until the server that was started first has gone. */
const ENDLESS_HERE = `
  CREATE TABLE public.here AS SELECT pg_postmaster_start_time() AS since;
  CREATE FUNCTION public.take_time() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    IF pg_postmaster_start_time() = (SELECT since FROM public.here) THEN PERFORM pg_sleep(600); END IF;
    RETURN NULL;
  END $$;
  CREATE TRIGGER take_time AFTER INSERT ON simcat.scenarios FOR EACH STATEMENT EXECUTE FUNCTION public.take_time()`;

test("a run continues after a server crash in its transaction and stores everything once (fault 79)", async () => {
  const server = await startOwnServer();
  const { query } = server;
  const { call, service } = await fixture(numbered(30));
  const toServer = { DATABASE_URL: server.url };
  await call(["migrate"], toServer);
  await query(ENDLESS_HERE);
  const running = call(["sync"], toServer);
  await untilSession(query, "query LIKE '%INSERT INTO simcat.scenarios%' AND state = 'active'");

  await server.crash();
  await server.start();

  expect((await running).code).toBe(0);
  expect(await storedRows(query)).toEqual(serviceRows(service.organization));
  expect(
    await query("SELECT status, libraries_read, libraries_changed, scenarios_inserted::int FROM simcat.sync_runs"),
  ).toEqual([{ status: "ok", libraries_read: 30, libraries_changed: 30, scenarios_inserted: 90 }]);
  expect(service.requests).toHaveLength(61);
});
