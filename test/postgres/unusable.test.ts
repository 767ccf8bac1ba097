import { expect, onTestFinished, test } from "vitest";
import { databaseError } from "../../src/db/db-errors.ts";
import { callCli } from "../support/call-cli.ts";
import { runCli } from "../support/cli.ts";
import { freshTestDatabase } from "../support/database.ts";
import { API_KEY, fixture, serve } from "../support/fixture.ts";
import { library } from "../support/organization.ts";
import { createRole } from "./roles.ts";
import { databaseFailed, told } from "./told.ts";

const one = () => [library("alice", "Fire", { scenarios: [1, 2] })];
const elsewhere = (url: string, change: Partial<URL>) => Object.assign(new URL(url), change).href;

const NAMES = "SELECT nspname FROM pg_namespace WHERE nspname LIKE 'simcat%'";

/** How a sync tells that it cannot use the database of this URL. It sends no request, and prints no password or stack. */
async function syncInVain(url: string) {
  const service = await serve(one());
  const ended = await callCli(["sync"], {
    SIMCAT_BASE_URL: service.url,
    SIMCAT_API_KEY: API_KEY,
    DATABASE_URL: url,
  });
  expect(service.requests).toEqual([]);
  expect(ended.stderr).not.toMatch(/wr0ng-secret|bug|\bat .*\.[jt]s:/);
  return told(ended);
}

test.each([
  [
    "a host name that does not resolve",
    { hostname: "no-such-host.invalid" },
    /^connecting to the database failed: .*(ENOTFOUND|EAI_AGAIN).*; check the host name in DATABASE_URL,/,
  ],
  [
    "a wrong password",
    { username: "simcat_nobody", password: "wr0ng-secret" },
    /^connecting to the database failed: .* \((28P01|28000)\); check the user and the password in DATABASE_URL,/,
  ],
  [
    "a database that is not there",
    { pathname: "/simcat_no_such_database" },
    /^connecting to the database failed: database "simcat_no_such_database" does not exist \(3D000\); create that database, or correct its name in DATABASE_URL,/,
  ],
])(
  "%s ends with 69 at once, says what to fix, and sends the service no request (fault 77)",
  async (_, change, says) => {
    const { url } = await freshTestDatabase();
    const startedAt = performance.now();
    expect(await syncInVain(elsewhere(url, change))).toEqual(databaseFailed(says));
    expect(performance.now() - startedAt).toBeLessThan(15_000);
  },
);

test("sslmode at a server without TLS says what to change, without a warning of the driver (fault 213)", async () => {
  const { url } = await freshTestDatabase();
  const inUrl = ["prefer", "require", "verify-ca", "verify-full"].map((mode) =>
    elsewhere(url, { search: `?sslmode=${mode}` }),
  );
  for (const set of [...inUrl.map((DATABASE_URL) => ({ DATABASE_URL })), { DATABASE_URL: url, PGSSLMODE: "require" }]) {
    expect(await runCli(["status"], { ...set, SIMCAT_LOG_FORMAT: "pretty" })).toMatchObject({
      code: 69,
      stderr:
        "simcat: connecting to the database failed: The server does not support SSL connections; " +
        "switch TLS on at the server, or remove sslmode (DATABASE_URL, PGSSLMODE)\n",
    });
  }
});

test.each(["DEPTH_ZERO_SELF_SIGNED_CERT", "ERR_TLS_CERT_ALTNAME_INVALID", "UNABLE_TO_VERIFY_LEAF_SIGNATURE"])(
  "a certificate of the database that does not verify says what to change: %s (fault 213)",
  (code) => {
    const error = databaseError("connecting", Object.assign(new Error("it does not verify"), { code }));
    expect(error.message).toBe(
      `connecting failed: it does not verify (${code}); ` +
        "name the certificate's authority with sslrootcert=FILE in DATABASE_URL, and the host as the certificate does",
    );
  },
);

test("a wrong DATABASE_DIRECT_URL is not blamed on DATABASE_URL (fault 328)", async () => {
  const { url } = await freshTestDatabase({ empty: true });
  const direct = elsewhere(url, { pathname: "/simcat_no_such_database" });
  const { stderr } = await callCli(["migrate"], { DATABASE_URL: url, DATABASE_DIRECT_URL: direct });
  expect(stderr).toContain("or correct its name in DATABASE_URL, or in DATABASE_DIRECT_URL if that is set");
});

test("a DATABASE_DIRECT_URL of another database is named as the cause, not a missing migration (fault 361)", async () => {
  const { url } = await freshTestDatabase({ empty: true });
  const { url: direct } = await freshTestDatabase();
  const service = { SIMCAT_BASE_URL: "http://127.0.0.1:1", SIMCAT_API_KEY: API_KEY };
  const { code, stderr } = await callCli(["sync"], { ...service, DATABASE_URL: url, DATABASE_DIRECT_URL: direct });
  const hint = "not to the database of DATABASE_URL; name the same database in DATABASE_DIRECT_URL";
  expect({ code, stderr }).toEqual({ code: 78, stderr: expect.stringContaining(hint) });
});

