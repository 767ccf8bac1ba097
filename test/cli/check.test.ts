import { randomBytes } from "node:crypto";
import { Socket } from "node:net";
import { TLSSocket } from "node:tls";
import pg from "pg";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { check } from "../../src/cli/check.ts";
import { unencryptedAddress } from "../../src/db/session.ts";
import type { toChecksJson } from "../../src/output/check-lines.ts";
import { createRole } from "../postgres/roles.ts";
import { holdLocks } from "../postgres/sessions.ts";
import { callCli, createContext, type Environment } from "../support/call-cli.ts";
import { freshTestDatabase, type TestDatabase } from "../support/database.ts";
import { fixture, requestsFor } from "../support/fixture.ts";
import { library } from "../support/organization.ts";

/** No server listens on this port. */
const CLOSED = "127.0.0.1:9";

async function checked(environment: Environment) {
  const context = { ...createContext(environment), dotenv: new Set(["SIMCAT_BASE_URL"]) };
  const exitCode = await check(context, { json: true });
  const lines: ReturnType<typeof toChecksJson> = JSON.parse(context.stdout());
  const results = Object.fromEntries(lines.map((line) => [line.check, line.result]));
  const line = (name: string) => lines.find((candidate) => candidate.check === name);
  return { exitCode, lines, results, line, printed: context.stdout() };
}

const ALL_OK = {
  configuration: "ok",
  service: "ok",
  key: "ok",
  listing: "ok",
  content: "ok",
  database: "ok",
  encoding: "ok",
  schema: "ok",
  privileges: "ok",
  clock: "ok",
};

const ORGANIZATION = [library("ann", "Lib"), library("bo", "Lib")];

