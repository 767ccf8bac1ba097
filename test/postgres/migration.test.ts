import { describe, expect, onTestFinished, test, vi } from "vitest";
import { migrate } from "../../src/db/migrate.ts";
import { freshTestDatabase, type TestDatabase } from "../support/database.ts";
import { fixture } from "../support/fixture.ts";
import { library } from "../support/organization.ts";
import { firstMigrations, withOneMore } from "./migration-folders.ts";
import { createRole } from "./roles.ts";
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

test("a migration that waits for a lock lets readers through in between (fault 97)", async () => {
  const database = await freshTestDatabase();
  const folder = await withOneMore("ALTER TABLE simcat.libraries ADD COLUMN later integer");
  const long = await openTransaction(database, "SELECT FROM simcat.libraries");
  const onWait = vi.fn();
  const migrating = migrate(database.url, never, { folder, onWait });
  const waiting = await untilSession(database.query, WAITS_FOR_LOCK);
  expect(waiting.query).toContain("ADD COLUMN later");

  await database.query("SELECT FROM simcat.libraries");

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
});

describe("an index that is built concurrently", () => {
  const INDEX = 'CREATE INDEX CONCURRENTLY "later_index" ON "simcat"."libraries" USING btree ("description")';
  const SHAPE = "SELECT indisvalid AS valid FROM pg_index WHERE indexrelid = to_regclass('simcat.later_index')";
  const JOURNALED =
    "SELECT count(*)::int AS times FROM simcat_migrations.__drizzle_migrations WHERE created_at = 4102444800000";
  const BUILDS = "query LIKE 'CREATE INDEX CONCURRENTLY%' AND wait_event_type = 'Lock'";

  test("blocks neither readers nor writers while it waits for a transaction (fault 97)", async () => {
    const database = await freshTestDatabase();
    const folder = await withOneMore(INDEX);
    const long = await openTransaction(database, "LOCK TABLE simcat.libraries IN ROW EXCLUSIVE MODE");
    const migrating = migrate(database.url, never, { folder });
    await untilSession(database.query, BUILDS);

    await database.query("UPDATE simcat.libraries SET description = 'another'");

    await long.end();
    expect(await migrating).toMatchObject({ applied: 1 });
    expect(await database.query(SHAPE)).toEqual([{ valid: true }]);
  });

  test("is built again after an interrupted build left an invalid one (fault 97)", async () => {
    const database = await freshTestDatabase();
    const folder = await withOneMore(INDEX);
    const long = await openTransaction(database, "LOCK TABLE simcat.libraries IN ROW EXCLUSIVE MODE");
    const migrating = migrate(database.url, never, { folder });
    const { pid } = await untilSession(database.query, BUILDS);
    await Promise.all([
      expect(migrating).rejects.toMatchObject({ exitCode: 69, message: expect.stringContaining("57014") }),
      database.query("SELECT pg_cancel_backend($1)", [pid]),
    ]);
    expect(await database.query(SHAPE)).toEqual([{ valid: false }]);
    expect(await database.query(JOURNALED)).toEqual([{ times: 0 }]);
    await long.end();

    expect(await migrate(database.url, never, { folder })).toMatchObject({ applied: 1 });

    expect(await database.query(SHAPE)).toEqual([{ valid: true }]);
    expect(await database.query(JOURNALED)).toEqual([{ times: 1 }]);
  });

  test("is built once by three processes that migrate at once (fault 85)", async () => {
    const database = await freshTestDatabase();
    const folder = await withOneMore(INDEX);

    const results = await Promise.all([1, 2, 3].map(() => migrate(database.url, never, { folder })));

    expect(results.map(({ applied }) => applied).sort()).toEqual([0, 0, 1]);
    expect(await database.query(SHAPE)).toEqual([{ valid: true }]);
    expect(await database.query(JOURNALED)).toEqual([{ times: 1 }]);
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

/** Every definition that migrations create, as Postgres prints it. */
const DEFINITIONS = `
  SELECT c.relname AS name, pg_get_viewdef(c.oid) AS text FROM pg_class c
    WHERE relnamespace IN ('simcat'::regnamespace, 'simcat_report'::regnamespace) AND relkind = 'v'
  UNION ALL SELECT proname, pg_get_functiondef(oid) FROM pg_proc WHERE pronamespace = 'simcat_report'::regnamespace
  UNION ALL SELECT conname, pg_get_constraintdef(oid) FROM pg_constraint WHERE connamespace = 'simcat'::regnamespace
  UNION ALL SELECT indexrelid::regclass::text, pg_get_indexdef(indexrelid) FROM pg_index
    WHERE indrelid IN (SELECT oid FROM pg_class WHERE relnamespace = 'simcat'::regnamespace)
  UNION ALL SELECT objoid::regclass::text || objsubid, description FROM pg_description
    WHERE classoid = 'pg_class'::regclass
      AND objoid IN (SELECT oid FROM pg_class WHERE relnamespace::regnamespace::text LIKE 'simcat%')
  UNION ALL SELECT nspname, obj_description(oid, 'pg_namespace') FROM pg_namespace WHERE nspname LIKE 'simcat%'
  ORDER BY 1, 2`;

test("a role's own settings do not affect the migrated schema (fault 99)", async () => {
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
    "lock_timeout = '1ms'",
  ]) {
    await empty.query(`ALTER ROLE ${name} SET ${setting}`);
  }

  expect(await simcat(["migrate"], { DATABASE_URL: url })).toMatchObject({ code: 0 });

  expect(await empty.query(DEFINITIONS)).toEqual(await usual(DEFINITIONS));
});

describe("a journal that lists more than the database contains", () => {
  test.each([
    ["DROP TABLE simcat.leases", "table simcat.leases", "restore them from a backup"],
    ["ALTER TABLE simcat.libraries DROP COLUMN file_size CASCADE", "column simcat.libraries.file_size", "restore them"],
    ["DROP SCHEMA simcat CASCADE", "table simcat.libraries", "no table is left, so start over: DROP SCHEMA"],
  ])("is not up to date after %s: migrate and check exit with 78 (fault 100)", async (statement, missing, hint) => {
    const { simcat, query } = await fixture([]);
    await query(statement);

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
  });

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
    ["DROP FUNCTION simcat_report.version_order CASCADE", "function simcat_report.version_order(text)"],
    ["DROP VIEW simcat_report.library_freshness CASCADE", "view simcat_report.libraries"],
    ["DROP SCHEMA simcat_report CASCADE", "view simcat_report.changes"],
  ])("migrate repairs %s without loss of a row (fault 119)", async (statement, missing) => {
    const { simcat, query } = await fixture([library("alice", "Fire", { scenarios: [1] })]);
    expect(await simcat(["sync"])).toMatchObject({ code: 0 });
    const read = async () => ({
      definitions: (await query(DEFINITIONS)).map(withoutInnerNames),
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

/** Postgres prints names for columns of an inner UNION once a definition was read from its own output. */
function withoutInnerNames(definition: unknown): string {
  return JSON.stringify(definition).replace(/(::(?:text|timestamp with time zone)) AS (?:text|timestamptz)\b/g, "$1");
}

/** A row in every table of the schema before the first release: the first four migrations. */
const FILLED = [
  `INSERT INTO simcat.leases VALUES ('sync', 'host:1', 3, '2024-01-02 03:04:05Z')`,
  `INSERT INTO simcat.libraries VALUES ('alice', 'Fire', 'Alice', '2024-01-02 at 3:04 PM', '2024-01-02 15:04Z', '240 KB', 245760,
     'stsim', '4.3.3', 'text', '{"libraryName": "Fire"}', '{"a": 1}', '2024-01-01Z', '2024-01-02Z', NULL, 2)`,
  `INSERT INTO simcat.scenarios VALUES ('alice', 'Fire', 1, 0, 'One', false, '2024-01-02', '2024-01-02Z', 'text',
     '{"scenarioId": 1}', '2024-01-01Z', '2024-01-02Z', NULL, 2)`,
  `INSERT INTO simcat.library_history SELECT l.*, '2024-01-01Z', '2024-01-02Z', 2 FROM simcat.libraries l`,
  `INSERT INTO simcat.scenario_history SELECT s.*, '2024-01-01Z', '2024-01-02Z', 2 FROM simcat.scenarios s`,
  `INSERT INTO simcat.library_sync VALUES ('alice', 'Fire', '2024-01-02 at 3:04 PM', '2024-01-02 at 3:04 PM', 'hash',
     '2024-01-03Z', '2024-01-04Z', 'shrunk', 1, 2, 1, 'timeout: none', '2024-01-05Z', '2024-01-04Z')`,
  `INSERT INTO simcat.scenario_absences VALUES ('alice', 'Fire', 1, 1)`,
  `INSERT INTO simcat.scenario_staging VALUES ('3.1', 1, 0, 'One', false, NULL, NULL, NULL, '{}')`,
  `INSERT INTO simcat.sync_runs (kind, trigger, scope, status, finished_at, libraries_listed, version)
     VALUES ('sync', 'cli', NULL, 'ok', now(), 1, '0.1.0'), ('backfill', 'schedule', '{"owners": []}', 'partial', now(), 1, '0.1.0')`,
  `INSERT INTO simcat.rejects (run_id, owner, library_name, kind, code, path, reason, payload, fingerprint, first_seen_at, last_seen_at)
     VALUES (2, 'alice', 'Fire', 'scenario', 'wrong_type', 'isResult', 'a reason', '{}', 'abc', '2024-01-02Z', '2024-01-02Z')`,
];

test("a database filled at the first four migrations is upgraded in place and keeps every row (fault 101)", async () => {
  const { simcat } = await fixture([library("alice", "Fire", { scenarios: [1] })]);
  const old = await freshTestDatabase({ empty: true });
  const { statements, journaled } = await firstMigrations(4);
  for (const statement of statements) await old.query(statement);
  await old.query("CREATE SCHEMA simcat_migrations");
  await old.query(
    "CREATE TABLE simcat_migrations.__drizzle_migrations (id serial PRIMARY KEY, hash text NOT NULL, created_at bigint)",
  );
  await old.query(
    "INSERT INTO simcat_migrations.__drizzle_migrations (hash, created_at) SELECT 'hash', unnest($1::bigint[])",
    [journaled],
  );
  for (const statement of FILLED) await old.query(statement);
  const before = await readRows(old);
  expect(Object.values(before).every((rows) => rows.length > 0)).toBe(true);

  expect(await simcat(["migrate"], { DATABASE_URL: old.url })).toMatchObject({ code: 0 });

  const after = await readRows(old);
  // The migration takes over the lease of a run of the earlier version.
  const { leases: _, ...rowsBefore } = before;
  for (const [table, rows] of Object.entries(rowsBefore)) {
    const columns = Object.keys(after[table]?.[0] ?? {});
    const kept = (row: Row) =>
      Object.fromEntries(columns.filter((name) => name in row).map((name) => [name, row[name]]));
    // Columns that a later migration renamed or dropped are not compared.
    expect({ table, rows: after[table] }).toMatchObject({ table, rows: rows.map(kept) });
  }
  expect((await simcat(["sync"], { DATABASE_URL: old.url })).code).toBe(0);
});

test("dates that an earlier version truncated to milliseconds regain their microseconds (fault 101)", async () => {
  const { simcat } = await fixture([library("alice", "Fire", { scenarios: [1] })]);
  const old = await freshTestDatabase({ empty: true });
  const { statements, journaled } = await firstMigrations(4);
  for (const statement of statements) await old.query(statement);
  await old.query("CREATE SCHEMA simcat_migrations");
  await old.query(
    "CREATE TABLE simcat_migrations.__drizzle_migrations (id serial PRIMARY KEY, hash text NOT NULL, created_at bigint)",
  );
  await old.query(
    "INSERT INTO simcat_migrations.__drizzle_migrations (hash, created_at) SELECT 'hash', unnest($1::bigint[])",
    [journaled],
  );
  const texts = [
    ["2024-09-19 15:24:41.3994461", "2024-09-19 15:24:41.399Z"],
    ["2024-09-19 15:24:41,39945", "2024-09-19 15:24:41.399Z"],
    ["2024-09-19 15:24:41.399", "2024-09-19 15:24:41.399Z"],
    ["2023-09-11 at 2:56 PM", "2023-09-11 14:56Z"],
  ];
  for (const [text, at] of texts)
    await old.query(
      `INSERT INTO simcat.libraries (owner, library_name, last_modified, last_modified_at, first_seen_at, changed_at, run_id)
       VALUES ('alice', $1, $1, $2, now(), now(), 1)`,
      [text, at],
    );

  expect(await simcat(["migrate"], { DATABASE_URL: old.url })).toMatchObject({ code: 0 });

  const at = "to_char(last_modified_at AT TIME ZONE 'UTC', 'HH24:MI:SS.US')";
  expect(await old.query(`SELECT last_modified AS text, ${at} AS at FROM simcat.libraries ORDER BY 1`)).toEqual([
    { text: "2023-09-11 at 2:56 PM", at: "14:56:00.000000" },
    { text: "2024-09-19 15:24:41,39945", at: "15:24:41.399450" },
    { text: "2024-09-19 15:24:41.399", at: "15:24:41.399000" },
    { text: "2024-09-19 15:24:41.3994461", at: "15:24:41.399446" },
  ]);
});

type Row = Readonly<Record<string, unknown>>;

/** All rows of simcat's tables at the first four migrations. */
async function readRows({ query }: TestDatabase): Promise<Record<string, Row[]>> {
  const tables = FILLED.map((statement) => /INSERT INTO simcat\.(\w+)/.exec(statement)?.[1] ?? "");
  const rows = await Promise.all(
    tables.map(async (table) => {
      const found = await query<{ row: Row }>(
        `SELECT to_jsonb(t) AS row FROM simcat.${table} t ORDER BY to_jsonb(t)::text`,
      );
      return [table, found.map(({ row }) => row)] as const;
    }),
  );
  return Object.fromEntries(rows);
}
