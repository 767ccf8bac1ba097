import { describe, expect, onTestFinished, test, vi } from "vitest";
import { migrate } from "../../src/db/migrate.ts";
import { freshTestDatabase, type TestDatabase } from "../support/database.ts";
import { fixture } from "../support/fixture.ts";
import { library } from "../support/organization.ts";
import { withOneMore, withViews } from "./migration-folders.ts";
import { createRole } from "./roles.ts";
import { DEFINITIONS } from "./schema-definitions.ts";
import { untilSession, WAITS_FOR_LOCK } from "./sessions.ts";
import { told } from "./told.ts";

const never = new AbortController().signal;

/** Another session's transaction, open until `end`. */
async function openTransaction({ pool }: TestDatabase, statement: string): Promise<{ end(): Promise<void> }> {
  const connection = await pool.connect();
  await connection.query("BEGIN");
  await connection.query(statement);
  let isOpen = true;
  const end = async () => {
    if (!isOpen) return;
    isOpen = false;
    await connection.query("ROLLBACK");
    connection.release();
  };
  onTestFinished(end);
  return { end };
}

test.each([
  ["simcat.libraries", "ADD COLUMN later", () => withOneMore("ALTER TABLE simcat.libraries ADD COLUMN later integer")],
  ["simcat_report.libraries", "CREATE OR REPLACE", () => withViews({ libraries: (text) => `${text}-- later` })],
])(
  "a change of %s that waits for a lock lets readers through in between (fault 97)",
  async (changed, statement, make) => {
    const database = await freshTestDatabase();
    const folder = await make();
    const long = await openTransaction(database, `SELECT FROM ${changed}`);
    const onWait = vi.fn();
    const migrating = migrate(database.url, never, { folder, onWait });
    const waiting = await untilSession(database.query, WAITS_FOR_LOCK);
    expect(waiting.query).toContain(statement);

    await database.query(`SELECT FROM ${changed}`);

    await vi.waitFor(() => expect(onWait).toHaveBeenCalled(), { timeout: 20_000 });
    expect(onWait.mock.calls).toEqual([
      [
        {
          code: "waiting_for_database",
          message: expect.stringMatching(
            /^waiting for the database: .*lock timeout \(55P03\); another session holds a lock/,
          ),
        },
      ],
    ]);
    await long.end();
    expect(await migrating).toMatchObject({ applied: 1 });
  },
);

describe("an index of a migration", () => {
  const INDEX = 'CREATE INDEX CONCURRENTLY "later_index" ON "simcat"."libraries" USING btree ("description")';

  test("lets readers read while it waits (fault 97)", async () => {
    const database = await freshTestDatabase();
    const folder = await withOneMore(INDEX);
    const long = await openTransaction(database, "LOCK TABLE simcat.libraries IN ROW EXCLUSIVE MODE");
    const migrating = migrate(database.url, never, { folder });
    await untilSession(database.query, "query LIKE 'CREATE INDEX%' AND wait_event_type = 'Lock'");

    await database.query("SELECT FROM simcat.libraries");

    await long.end();
    expect(await migrating).toMatchObject({ applied: 1 });
  });

  test("is built once by three processes that migrate at once (fault 85)", async () => {
    const database = await freshTestDatabase();
    const folder = await withOneMore(INDEX);

    const results = await Promise.all([1, 2, 3].map(() => migrate(database.url, never, { folder })));

    expect(results.map(({ applied }) => applied).sort()).toEqual([0, 0, 1]);
    expect(
      await database.query(
        "SELECT count(*)::int AS times FROM simcat_migrations.__drizzle_migrations WHERE created_at = 4102444800000",
      ),
    ).toEqual([{ times: 1 }]);
  });

  test("is part of the one transaction that migrates an empty database", async () => {
    const database = await freshTestDatabase({ empty: true });
    const folder = await withOneMore(`${INDEX};\n--> statement-breakpoint\nSELECT 1 / 0`);

    await expect(migrate(database.url, never, { folder })).rejects.toMatchObject({ exitCode: 69 });

    expect(await database.query("SELECT FROM pg_namespace WHERE nspname LIKE 'simcat%'")).toEqual([]);
  });
});