describe("check", () => {
  test("passes when all requirements are met, requests only the listing and one library, and writes no schema", async () => {
    const { environment, asked, database } = await fixture(ORGANIZATION);
    const settings = [`SIMCAT_BASE_URL=${environment.SIMCAT_BASE_URL} (.env)`, "SIMCAT_API_KEY=*** (environment)"];
    const { exitCode, results, line } = await checked(environment);
    expect({ exitCode, results }).toEqual({ exitCode: 0, results: ALL_OK });
    expect(line("service")?.text).toBe(`${environment.SIMCAT_BASE_URL}/ answered; 2 libraries listed`);
    expect(line("database")?.text).toContain(`${new URL(database.url).pathname} answered: Postgres `);
    expect(line("configuration")?.details).toEqual(expect.arrayContaining(settings));
    expect(line("content")?.text).toBe("ann/Lib can be read: metadata and 0 scenarios");
    expect(asked().toSorted()).toEqual(requestsFor("ann/Lib"));
    const context = createContext(environment);
    expect(await check(context, { json: false })).toBe(0);
    const printed = context.stdout().trimEnd().split("\n");
    expect(printed).toContain("ok    key            the service accepts it");
    expect(printed.at(-1)).toBe("ready to run");
    // An option is not a setting (fault 346).
    expect((await callCli(["check", "--verbose"], environment)).stdout).not.toContain("SIMCAT_LOG_LEVEL");

    const empty = await freshTestDatabase({ empty: true });
    const before = await checked({ ...environment, DATABASE_URL: empty.url });
    expect(before.exitCode).toBe(0);
    expect(before.line("schema")?.text).toBe("none yet; it will be migrated by the next run");
    expect(await empty.query("SELECT nspname FROM pg_namespace WHERE nspname LIKE 'simcat%'")).toEqual([]);
  });

  test("exits with the code of its failure when no content can be read (faults 100 and 287)", async () => {
    const { environment, service } = await fixture(ORGANIZATION);
    for (const [exit, action, hint] of [
      [76, { kind: "wrongBody", body: '{"error": "no"}' }, ""],
      [76, { kind: "status", status: 404 }, ""],
      [77, { kind: "status", status: 401 }, ""],
      [69, { kind: "status", status: 500 }, "try again later; if it lasts, ask the service's operators"],
    ] as const) {
      service.script([{ match: { operation: "scenarios" }, times: "always", action }]);
      const { exitCode, line } = await checked(environment);
      expect({ action, exitCode }).toEqual({ action, exitCode: exit });
      const text = expect.stringMatching(/^ann\/Lib: /);
      expect(line("content")).toMatchObject({ result: "fail", text, hint: expect.stringContaining(hint) });
    }
  });

  test.each([
    ["the first library's metadata", { operation: "metadata" }, "once", 404, "not_found"],
    ["the first library", { owner: "ann" }, "always", 500, "server_error"],
  ] as const)(
    "only warns when %s cannot be read and the second library can (faults 100 and 287)",
    async (_, match, times, status, code) => {
      const { environment, service } = await fixture(ORGANIZATION);
      service[times](match, { kind: "status", status });
      const { exitCode, line } = await checked(environment);
      expect(exitCode).toBe(0);
      expect(line("content")).toMatchObject({
        result: "warn",
        text: "bo/Lib can be read: metadata and 0 scenarios; 1 other cannot",
        details: [expect.stringMatching(`^ann/Lib: .*\\(${code}\\)$`)],
      });
    },
  );

  test("blames the proxy that refuses connections, not the service (fault 24)", async () => {
    const { environment } = await fixture(ORGANIZATION);
    const { exitCode, line, printed } = await checked({
      ...environment,
      SIMCAT_BASE_URL: "https://service.test/v1/",
      HTTPS_PROXY: `http://user:p4ss-of-the-proxy@${CLOSED}`,
    });
    expect(exitCode).toBe(69);
    expect(line("service")).toMatchObject({ result: "fail", exit_code: 69 });
    expect(line("service")?.text).toContain(`GET /libs failed at the proxy ${CLOSED}`);
    expect(line("service")?.text).toContain("through HTTPS_PROXY");
    expect(line("key")?.result).toBe("skipped");
    expect(printed).not.toContain("p4ss-of-the-proxy");
  });

  test("warns about unencrypted connections to a database elsewhere, whatever the URL says (fault 170)", async () => {
    const { environment, database } = await fixture(ORGANIZATION);
    // The source of `remoteAddress`, which is not configurable itself.
    const sockets = Socket.prototype as Socket & { _getpeername(): { address: string } };
    vi.spyOn(sockets, "_getpeername").mockReturnValue({ address: "192.0.2.7" });
    onTestFinished(() => void vi.restoreAllMocks());
    const { exitCode, line } = await checked({ ...environment, DATABASE_DIRECT_URL: `${database.url}#direct` });
    expect(exitCode).toBe(0);
    for (const [name, setting] of [
      ["database", "DATABASE_URL"],
      ["direct", "DATABASE_DIRECT_URL"],
    ] as const) {
      expect(line(name)).toMatchObject({
        result: "warn",
        text: expect.stringMatching(/; the connection is not encrypted$/),
        hint: `add sslmode=verify-full to ${setting}`,
      });
    }
  });

  test("judges the encryption by the connection itself (fault 170)", async () => {
    const database = await freshTestDatabase();
    const client = new pg.Client(database.url);
    await client.connect();
    onTestFinished(() => client.end());
    expect(unencryptedAddress(client)).not.toBeNull();
    // pg puts such a socket in the place of the first one when the server agrees to encrypt.
    const connection = Object.assign(new pg.Connection(), { stream: new TLSSocket(client.connection.stream) });
    expect(unencryptedAddress({ connection })).toBeNull();
  });

  test("prints one line per configuration problem, and runs the checks that do not depend on them", async () => {
    const { environment } = await fixture(ORGANIZATION);
    const { SIMCAT_BASE_URL: _, ...rest } = environment;
    const { exitCode, lines, results } = await checked({ ...rest, SIMCAT_MAX_REMOVED: "9", SIMCAT_BASEURL: "x" });
    expect(exitCode).toBe(78);
    const failed = { check: "configuration", result: "fail", details: [], exit_code: 78 };
    expect(lines.filter((line) => line.check === "configuration")).toEqual([
      {
        ...failed,
        text: 'SIMCAT_MAX_REMOVED is "9"',
        hint: "expected 0% to 100%, at most four decimals",
      },
      {
        ...failed,
        text: "SIMCAT_BASE_URL is not set",
        hint: "expected the service's base URL, such as https://api.example.com/v1/",
      },
      {
        ...failed,
        result: "warn",
        text: "unknown setting SIMCAT_BASEURL (ignored)",
        hint: "did you mean SIMCAT_BASE_URL?",
        exit_code: null,
      },
    ]);
    expect(results).toMatchObject({ service: "skipped", key: "skipped", database: "ok", clock: "ok" });
  });

  const SILENT = { service: "fail", key: "skipped", listing: undefined, content: undefined };
  const UNKNOWN = { encoding: "skipped", schema: "skipped", privileges: "skipped", clock: "skipped" };
  const REFUSED = { ...SILENT, service: "ok", key: "fail" };
  const NOT_POSTGRES = { configuration: "fail", database: "skipped", ...UNKNOWN };
  test.each([
    ["a refused key", 77, { SIMCAT_API_KEY: "another-key-77aa" }, REFUSED, "check SIMCAT_API_KEY"],
    ["no service", 69, { SIMCAT_BASE_URL: `http://${CLOSED}/` }, SILENT, ""],
    ["a page instead of a list", 76, {}, SILENT, "check SIMCAT_BASE_URL"],
    // It does not start the embedded database.
    ["no Postgres URL", 78, { DATABASE_URL: "mysql://x" }, NOT_POSTGRES, ""],
    ["no database", 69, { DATABASE_URL: `postgres://bo:secret@${CLOSED}/sim` }, { database: "fail", ...UNKNOWN }, ""],
    ["a wrong schedule", 78, { SIMCAT_SCHEDULE: "now and then" }, { configuration: "fail" }, ""],
  ])("with %s it exits with %i, and only the checks that need it fail", async (what, exit, settings, wrong, hint) => {
    const { environment, service } = await fixture(ORGANIZATION);
    if (what.startsWith("a page")) service.always({ operation: "listing" }, { kind: "html" });
    const { exitCode, results, lines } = await checked({ ...environment, ...settings });
    expect({ exitCode, results }).toEqual({ exitCode: exit, results: { ...ALL_OK, ...wrong } });
    expect(lines.find(({ result }) => result === "fail")?.hint).toContain(hint);
  });
});

