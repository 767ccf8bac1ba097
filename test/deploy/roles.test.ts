/** Checks what each role of deploy/roles.sql can do, and that it can do nothing else. */
import { join } from "node:path";
import type pg from "pg";
import { describe, expect, test } from "vitest";
import { migrate as migrateSchema } from "../../src/db/migrate.ts";
import { callCli } from "../support/call-cli.ts";
import { runCli } from "../support/cli.ts";
import { API_KEY, serve } from "../support/fixture.ts";
import { library, scenario } from "../support/organization.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";
import { useCluster } from "./cluster.ts";

const cluster = useCluster();

const REFUSED = "42501";
const READ_ONLY = "25006";

/** How the server answers: `done`, or the code of its refusal. */
async function answerTo(client: pg.Client, sql: string): Promise<string> {
  try {
    await client.query(sql);
    return "done";
  } catch (error) {
    return error instanceof Error && "code" in error ? String(error.code) : String(error);
  }
}

async function expectRefused(client: pg.Client, statements: readonly string[]): Promise<void> {
  for (const sql of statements) expect({ sql, answer: await answerTo(client, sql) }).toEqual({ sql, answer: REFUSED });
}

async function migrate(database: string, role?: string): Promise<void> {
  await migrateSchema(cluster.url(database, role), new AbortController().signal);
}

/** A database whose schema the migrator has created. */
async function migrated(): Promise<string> {
  const database = await cluster.database();
  await migrate(database, "simcat_migrator");
  return database;
}

/** The same, which several tests share, because they change nothing. It has a view of the kind that reports read. */
let unchanged: string | undefined;
async function shared(role: string): Promise<pg.Client> {
  if (unchanged === undefined) {
    unchanged = await migrated();
    const migrator = await cluster.session(unchanged, "simcat_migrator");
    await migrator.query("CREATE VIEW simcat_report.of_the_test AS SELECT owner, library_name FROM simcat.libraries");
  }
  return cluster.session(unchanged, role);
}

/** A service with two libraries, and the settings with which a role copies it to a database. */
async function service(database: string) {
  const mock = await serve([
    library("alice", "Fire", { scenarios: [1, scenario(2, { parentId: 1 })] }),
    library("bob", "Water", { scenarios: [3] }),
  ]);
  const settings = { SIMCAT_BASE_URL: mock.url, SIMCAT_API_KEY: API_KEY };
  return { mock, as: (role: string) => ({ ...settings, DATABASE_URL: cluster.url(database, role) }) };
}

/** The same, after the migrator has copied it to a new database; `alter` runs a statement as the migrator. */
async function filled() {
  const database = await cluster.database();
  const { mock, as } = await service(database);
  expect(await callCli(["backfill"], as("simcat_migrator"))).toMatchObject({ code: 0 });
  const session = await cluster.session(database, "simcat_migrator");
  return { mock, as, alter: async (sql: string) => void (await session.query(sql)) };
}

async function rowsOf<T extends pg.QueryResultRow>(client: pg.Client, sql: string): Promise<T[]> {
  return (await client.query<T>(sql)).rows;
}

test("the migrator owns what it made, and makes no roles and no databases", async () => {
  const migrator = await shared("simcat_migrator");
  const owners = `SELECT DISTINCT pg_get_userbyid(relowner)::text AS owner FROM pg_class
    WHERE relnamespace IN ('simcat'::regnamespace, 'simcat_migrations'::regnamespace, 'simcat_report'::regnamespace)`;
  expect(await rowsOf(migrator, owners)).toEqual([{ owner: "simcat_migrator" }]);
  await expectRefused(migrator, ["CREATE ROLE another", "CREATE DATABASE another"]);
});

