import { chmod } from "node:fs/promises";
import pg from "pg";
import { expect, onTestFinished, test } from "vitest";
import { serviceRows, storedRows } from "../process/service-rows.ts";
import { crashServer, openTestPostgres } from "../support/embedded-server.ts";
import { fixture } from "../support/fixture.ts";
import { numbered } from "../support/organization.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";
import { createTrigger } from "../support/trigger.ts";
import { untilSession } from "./sessions.ts";

/** Waits until the server that was started first has gone. */
const ENDLESS_HERE =
  "IF pg_postmaster_start_time() = (SELECT since FROM public.here) THEN PERFORM pg_sleep(600); END IF; RETURN NULL;";

/** The test has a server of its own, which it can configure and crash. */
test("a URL may name a socket directory in every form (fault 99), and a run continues after a crash (fault 79)", async () => {
  const directory = temporaryDirectory();
  // The server may run as another user.
  await chmod(directory, 0o777);
  const stateDir = temporaryDirectory();
  const start = () => openTestPostgres(stateDir, { unix_socket_directories: directory });
  let server = await start();
  onTestFinished(() => server.stop());
  const { url } = server;
  const { username, password, port, pathname } = new URL(url);
  const { call, service } = await fixture(numbered(30));
  for (const socketUrl of [
    `postgres://${username}:${password}@${pathname}?host=${directory}&port=${port}`,
    `postgres://${pathname}?user=${username}&password=${password}&host=${directory}&port=${port}`,
    `postgres://${username}:${password}@${encodeURIComponent(directory)}:${port}${pathname}`,
  ]) {
    const { code, stdout } = await call(["check"], { DATABASE_URL: socketUrl });
    expect({ code, stdout }).toEqual({
      code: 0,
      stdout: expect.stringMatching(/ok +database +postgres:\/\/.*Postgres/),
    });
    expect(stdout).not.toContain(password);
    expect(stdout).not.toContain("no-host");
    for (const command of [["migrate"], ["sync", "--dry-run"]]) {
      expect(await call(command, { DATABASE_URL: socketUrl })).toMatchObject({ code: 0 });
    }
  }

  const pool = new pg.Pool({ connectionString: url });
  pool.on("error", () => {}); // The crash ends its sessions.
  onTestFinished(() => pool.end());
  const query = async <T>(sql: string, values: readonly unknown[] = []) =>
    (await pool.query(sql, [...values])).rows as T[];
  await query("CREATE TABLE public.here AS SELECT pg_postmaster_start_time() AS since");
  await createTrigger(query, "AFTER INSERT ON simcat.scenarios FOR EACH STATEMENT", ENDLESS_HERE);
  service.clearRequests();
  const running = call(["sync"], { DATABASE_URL: url });
  // The server shows the first 1,024 bytes of the statement that stores scenarios.
  await untilSession(query, "query LIKE '%), loading AS (%' AND state = 'active'");

  await crashServer(server.dataDirectory);
  await server.stop();
  server = await start();
  expect(server.url).toBe(url);

  expect((await running).code).toBe(0);
  expect(await storedRows(query)).toEqual(serviceRows(service.organization));
  expect(
    await query("SELECT status, libraries_read, libraries_changed, scenarios_inserted::int FROM simcat.sync_runs"),
  ).toEqual([{ status: "ok", libraries_read: 30, libraries_changed: 30, scenarios_inserted: 90 }]);
  expect(service.requests).toHaveLength(61);
});