describe("check of the database", () => {
  test("a standby, a role that only reads (fault 235), a direct URL without a server, and a schema that must be migrated by hand fail", async () => {
    const { environment, database } = await fixture(ORGANIZATION);
    const unreachable = await checked({ ...environment, DATABASE_DIRECT_URL: `postgres://bo:x@${CLOSED}/sim` });
    expect(unreachable.exitCode).toBe(69);
    expect(unreachable.line("direct")).toMatchObject({ result: "fail", hint: expect.stringContaining("server runs") });

    await database.query("DROP SCHEMA simcat, simcat_report, simcat_migrations CASCADE");
    const manual = await checked({ ...environment, SIMCAT_AUTO_MIGRATE: "false" });
    expect(manual.exitCode).toBe(78);
    expect(manual.line("schema")).toMatchObject({ result: "fail", hint: expect.stringContaining("simcat migrate") });

    const name = new URL(database.url).pathname.slice(1);
    await database.query(`ALTER DATABASE ${name} SET default_transaction_read_only TO on`);
    const standby = await checked(environment);
    expect(standby.exitCode).toBe(69);
    expect(standby.line("database")).toMatchObject({
      result: "fail",
      hint: "name the primary, or a role that writes, in DATABASE_URL",
    });
    // Not the grants that would make a writer of a reader.
    expect(standby.line("privileges")).toMatchObject({ result: "skipped", hint: null });
  });

  test("a direct URL that leads to another database produces a warning", async () => {
    const [{ environment, database }, other] = [await fixture(ORGANIZATION), await freshTestDatabase()];
    const same = await checked({ ...environment, DATABASE_DIRECT_URL: `${database.url}?application_name=direct` });
    expect(same.line("direct")?.result).toBe("ok");
    const apart = await checked({ ...environment, DATABASE_DIRECT_URL: other.url });
    expect(apart.exitCode).toBe(0);
    expect(apart.line("direct")).toMatchObject({
      result: "warn",
      hint: "name the same database in both: runs write to what is migrated",
    });
  });
});