test.each([
  ["owns", (role: string) => [`ALTER SCHEMA SCHEMA_NAME OWNER TO ${role}`]],
  ["may create in", (role: string) => [`GRANT CREATE, USAGE ON SCHEMA SCHEMA_NAME TO ${role}`]],
])("a role that %s all three schemas needs no CREATE on the database (fault 98)", async (_, give) => {
  const { simcat } = await fixture([library("alice", "Fire", { scenarios: [1] })]);
  const empty = await freshTestDatabase({ empty: true });
  const { name, url } = await createRole(empty, { grants: [] });
  for (const schema of ["simcat", "simcat_migrations", "simcat_report"]) {
    await empty.query(`CREATE SCHEMA ${schema}`);
    for (const statement of give(name)) await empty.query(statement.replace("SCHEMA_NAME", schema));
  }

  expect(await simcat(["check"], { DATABASE_URL: url })).toMatchObject({ code: 0 });
  expect(await simcat(["migrate"], { DATABASE_URL: url })).toMatchObject({ code: 0 });
  expect(await simcat(["sync"], { DATABASE_URL: url })).toMatchObject({ code: 0 });
});

test("check reports a missing schema that the role may not create (fault 98)", async () => {
  const { simcat } = await fixture([]);
  const empty = await freshTestDatabase({ empty: true });
  const { name, url } = await createRole(empty, { grants: [] });
  await empty.query(`CREATE SCHEMA simcat AUTHORIZATION ${name}`);
  await empty.query("CREATE SCHEMA simcat_migrations");
  await empty.query(`GRANT USAGE ON SCHEMA simcat_migrations TO ${name}`);

  const { code, stdout } = await simcat(["check"], { DATABASE_URL: url });

  expect(code).toBe(69);
  expect(stdout).toContain(`GRANT CREATE ON DATABASE ${new URL(url).pathname.slice(1)} TO ${name};`);
  expect(stdout).toContain(`GRANT CREATE ON SCHEMA simcat_migrations TO ${name};`);
  expect(stdout).not.toContain("ON SCHEMA simcat TO");
});

test("a role's own settings affect neither the migrated schema nor a check (fault 99)", async () => {
  const { simcat, query: usual } = await fixture([]);
  const empty = await freshTestDatabase({ empty: true });
  const { name, url } = await createRole(empty, {
    grants: [`CREATE ON DATABASE ${new URL(empty.url).pathname.slice(1)}`],
  });
  for (const setting of [
    "standard_conforming_strings = off",
    "backslash_quote = off",
    "escape_string_warning = on",
    "search_path = nowhere",
    "check_function_bodies = off",
    "datestyle = 'German'",
    "array_nulls = off",
    "transform_null_equals = on",
    "quote_all_identifiers = on",
    "lc_messages = 'C'",
    "bytea_output = 'escape'",
    "intervalstyle = 'iso_8601'",
    "lock_timeout = '1ms'",
  ]) {
    await empty.query(`ALTER ROLE ${name} SET ${setting}`);
  }

  expect(await simcat(["migrate"], { DATABASE_URL: url })).toMatchObject({ code: 0 });
  expect(await simcat(["check"], { DATABASE_URL: url })).toMatchObject({ code: 0 });
  expect(await simcat(["sync"], { DATABASE_URL: url })).toMatchObject({ code: 0 });

  expect(await empty.query(DEFINITIONS)).toEqual(await usual(DEFINITIONS));
});