describe("the writer", () => {
  test("does every kind of work, and leaves migrations to the role of DATABASE_DIRECT_URL", async () => {
    const database = await cluster.database();
    const { mock, as } = await service(database);
    const DATABASE_DIRECT_URL = cluster.url(database, "simcat_migrator");
    expect(await callCli(["backfill"], { ...as("simcat_writer"), DATABASE_DIRECT_URL })).toMatchObject({ code: 0 });
    const writer = { ...as("simcat_writer"), SIMCAT_AUTO_MIGRATE: "false" };
    mock.once({ operation: "listing" }, { kind: "dropItems", from: 1 });
    expect(await callCli(["sync", "--allow-removals"], writer)).toMatchObject({ code: 0 });
    expect(await callCli(["sync"], writer)).toMatchObject({ code: 0 });
    for (const command of [["status"], ["explain", "bob/Water"], ["verify"], ["prune", "--older-than", "1d"]]) {
      expect({ command, ...(await callCli(command, writer)) }).toMatchObject({ command, code: 0 });
    }

    const admin = await cluster.session(database);
    expect(await rowsOf(admin, "SELECT owner, removed_at FROM simcat.libraries ORDER BY owner")).toEqual([
      { owner: "alice", removed_at: null },
      { owner: "bob", removed_at: null },
    ]);
    expect(await rowsOf(admin, "SELECT status, count(*)::int FROM simcat.sync_runs GROUP BY 1")).toEqual([
      { status: "ok", count: 3 },
    ]);
  });

  test("makes, changes, empties and drops no table", async () => {
    const writer = await shared("simcat_writer");
    await expectRefused(writer, [
      "CREATE TABLE simcat.mine (id int)",
      "CREATE TABLE simcat_report.mine (id int)",
      "CREATE TABLE simcat_migrations.mine (id int)",
      "CREATE TABLE public.mine (id int)",
      "CREATE TEMPORARY TABLE mine (id int)",
      "CREATE SCHEMA mine",
      "ALTER TABLE simcat.libraries ADD COLUMN mine int",
      "ALTER TABLE simcat.libraries DISABLE TRIGGER ALL",
      "CREATE INDEX ON simcat.libraries (description)",
      "TRUNCATE simcat.scenario_staging",
      "DROP TABLE simcat.scenario_staging",
      "DROP SCHEMA simcat_report",
      "INSERT INTO simcat_migrations.__drizzle_migrations (hash, created_at) VALUES ('mine', 1)",
      "DELETE FROM simcat_migrations.__drizzle_migrations",
      "SET ROLE simcat_migrator",
      "COPY simcat.libraries TO PROGRAM 'cat'",
    ]);
    expect(await answerTo(writer, "SELECT FROM simcat_migrations.__drizzle_migrations")).toBe("done");
  });
});

