import { expect, test } from "vitest";
import { serviceRows, storedRows } from "../process/service-rows.ts";
import { callCli } from "../support/call-cli.ts";
import { startCli } from "../support/cli.ts";
import { freshTestDatabase, withClient } from "../support/database.ts";
import { fixture } from "../support/fixture.ts";
import { changeAll, numbered, scenario } from "../support/organization.ts";
import { findProgram } from "../support/programs.ts";
import { startPgbouncer } from "./pgbouncer.ts";
import { untilSession } from "./sessions.ts";

/** The rows of a query in the next session. */
const askNext = (url: string, sql: string) => withClient(url, async (next) => (await next.query(sql)).rows);

const bounced = test.skipIf(findProgram("pgbouncer", "pgbouncer") === null);

bounced("all commands work through PgBouncer, with migrations by DATABASE_DIRECT_URL (fault 84)", async () => {
  const { call, service } = await fixture(numbered(20));
  const empty = await freshTestDatabase({ empty: true });
  const through = { DATABASE_URL: await startPgbouncer(empty.url), DATABASE_DIRECT_URL: empty.url };

  expect((await call(["migrate"], through)).code).toBe(0);
  expect((await call(["sync"], through)).code).toBe(0);
  expect(await storedRows(empty.query)).toEqual(serviceRows(service.organization));
  changeAll(service, {
    lastModified: "2024-01-02 at 3:04 PM",
    scenarios: [scenario(2), scenario(4)],
  });
  expect((await call(["backfill"], through)).code).toBe(0);
  expect(await storedRows(empty.query)).toEqual(serviceRows(service.organization));
  const before = await empty.query("SELECT xmin::text, * FROM simcat.scenarios ORDER BY 2, 3, 4");
  expect((await call(["sync"], through)).stdout).toContain("20 listed, 0 read, 20 skipped");
  expect(await empty.query("SELECT xmin::text, * FROM simcat.scenarios ORDER BY 2, 3, 4")).toEqual(before);
  for (const command of [["status"], ["verify"], ["sync", "--dry-run"]]) {
    expect({ command, ...(await call(command, through)) }).toMatchObject({ command, code: 0 });
  }
});

bounced("one server connection is enough, for migrations too, and nothing is left set in it (fault 84)", async () => {
  const { call, service } = await fixture(numbered(20));
  const empty = await freshTestDatabase({ empty: true });
  const url = await startPgbouncer(empty.url, { default_pool_size: "1" });

  expect((await call(["sync"], { DATABASE_URL: url })).code).toBe(0);

  expect(await storedRows(empty.query)).toEqual(serviceRows(service.organization));
  const rows = await askNext(
    url,
    `SELECT current_setting('lock_timeout') AS lock, current_setting('idle_in_transaction_session_timeout') AS idle,
       current_setting('TimeZone') = (SELECT reset_val FROM pg_settings WHERE name = 'TimeZone') AS zone,
       (SELECT count(*)::int FROM pg_prepared_statements) AS prepared, (SELECT count(*)::int FROM pg_locks WHERE locktype = 'advisory' AND pid = pg_backend_pid()) AS locks`,
  );

  expect(rows).toEqual([{ lock: "0", idle: "0", zone: true, prepared: 0, locks: 0 }]);
});

bounced("simcat query leaves no setting of its statement in the pool (fault 248)", async () => {
  const { url } = await freshTestDatabase();
  const pooled = await startPgbouncer(url, { default_pool_size: "1" });
  for (const [sql, code] of [
    ["SELECT set_config('work_mem', '77MB', false)", 0],
    ["SET work_mem = '77MB'", 64],
    ["SELECT set_config('work_mem', '77MB', false), 1 / 0", 64],
  ] as const) {
    expect(await callCli(["query", "--csv", sql], { DATABASE_URL: pooled })).toMatchObject({ code });

    expect(await askNext(pooled, "SELECT current_setting('work_mem') AS memory"), sql).not.toEqual([
      { memory: "77MB" },
    ]);
  }
});

bounced("Ctrl-C ends a query although PgBouncer has no free session to cancel it (fault 252)", async () => {
  const { url, query } = await freshTestDatabase();
  const DATABASE_URL = await startPgbouncer(url, { default_pool_size: "1" });
  const running = startCli(["query", "SELECT pg_sleep(15)"], { DATABASE_URL });
  await untilSession(query, "query = 'SELECT pg_sleep(15)'");
  running.process.kill("SIGINT");
  expect(await running.ended).toMatchObject({ code: 130, stdout: "" });
});