describe("a journal that lists more than the database contains", () => {
  test.each([
    ["DROP TABLE simcat.leases", "table simcat.leases", "restore them from a backup"],
    ["DROP TABLE simcat.scenarios CASCADE", "table simcat.scenarios", "restore them"],
    ["ALTER TABLE simcat.libraries DROP COLUMN file_size CASCADE", "column simcat.libraries.file_size", "restore them"],
    ["DROP SCHEMA simcat CASCADE", "table simcat.libraries", "no table is left, so start over: DROP SCHEMA"],
  ])(
    "is not up to date after %s: sync, migrate and check exit with 78 (fault 100)",
    async (statement, missing, hint) => {
      const { simcat, query } = await fixture([library("alice", "Fire", { scenarios: [1] })]);
      await query(statement);
      expect((await simcat(["sync"])).code).toBe(78);

      const migrated = await simcat(["migrate"]);
      expect(told(migrated)).toEqual({
        exit: 78,
        code: "configuration",
        said: expect.stringMatching(/^all migrations are applied, but the database lacks /),
      });
      expect(told(migrated).said).toContain(missing);
      expect(told(migrated).said).toContain(hint);
      const checked = await simcat(["check"]);
      expect(checked.code).toBe(78);
      expect(checked.stdout).toContain(missing);
    },
  );

  test.each([
    [
      "ALTER TABLE simcat.libraries DROP CONSTRAINT libraries_owner_library_name_pk CASCADE",
      "constraint libraries_owner_library_name_pk of simcat.libraries, constraint scenarios_owner_library_name_libraries_owner_library_name_fk of simcat.scenarios",
    ],
    ["ALTER TABLE simcat.leases DROP CONSTRAINT leases_pkey", "constraint leases_pkey of simcat.leases"],
    ["DROP INDEX simcat.leases_name_token_key", "index leases_name_token_key of simcat.leases"],
    ["DROP INDEX simcat.rejects_open_index", "index rejects_open_index of simcat.rejects"],
  ])("names a missing key or index after %s, and its hint repairs it (fault 118)", async (statement, missing) => {
    const { simcat, query } = await fixture([]);
    const before = await query(DEFINITIONS);
    await query(statement);

    const { exit, said } = told(await simcat(["migrate"]));
    expect(exit).toBe(78);
    expect(said).toContain(`but the database lacks ${missing}; no row is lost; as the owner of the tables run `);
    expect((await simcat(["check"])).stdout).toContain(missing);

    await query(/the tables run (.*;)/.exec(said)?.[1] ?? "");
    expect(await simcat(["migrate"])).toMatchObject({ code: 0 });
    expect(await simcat(["check"])).toMatchObject({ code: 0 });
    expect(await query(DEFINITIONS)).toEqual(before);
  });

  test.each([
    ["DROP VIEW simcat_report.run_history CASCADE", "view simcat_report.data_complete_as_of"],
    ["DROP FUNCTION simcat_report.version_order CASCADE", "function simcat_report.version_order"],
    ["DROP VIEW simcat_report.library_freshness CASCADE", "view simcat_report.library_freshness"],
    ["DROP SCHEMA simcat_report CASCADE", "view simcat_report.changes"],
  ])("migrate repairs %s without loss of a row (fault 119)", async (statement, missing) => {
    const { simcat, query } = await fixture([library("alice", "Fire", { scenarios: [1] })]);
    expect(await simcat(["sync"])).toMatchObject({ code: 0 });
    const read = async () => ({
      definitions: await query(DEFINITIONS),
      rows: await query("TABLE simcat.scenarios"),
    });
    const before = await read();
    await query(statement);

    const checked = await simcat(["check"]);
    expect(checked.code).toBe(78);
    expect(checked.stdout).toContain(missing);
    expect(checked.stdout).toContain("no row is lost; run simcat migrate, which creates missing views");
    const migrated = await simcat(["migrate"]);
    expect(migrated).toMatchObject({ code: 0 });
    expect(migrated.stdout).toContain(missing);

    expect(await read()).toEqual(before);
    expect(await simcat(["check"])).toMatchObject({ code: 0 });
    expect(JSON.parse((await simcat(["migrate", "--json"])).stdout)).toEqual({ applied: 0, recreated: [] });
  });

  test("migrate repairs views in a database whose migrations include one more (fault 119)", async () => {
    const database = await freshTestDatabase();
    const folder = await withOneMore(
      'CREATE INDEX CONCURRENTLY "later_index" ON "simcat"."libraries" USING btree ("description")',
    );
    await database.query("DROP VIEW simcat_report.data_quality");

    const result = await migrate(database.url, never, { folder });

    expect(result).toEqual({ applied: 1, recreated: ["view simcat_report.data_quality"] });
  });
});