describe("the reader", () => {
  test("runs each reading command as far as the views show what it prints (fault 148)", async () => {
    const { mock, as, alter } = await filled();
    const migrator = as("simcat_migrator");
    const reader = { ...as("simcat_reader"), SIMCAT_LOG_FORMAT: "pretty" };
    const answers = async (...args: readonly string[]) => {
      const [asReader, asOwner] = [await callCli(args, reader), await callCli(args, migrator)];
      expect(asReader).toMatchObject({ code: asOwner.code, stderr: "" });
      return [JSON.parse(asReader.stdout), JSON.parse(asOwner.stdout)];
    };

    await alter(`UPDATE simcat.library_sync SET failures = 3, last_failed_at = now(), settles_at = now() + interval '1 h',
      bookmark_seen_at = now() - interval '1 h' WHERE library_name = 'Water'`);
    const [status, fullStatus] = await answers("status", "--json");
    expect(status.failing).toMatchObject([{ library: "Water", next_read_due_at: expect.any(String) }]);
    expect(status).toEqual({ ...fullStatus, now: status.now, lease_holder: "not visible" });
    const [explained, fully] = await answers("explain", "alice/Fire", "--json");
    expect(explained).toEqual({
      ...fully,
      now: explained.now,
      verdict: { ...fully.verdict, text: explained.verdict.text },
      window_ends_at: explained.window_ends_at,
      full_read_due_at: expect.any(String),
      resolved_rejects: null,
    });
    await alter(
      "UPDATE simcat.library_sync SET reread_reason = 'failure', settles_at = now() - interval '1 day' WHERE library_name = 'Water'",
    );
    // No read of it was suspect (fault 308).
    for (const one of await answers("explain", "Water", "--json"))
      expect(one).toMatchObject({ reread_reason: "failure", suspect_reads: 0, window_ends_at: null });
    const [verified] = await answers("verify", "--json");
    expect(verified).toMatchObject({ agrees: true, scenarios_compared: 3, exit_code: 0 });
    const out = temporaryDirectory();
    expect((await answers("report", "--json", "--out", join(out, "page.html")))[0]).toMatchObject({ owners: [] });
    const [exported] = await answers("export", "--out", out, "--owner", "alice", "--format", "csv", "--json");
    expect(exported.complete_as_of).toMatch(/^20.*Z$/);
    const rows = exported.views.map((one: { view: string; rows: number }) => [one.view, one.rows]);
    expect(Object.fromEntries(rows)).toEqual({ libraries: 1, scenarios: 2, activity: 3 });

    const question = "SELECT library_name FROM libraries ORDER BY 1";
    const [found] = await answers("query", question, "--json");
    expect(found).toEqual([{ library_name: "Fire" }, { library_name: "Water" }]);
    const [listed, fullyListed] = await answers("libraries", "--json");
    expect(listed).toEqual(fullyListed);
    const writer = { ...reader, ...as("simcat_writer") };
    const denied =
      "permission denied for schema simcat, line 1, column 7 (42501); it takes the rights of simcat_reader";
    for (const environment of [reader, migrator, writer]) {
      expect(await callCli(["query", question], environment)).toMatchObject({ code: 0 });
      const { code, stderr } = await callCli(["query", "TABLE simcat.libraries"], environment);
      expect({ code, stderr }).toEqual({ code: 64, stderr: expect.stringContaining(denied) });
    }

    mock.put(library("alice", "Fire", { lastModified: "2024-01-01 at 1:00 AM", scenarios: [1] }));
    mock.remove("bob", "Water");
    const [differing, fullyDiffering] = await answers("verify", "--json");
    expect(differing).toEqual({ ...fullyDiffering, duration_ms: differing.duration_ms });
    for (const command of [["report"], ["export"], ["verify"]]) {
      const stderr = expect.stringMatching(/owner alise is n.*\(did you mean alice\?\)/);
      expect(await callCli([...command, "--owner", "alise"], reader)).toMatchObject({ code: 64, stderr });
    }
    const stderr = expect.stringContaining("(did you mean alice/Fire?)");
    expect(await callCli(["explain", "alice/Fir"], reader)).toMatchObject({ code: 64, stderr });
    const empty = { ...reader, DATABASE_URL: cluster.url(await cluster.database(), "simcat_reader") };
    for (const command of [["status"], ["report"], ["export", "--out", out], ["explain", "alice/Fire"]]) {
      expect(await callCli(command, empty)).toMatchObject({
        code: 78,
        stderr: "simcat: the database has no views of simcat yet; run: simcat migrate\n",
      });
    }
  });

  test("is not told by status whether the process of a run has ended (fault 355)", async () => {
    const { as, alter } = await filled();
    await alter("UPDATE simcat.sync_runs SET status = 'running', finished_at = NULL");
    const reader = as("simcat_reader");
    const { stdout } = await callCli(["status"], reader);
    expect(stdout).toContain(
      "run 1: in progress, unless its process has ended, which this role cannot see; 2 of 2 known libraries read\n",
    );
    expect(stdout).toContain("next: wait for the run in progress, if still alive, then run simcat status again\n");
    expect(JSON.parse((await callCli(["status", "--json"], reader)).stdout).runs).toMatchObject([{ dead: null }]);
    expect((await callCli(["status"], as("simcat_migrator"))).stdout).toContain("run 1: the process has ended;");
  });

  test("is promised no read by verify that the views do not show (fault 348)", async () => {
    const { mock, as, alter } = await filled();
    await alter(`UPDATE simcat.library_sync SET listed_text = '2024-01-01', failures = 3, last_failed_at = now() WHERE library_name = 'Water';
      UPDATE simcat.library_sync SET reread_reason = 'failure' WHERE library_name = 'Fire';
      UPDATE simcat.libraries SET description = 'altered' WHERE library_name = 'Fire'`);
    mock.put(library("bob", "Water", { lastModified: "2024-01-01" }));
    for (const role of ["simcat_migrator", "simcat_reader"]) {
      const { code, stdout } = await callCli(["verify", "--json"], as(role));
      const remedies = JSON.parse(stdout).differences.map((one: { remedy: string }) => one.remedy);
      expect({ role, code, remedies }).toEqual({ role, code: 2, remedies: ["backfill", "later"] });
    }
  });

  test("lends its rights to the writer, whose shell completes names", async () => {
    const { as, alter } = await filled();
    const completed = (option: string) => runCli(["completion", option], as("simcat_writer"));
    expect(await completed("--owner")).toMatchObject({ code: 0, stdout: "alice\nbob\n", stderr: "" });
    expect(await completed("--library")).toMatchObject({ code: 0, stdout: "alice/Fire\nbob/Water\n", stderr: "" });
    // The writer itself still may read the view.
    await alter("REVOKE SELECT ON simcat_report.library_freshness FROM simcat_reader");
    expect(await completed("--owner")).toMatchObject({ code: 69, stdout: "" });
  });

  test("is not named as the cause where the views are not granted, nor is a view called missing (fault 326)", async () => {
    const { as, alter } = await filled();
    const writer = as("simcat_writer");
    await alter("REVOKE USAGE ON SCHEMA simcat_report FROM simcat_writer, simcat_reader");
    expect(await callCli(["check"], writer)).toMatchObject({ stdout: expect.stringContaining("all that a run needs") });
    const denied =
      "permission denied for schema simcat_report (42501); grant the missing privilege to this role (simcat check names those that a run needs, deploy/roles.sql has those of a reader)";
    expect(await callCli(["libraries"], writer)).toMatchObject({ code: 69, stderr: expect.stringContaining(denied) });
    const hint = "(42501); it takes the rights of simcat_reader where it can";
    expect(await callCli(["query", "TABLE pg_authid"], writer)).toMatchObject({
      stderr: expect.stringContaining(hint),
    });
    expect(await callCli(["query", "TABLE libraries"], writer)).toMatchObject({
      stderr: expect.stringContaining("(they need USAGE on their schema)"),
    });
    expect(await callCli(["query", "TABLE simcat.leases"], writer)).toMatchObject({ code: 0 });
  });

  test("explains a held removal and a library that was never stored (faults 123 and 187)", async () => {
    const { mock, as } = await filled();
    const migrator = { ...as("simcat_migrator"), SIMCAT_MAX_RETRIES: "0" };
    const reader = as("simcat_reader");
    mock.remove("bob", "Water");
    mock.put(library("zoe", "Broken"));
    mock.script([{ match: { library: "Broken" }, times: "always", action: { kind: "status", status: 404 } }]);
    expect(await callCli(["sync"], migrator)).toMatchObject({ code: 3 });

    const explain = async (name: string, environment: Record<string, string>) => {
      const text = (await callCli(["explain", name], environment)).stdout;
      return { text, ...JSON.parse((await callCli(["explain", name, "--json"], environment)).stdout) };
    };
    const held = await explain("bob/Water", reader);
    const fullyHeld = await explain("bob/Water", migrator);
    expect(held.text).toContain("It will not be read while the listing lacks it. A guard has held its removal since");
    expect(held).toMatchObject({ removal_held_at: fullyHeld.removal_held_at, verdict: { reason: "removal held" } });
    expect((await explain("zoe/Broken", migrator)).text).toMatch(/listed date +"/);
    const failing = await explain("zoe/Broken", reader);
    expect(failing.text).toMatch(/listed date +not visible to this role\nbookmark +not visible to this role\n/);
    expect(failing.text).toMatch(/settled +no: its content has not been stored completely under a date yet\n/);
    expect(failing.text).toMatch(/rejects +0 open$/m);
    expect(failing).toMatchObject({ listed_text: null, resolved_rejects: null, failures: 1 });
  });

  test("reads every view of simcat_report, those made later too, and no other table", async () => {
    const reader = await shared("simcat_reader");

    expect(await answerTo(reader, "SELECT * FROM simcat_report.of_the_test")).toBe("done");
    expect(await answerTo(reader, "SELECT FROM simcat.libraries")).toBe(REFUSED);
    expect(await answerTo(reader, "SELECT FROM simcat_migrations.__drizzle_migrations")).toBe(REFUSED);
    const rights = `SELECT n.nspname AS schema,
        bool_and(has_table_privilege(c.oid, 'SELECT')) AS every, bool_or(has_table_privilege(c.oid, 'SELECT')) AS any,
        bool_or(has_table_privilege(c.oid, 'INSERT, UPDATE, DELETE, TRUNCATE, REFERENCES, TRIGGER')) AS writes
      FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
      WHERE c.relkind IN ('r', 'p', 'v', 'm') AND n.nspname !~ '^pg_' AND n.nspname <> 'information_schema'
      GROUP BY 1 ORDER BY 1`;
    expect(await rowsOf(reader, rights)).toEqual([
      { schema: "simcat", every: false, any: false, writes: false },
      { schema: "simcat_migrations", every: false, any: false, writes: false },
      { schema: "simcat_report", every: true, any: true, writes: false },
    ]);
  });

  test("writes nothing, and not either when it makes its transactions writable", async () => {
    const reader = await shared("simcat_reader");
    expect(await answerTo(reader, "CREATE SCHEMA mine")).toBe(READ_ONLY);
    expect(await answerTo(reader, "SELECT nextval('simcat.sync_runs_id_seq')")).toBe(REFUSED);
    await reader.query("SET default_transaction_read_only = off");
    await expectRefused(reader, [
      "CREATE TEMPORARY TABLE mine (id int)",
      "CREATE TABLE public.mine (id int)",
      "CREATE TABLE simcat_report.mine (id int)",
      "CREATE SCHEMA mine",
      "DELETE FROM simcat_report.of_the_test",
      "UPDATE simcat_report.of_the_test SET owner = 'mine'",
      "INSERT INTO simcat_report.of_the_test VALUES ('mine', 'mine')",
      "DROP VIEW simcat_report.of_the_test",
      "UPDATE simcat.leases SET token = token + 1",
    ]);
  });

  test("has time limits, the views in its search path after Postgres's own functions, and no compiler", async () => {
    const reader = await shared("simcat_reader");
    const settings = `SELECT current_setting('statement_timeout') AS statement, current_setting('jit') AS jit,
      current_setting('idle_in_transaction_session_timeout') AS idle, current_setting('search_path') AS path,
      current_schemas(true)::text[] AS schemas`;
    expect(await rowsOf(reader, settings)).toEqual([
      { statement: "1min", idle: "1min", jit: "off", path: "simcat_report", schemas: ["pg_catalog", "simcat_report"] },
    ]);
    expect(await rowsOf(reader, "SELECT count(*) FROM libraries JOIN scenarios USING (owner, library_name)")).toEqual([
      { count: "0" },
    ]);
  });
});

describe("a URL with a role that simcat or its documents name", () => {
  const FOUND = "SELECT relnamespace::regnamespace::text AS schema FROM pg_class WHERE oid = 'libraries'::regclass";
  /** As a role of a server that is not ours. */
  const forgetOwnPath = "ALTER ROLE simcat RESET search_path";

  test("finds the views by their names as each of the roles (fault 152)", async () => {
    const database = await cluster.database();
    await (await cluster.session(database)).query(forgetOwnPath);
    await migrate(database);
    for (const role of [undefined, "simcat_migrator", "simcat_writer", "simcat_reader"]) {
      const found = await rowsOf(await cluster.session(database, role), FOUND);
      expect({ role, found }).toEqual({ role, found: [{ schema: "simcat_report" }] });
    }
  });

  test.each([
    ["role simcat", "simcat_report, pg_temp", "simcat_report, pg_temp"],
    ["database", "simcat", "simcat"],
    ["database", '"$user", public', "simcat_report, public"],
  ])("keeps a search_path of the %s that names no schema of the role: %s", async (owner, given, kept) => {
    const database = await cluster.database({ roles: false });
    const admin = await cluster.session(database);
    await admin.query(forgetOwnPath);
    const target = owner === "database" ? `DATABASE ${database}` : `ROLE simcat IN DATABASE ${database}`;
    await admin.query(`ALTER ${target} SET search_path = ${given}`);
    await migrate(database);
    expect(await rowsOf(await cluster.session(database), "SHOW search_path")).toEqual([{ search_path: kept }]);
  });
});

describe("roles.sql", () => {
  /** Every right and every owner that there is in the database. */
  const RIGHTS = `
    SELECT 'relation' AS what, oid::regclass::text AS name, relowner::regrole::text AS owner, relacl::text AS acl
      FROM pg_class WHERE relnamespace::regnamespace::text ~ '^simcat'
    UNION ALL SELECT 'schema', nspname, nspowner::regrole::text, nspacl::text FROM pg_namespace WHERE nspname !~ '^pg_'
    UNION ALL SELECT 'default', defaclnamespace::regnamespace::text, defaclrole::regrole::text, defaclacl::text
      FROM pg_default_acl
    UNION ALL SELECT 'database', datname, '', datacl::text FROM pg_database WHERE datname = current_database()
    UNION ALL SELECT 'setting', setrole::regrole::text, '', setconfig::text FROM pg_db_role_setting WHERE setdatabase = 0
    ORDER BY 1, 2, 3, 4`;

  test("may be run again: nothing differs, and what was granted by hand is gone", async () => {
    const database = await migrated();
    await cluster.runRoles(database);
    const admin = await cluster.session(database);
    const before = await rowsOf(admin, RIGHTS);
    await admin.query(
      "GRANT SELECT ON simcat.libraries TO simcat_reader; GRANT USAGE ON SCHEMA simcat TO PUBLIC; GRANT TRUNCATE ON simcat.rejects TO simcat_writer",
    );

    await cluster.runRoles(database);

    expect(await rowsOf(admin, RIGHTS)).toEqual(before);
  });

  test("can be run by the database's owner, who learns what only another role can revoke (fault 343)", async () => {
    const database = await cluster.database({ roles: false });
    const admin = await cluster.session(database);
    await admin.query("CREATE ROLE tenant LOGIN CREATEROLE PASSWORD 'a-password-for-tests'");
    for (const role of ["simcat_migrator", "simcat_writer", "simcat_reader"]) {
      // As if it had made them itself.
      await admin.query(`GRANT ${role} TO tenant WITH ADMIN OPTION`);
    }
    await admin.query(`ALTER DATABASE ${database} OWNER TO tenant`);
    // As up to Postgres 14.
    await admin.query("ALTER SCHEMA public OWNER TO simcat; GRANT CREATE ON SCHEMA public TO PUBLIC");
    await migrate(database, "tenant");

    await cluster.runRoles(database, "tenant");

    expect(cluster.log()).toContain(
      "WARNING:  simcat_reader may still create tables in schema public: have its owner simcat run REVOKE CREATE ON SCHEMA public FROM PUBLIC",
    );

    await migrate(database, "simcat_migrator");
    const reader = await cluster.session(database, "simcat_reader");
    expect(await answerTo(reader, "SELECT FROM simcat.libraries")).toBe(REFUSED);
  });

  test.each(["runs after", "ran in another database before"])(
    "%s a migration by another role, and grants the same",
    async (when) => {
      const database = await cluster.database({ roles: false });
      if (when.startsWith("ran")) await cluster.database();
      await migrate(database);
      if (when.startsWith("runs")) await cluster.runRoles(database);

      const { as } = await service(database);
      const environment = { ...as("simcat_writer"), SIMCAT_AUTO_MIGRATE: "false" };
      expect(await callCli(["backfill"], environment)).toMatchObject({ code: 0 });
      const maker = await cluster.session(database, when.startsWith("runs") ? "simcat_migrator" : undefined);
      await maker.query("CREATE VIEW simcat_report.later AS SELECT 1 AS one; CREATE TABLE simcat.later (id int)");
      const reader = await cluster.session(database, "simcat_reader");
      const writer = await cluster.session(database, "simcat_writer");
      expect(await answerTo(reader, "SELECT FROM simcat_report.later")).toBe("done");
      expect(await answerTo(reader, "SELECT FROM simcat.later")).toBe(REFUSED);
      expect(await answerTo(writer, "INSERT INTO simcat.later VALUES (1)")).toBe("done");
      if (when.startsWith("runs")) {
        expect(await answerTo(maker, "ALTER TABLE simcat.libraries ADD COLUMN mine int")).toBe("done");
        expect(await answerTo(maker, "DROP TABLE simcat_migrations.__drizzle_migrations")).toBe("done");
      }
    },
  );
});