describe("check of the privileges", () => {
  /** A role that may only connect, whose name must be quoted. */
  async function newcomer(database: TestDatabase) {
    const name = `simcat test ${randomBytes(4).toString("hex")}`;
    const { url } = await createRole(database, { name, grants: [] });
    const { environment } = await fixture(ORGANIZATION);
    return { role: name, environment: { ...environment, DATABASE_URL: url } };
  }

  test("names the missing privileges on tables, or the role that owns them, and the printed grants fix them (fault 280)", async () => {
    const database = await freshTestDatabase();
    const { role, environment } = await newcomer(database);
    const lacking = await checked(environment);
    expect(lacking.exitCode).toBe(69);
    expect(lacking.results).toMatchObject({ database: "ok", schema: "skipped", privileges: "fail", clock: "ok" });
    const hint = lacking.line("privileges")?.hint ?? "";
    expect(hint.split("; GRANT ").length).toBe(4);
    expect(hint).toContain(`GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA simcat TO "${role}";`);
    await database.query(hint);
    const after = await checked(environment);
    expect({ exitCode: after.exitCode, results: after.results }).toEqual({ exitCode: 0, results: ALL_OK });

    await database.query(`REVOKE INSERT, DELETE ON simcat.rejects FROM "${role}"`);
    // An administrator pastes the grants into a session without this search_path.
    await database.query(`ALTER ROLE "${role}" SET search_path = simcat`);
    const oneTable = await checked(environment);
    expect(oneTable.exitCode).toBe(69);
    expect(oneTable.line("schema")?.result).toBe("ok");
    expect(oneTable.line("privileges")).toMatchObject({
      result: "fail",
      text: "lacks INSERT, DELETE on TABLE simcat.rejects",
      hint: `GRANT INSERT, DELETE ON TABLE simcat.rejects TO "${role}";`,
    });

    // The owner of the tables has to alter them first.
    await database.query("DELETE FROM simcat_migrations.__drizzle_migrations WHERE id > 1");
    const [owner] = await database.query<{ name: string }>("SELECT quote_ident(current_user) AS name");
    const behind = await checked(environment);
    expect(behind.line("privileges")?.hint).toContain(`GRANT ${owner?.name} TO "${role}";`);
  });

  test("warns of row-level security, which may hide or refuse rows of this role (fault 251)", async () => {
    const { environment, database } = await fixture(ORGANIZATION);
    await database.query("ALTER TABLE simcat.rejects ENABLE ROW LEVEL SECURITY");
    const writer = await createRole(database);
    await database.query(`ALTER ROLE ${writer.name} SET search_path = simcat`);
    const { exitCode, line } = await checked({ ...environment, DATABASE_URL: writer.url });
    expect(exitCode).toBe(0);
    const text = "all that a run needs, but row-level security may hide or refuse rows of simcat.rejects";
    expect(line("privileges")).toMatchObject({ result: "warn", text });
  });

  test("names what is missing for creating the schemas, one of which the role owns, unless another URL migrates (faults 98, 280)", async () => {
    const database = await freshTestDatabase({ empty: true });
    const { role, environment } = await newcomer(database);
    const { exitCode, line } = await checked(environment);
    const name = new URL(database.url).pathname.slice(1);
    expect(exitCode).toBe(69);
    expect(line("privileges")).toMatchObject({
      text: `lacks CREATE on DATABASE ${name}`,
      hint: `GRANT CREATE ON DATABASE ${name} TO "${role}";`,
    });
    await database.query(`CREATE SCHEMA simcat AUTHORIZATION "${role}"; CREATE SCHEMA simcat_migrations;
      GRANT USAGE ON SCHEMA simcat_migrations TO "${role}"`);
    const hint = (await checked(environment)).line("privileges")?.hint ?? "";
    expect(hint.split(/(?<=;) /)).toEqual([
      `GRANT CREATE ON DATABASE ${name} TO "${role}";`,
      `GRANT CREATE ON SCHEMA simcat_migrations TO "${role}";`,
    ]);
    await database.query("CREATE SCHEMA simcat_report");
    const schemas = (await checked(environment)).line("privileges")?.hint ?? "";
    expect(schemas.split(/(?<=;) /)).toEqual([
      `GRANT CREATE ON SCHEMA simcat_migrations TO "${role}";`,
      `GRANT CREATE ON SCHEMA simcat_report TO "${role}";`,
      `GRANT USAGE ON SCHEMA simcat_report TO "${role}";`,
    ]);
    await database.query(schemas);
    expect((await checked(environment)).results).toEqual(ALL_OK);
    expect(await callCli(["migrate"], environment)).toMatchObject({ code: 0 });
    await database.query("DROP SCHEMA simcat, simcat_migrations, simcat_report CASCADE");
    const direct = await checked({ ...environment, DATABASE_DIRECT_URL: database.url });
    expect(direct.results).toEqual({ ...ALL_OK, direct: "ok" });
  });
});

describe("a lock held by another session", () => {
  test.each(["simcat.scenarios", "simcat.leases", "simcat_migrations.__drizzle_migrations"])(
    "on %s ends check with 69, and the line names the session (fault 100)",
    async (table) => {
      const { environment, database } = await fixture(ORGANIZATION);
      const holder = await holdLocks(database, `LOCK TABLE ${table} IN ACCESS EXCLUSIVE MODE`);
      const { rows } = await holder.query("SELECT pg_backend_pid() AS pid");
      const { exitCode, line } = await checked(environment);
      await holder.query("ROLLBACK");
      expect(exitCode).toBe(69);
      expect(line("schema")).toMatchObject({
        result: "fail",
        text: expect.stringMatching(`^${table} is locked by session ${rows[0].pid} \\(role `),
        hint: `wait until it ends, or end it: SELECT pg_terminate_backend(${rows[0].pid})`,
      });
    },
  );
});