test("a server that is down ends with 69 after some seconds of retries, without a request (fault 77)", async () => {
  const says = /^connecting to the database failed: .*ECONNREFUSED.*; check that the server runs/;
  expect(await syncInVain("postgres://simcat:wr0ng-secret@127.0.0.1:1/simcat")).toEqual(databaseFailed(says));
});

test("a database whose encoding is not UTF8 is refused with 78 and the statement that creates one, by check too", async () => {
  const { query, url } = await freshTestDatabase();
  const name = `${new URL(url).pathname.slice(1)}_latin`;
  const [{ version } = { version: 0 }] = await query<{ version: number }>(
    "SELECT current_setting('server_version_num')::int AS version",
  );
  // Versions before 15 have no other provider and no such keyword.
  const provider = version >= 150_000 ? "LOCALE_PROVIDER libc" : "";
  await query(`CREATE DATABASE ${name} TEMPLATE template0 ENCODING 'LATIN1' ${provider} LC_COLLATE 'C' LC_CTYPE 'C'`);
  onTestFinished(async () => void (await query(`DROP DATABASE ${name} WITH (FORCE)`)));
  const latin = elsewhere(url, { pathname: `/${name}` });
  expect(await syncInVain(latin)).toEqual({
    exit: 78,
    code: "configuration",
    said: "the database's encoding is not UTF8, so it cannot hold every name the service may send; create one with ENCODING 'UTF8'",
  });
  const { call } = await fixture(one());
  const { code, stdout } = await call(["check", "--json"], { DATABASE_URL: latin });
  const results: { check: string; result: string; hint: string | null }[] = JSON.parse(stdout);
  expect(results.find(({ check }) => check === "database")).toMatchObject({ result: "ok" });
  expect(results.find(({ check }) => check === "schema")).toMatchObject({ result: "skipped" });
  const encoding = { result: "fail", hint: "create one with ENCODING 'UTF8'" };
  expect({ code, encoding: results.find(({ check }) => check === "encoding") }).toMatchObject({ code: 78, encoding });
});

const JOURNAL = "simcat_migrations.__drizzle_migrations";
const NEWER = `INSERT INTO ${JOURNAL} (hash, created_at) VALUES ('later', 4102444800000)`;
/** The first two of the migrations that the baseline replaced. */
const OLDER = `DELETE FROM ${JOURNAL}; INSERT INTO ${JOURNAL} (hash, created_at) VALUES ('first', 1), ('second', 2)`;
const TOO_NEW =
  "newer than this simcat: a later version has migrated it; nothing was written; run that version, or a later one";
const TOO_OLD =
  "from before simcat's migrations were merged into one; nothing was written; run simcat migrate of version 0.1.0 (commit 2e454b1) once, then this version";

test.each([
  ["newer than the program", NEWER, TOO_NEW],
  ["older than the baseline", OLDER, TOO_OLD],
])("with a schema %s, each command ends with 78 and writes nothing", async (_, change, said) => {
  const { call, asked, query } = await fixture(one());
  await query(change);
  const journal = await query(`SELECT * FROM ${JOURNAL}`);
  for (const command of ["sync", "backfill", "migrate", "status"]) {
    const expected = { exit: 78, code: "configuration", said: `the database's schema is ${said}` };
    expect({ command, ...told(await call([command])) }).toEqual({ command, ...expected });
  }
  expect(asked()).toEqual([]);
  expect(await query(`SELECT * FROM ${JOURNAL}`)).toEqual(journal);
  expect(await query("SELECT version FROM simcat.sync_runs UNION ALL SELECT name FROM simcat.leases")).toEqual([]);
});

test("SIMCAT_AUTO_MIGRATE=false on an empty database ends with 78 and names the command", async () => {
  const { call, asked } = await fixture(one());
  const empty = await freshTestDatabase({ empty: true });
  const manual = { DATABASE_URL: empty.url, SIMCAT_AUTO_MIGRATE: "false" };

  expect(told(await call(["sync"], manual))).toEqual({
    exit: 78,
    code: "configuration",
    said: "the database has no simcat schema yet; run: simcat migrate (if SIMCAT_AUTO_MIGRATE is true, simcat sync, backfill and start migrate it themselves)",
  });
  expect(asked()).toEqual([]);
  expect(await empty.query(NAMES)).toEqual([]);
  for (const command of ["migrate", "sync"]) expect((await call([command], manual)).code).toBe(0);
  expect(await empty.query("SELECT owner FROM simcat.libraries")).toEqual([{ owner: "alice" }]);
});

test("six commands migrate an empty database at once, and each migration is applied once (fault 85)", async () => {
  const { call } = await fixture([]);
  const empty = await freshTestDatabase({ empty: true });
  const migrations = Array.from({ length: 6 }, () => call(["migrate", "--json"], { DATABASE_URL: empty.url }));

  const ended = await Promise.all(migrations);

  expect(ended.map(({ code }) => code)).toEqual([0, 0, 0, 0, 0, 0]);
  const applied = ended.map(({ stdout }) => JSON.parse(stdout).applied).sort();
  expect(applied.slice(0, 5)).toEqual([0, 0, 0, 0, 0]);
  const hashes =
    "SELECT count(*)::int AS all, count(DISTINCT hash)::int AS different FROM simcat_migrations.__drizzle_migrations";
  expect(await empty.query(hashes)).toEqual([{ all: applied[5], different: applied[5] }]);
  expect(applied[5]).toBeGreaterThan(0);
});

test("a role that may not create the schema gets an error, and nothing is created (fault 86)", async () => {
  const empty = await freshTestDatabase({ empty: true });
  const { url } = await createRole(empty, { grants: [] });
  const name = new URL(empty.url).pathname.slice(1);

  expect(await syncInVain(url)).toEqual({
    exit: 69,
    code: "database_failed",
    said: `migrating the schema failed: permission denied for database ${name} (42501); grant the missing privilege to this role (simcat check names those that a run needs, deploy/roles.sql has those of a reader), then run the command again`,
  });
  expect(await empty.query(NAMES)).toEqual([]);
});

test("a role that cannot begin a run fails before any request, and writes nothing (fault 86)", async () => {
  const database = await freshTestDatabase();
  const { query } = database;
  const { name, url } = await createRole(database);
  for (const [right, says] of [
    ["USAGE ON SCHEMA simcat_migrations", "schema simcat_migrations"],
    ["SELECT ON TABLE simcat_migrations.__drizzle_migrations", "table __drizzle_migrations"],
    ["USAGE ON SCHEMA simcat", "schema simcat"],
    ["INSERT ON TABLE simcat.leases", "table leases"],
    ["UPDATE ON TABLE simcat.leases", "table leases"],
    ["SELECT ON TABLE simcat.leases", "table leases"],
    ["INSERT ON TABLE simcat.sync_runs", "table sync_runs"],
  ]) {
    await query(`REVOKE ${right} FROM ${name}`);
    const said = `permission denied for ${says} (42501); grant the missing privilege to this role`;
    expect({ right, ...(await syncInVain(url)) }).toEqual({ right, ...databaseFailed(said) });
    await query(`GRANT ${right} TO ${name}`);
  }
  expect(await query("SELECT status FROM simcat.sync_runs")).toEqual([]);
});

test("a run without a right on a table fails, names it, and stores no partial library (fault 86)", async () => {
  const { call, database, query } = await fixture(one());
  const { name, url } = await createRole(database);
  for (const right of [
    "INSERT ON TABLE simcat.library_sync",
    "INSERT ON TABLE simcat.libraries",
    "INSERT ON TABLE simcat.scenarios",
    "SELECT ON TABLE simcat.scenarios",
    "INSERT ON TABLE simcat.library_history",
    "DELETE ON TABLE simcat.scenario_staging",
  ]) {
    await query(`REVOKE ${right} FROM ${name}`);
    const table = right.split(".").at(-1);
    const failed = databaseFailed(
      `permission denied for table ${table} (42501); grant the missing privilege to this role`,
    );
    const ended = await call(["sync"], { DATABASE_URL: url });
    expect({ right, ...told(ended) }).toEqual({ right, ...failed });
    const [run] = await query("SELECT status, error FROM simcat.sync_runs ORDER BY id DESC LIMIT 1");
    expect(run).toEqual({ status: failed.code, error: failed.said });
    expect(await query("SELECT owner FROM simcat.libraries UNION ALL SELECT owner FROM simcat.scenarios")).toEqual([]);
    await query(`GRANT ${right} TO ${name}`);
  }
  expect((await call(["sync"], { DATABASE_URL: url })).code).toBe(0);
});

test.each([
  [
    "a read-only server",
    false,
    /read-only transaction \(25006\); DATABASE_URL points at a read-only server \(a standby\?\), or default_transaction_read_only is on; use the primary, or turn the setting off$/,
  ],
  [
    "an empty read-only server",
    true,
    /^migrating the schema failed: .*\(25006\); DATABASE_URL points at a read-only server/,
  ],
])("%s ends with 69 and a hint about DATABASE_URL, without a request (fault 77)", async (_, empty, says) => {
  const database = await freshTestDatabase({ empty });
  const name = new URL(database.url).pathname.slice(1);
  await database.query(`ALTER DATABASE ${name} SET default_transaction_read_only = on`);

  expect(await syncInVain(database.url)).toEqual(databaseFailed(says));
});

test("a table that vanishes during a run ends it with the code of its status, then each run with 78 (fault 100)", async () => {
  const { service, query, call, asked } = await fixture([library("alice", "Fire")]);
  service.once({ operation: "listing" }, { kind: "delay", ms: 2_000 });

  const running = call(["sync", "--json"]);
  await expect.poll(asked, { timeout: 20_000 }).toContainEqual("GET /libs");
  await query("ALTER TABLE simcat.rejects RENAME TO elsewhere");
  const ended = await running;

  expect(ended.code).toBe(69);
  expect(JSON.parse(ended.stdout)).toMatchObject({ status: "database_failed", exit_code: 69 });
  expect(await query("SELECT status FROM simcat.sync_runs")).toEqual([{ status: "database_failed" }]);
  expect((await call(["sync"])).code).toBe(78);
});
