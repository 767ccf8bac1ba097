import { randomBytes } from "node:crypto";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { withLease } from "../../src/db/lease.ts";
import { migrate } from "../../src/db/migrate.ts";
import { JOURNAL } from "../../src/db/schema-state.ts";
import type { LostLeaseError } from "../../src/errors.ts";
import { addRows, day } from "../reporting/stored-rows.ts";
import { callCli } from "../support/call-cli.ts";
import { freshTestDatabase } from "../support/database.ts";
import { fixture, syncedFixture } from "../support/fixture.ts";
import { library } from "../support/organization.ts";
import { withOneMore, withViews } from "./migration-folders.ts";
import { openLeases } from "./open-leases.ts";
import { createRole } from "./roles.ts";
import { DEFINITIONS } from "./schema-definitions.ts";
import { holdLocks, untilSession, WAITS_FOR_LOCK } from "./sessions.ts";
import { told } from "./told.ts";

const never = new AbortController().signal;
/** When migration 0005 was made, the one before 0006. */
const COVERING_KEY_AT = 1_795_755_818_616;

test.each([
  ["simcat.libraries", "ADD COLUMN later", () => withOneMore("ALTER TABLE simcat.libraries ADD COLUMN later integer")],
  ["simcat_report.libraries", "CREATE OR REPLACE", () => withViews({ libraries: (text) => `${text}-- later` })],
])(
  "a change of %s that waits for a lock lets readers through in between (fault 97)",
  async (changed, statement, make) => {
    const database = await freshTestDatabase();
    const folder = await make();
    const long = await holdLocks(database, `SELECT FROM ${changed}`);
    const onWait = vi.fn();
    const migrating = migrate(database.url, never, { folder, onWait });
    const waiting = await untilSession(database.query, WAITS_FOR_LOCK);
    expect(waiting.query).toContain(statement);

    await database.query(`SELECT FROM ${changed}`);

    await vi.waitFor(() => expect(onWait).toHaveBeenCalled(), { timeout: 20_000 });
    await long.query("ROLLBACK");
    expect(await migrating).toMatchObject({ applied: 1 });
    const message = /^waiting for the database: .*lock timeout \(55P03\); another session holds a lock;/;
    expect(onWait.mock.calls).toEqual([[{ code: "waiting_for_database", message: expect.stringMatching(message) }]]);
  },
);

test.each([
  ["a migration ends an earlier version's run", () => withOneMore("CREATE TABLE simcat.later ()"), "lost_lease", 2],
  ["a changed view ends no run", () => withViews({ libraries: (text) => `${text}-- later` }), "written", 1],
])("%s, and a released lease stays as it is (fault 283)", async (_, make, expected, token) => {
  const database = await freshTestDatabase();
  const { take } = await openLeases(database);
  const { lease: running } = await take("sync 1/2");
  onTestFinished(() => running.release());
  await (await take("sync 2/2")).lease.release();

  expect(await migrate(database.url, never, { folder: await make() })).toMatchObject({ applied: 1 });

  const written = withLease(running, { operation: "writing" }, async () => "written");
  expect(await written.catch((error: LostLeaseError) => error.code)).toBe(expected);
  expect(await database.query("SELECT name, token::int FROM simcat.leases ORDER BY name")).toEqual([
    { name: "sync 1/2", token },
    { name: "sync 2/2", token: 1 },
  ]);
});

test("a migration that fails leaves nothing in an empty database", async () => {
  const database = await freshTestDatabase({ empty: true });
  const folder = await withOneMore("SELECT 1 / 0");

  await expect(migrate(database.url, never, { folder })).rejects.toMatchObject({ exitCode: 69 });

  expect(await database.query("SELECT FROM pg_namespace WHERE nspname LIKE 'simcat%'")).toEqual([]);
});

test.each([
  ["a row's names leave no room for more columns", randomBytes(1995).toString("base64url"), "SELECT"],
  [
    "a foreign key depends on it",
    "forest",
    `CREATE TABLE notes (owner text COLLATE "C", library_name text COLLATE "C", scenario_id bigint,
       FOREIGN KEY (owner, library_name, scenario_id) REFERENCES simcat.scenarios)`,
  ],
])("the key of scenarios stays as it is, and the upgrade ends, if %s (fault 256)", async (_, library_name, use) => {
  const database = await freshTestDatabase();
  const key = "scenarios_owner_library_name_scenario_id_pk";
  await database.query(`
    ALTER TABLE simcat.scenarios DROP CONSTRAINT ${key}, ADD CONSTRAINT ${key} PRIMARY KEY (owner, library_name, scenario_id);
    DROP INDEX simcat.events_presence_index, simcat.scenarios_parent_index, simcat.scenarios_last_modified_at_index,
      simcat.scenarios_quality_index;
    ALTER TABLE simcat.library_sync DROP COLUMN content_as_of CASCADE;
    DELETE FROM ${JOURNAL} WHERE created_at >= ${COVERING_KEY_AT};
    ${use}`);
  await addRows(database, "libraries", [{ library_name }]);
  await addRows(database, "scenarios", [
    { library_name, scenario_id: 1, parent_id: 0, is_result: false, last_modified_at: day(1) },
    { library_name, scenario_id: 3, parent_id: 2, is_result: true, last_modified_at: day(1) },
  ]);

  // Four migrations, and the views.
  expect(await migrate(database.url, never)).toMatchObject({ applied: 5 });
  expect((await callCli(["migrate"], { DATABASE_URL: database.url })).code).toBe(0);
  expect(await database.query("SELECT scenario_id::int AS id FROM simcat_report.parents_without_results")).toEqual([
    { id: 1 },
  ]);
});

test.each([
  ["owns", "ALTER SCHEMA %s OWNER TO %r"],
  ["may create in", "GRANT CREATE, USAGE ON SCHEMA %s TO %r"],
])("a role that %s all three schemas needs no CREATE on the database (fault 98)", async (_, give) => {
  const { call } = await fixture([library("alice", "Fire", { scenarios: [1] })]);
  const empty = await freshTestDatabase({ empty: true });
  const { name, url } = await createRole(empty, { grants: [] });
  for (const schema of ["simcat", "simcat_migrations", "simcat_report"]) {
    await empty.query(`CREATE SCHEMA ${schema}`);
    await empty.query(give.replace("%s", schema).replace("%r", name));
  }

  for (const command of ["check", "migrate", "sync"])
    expect(await call([command], { DATABASE_URL: url })).toMatchObject({ code: 0 });
});

test("a role's own settings affect neither the migrated schema nor a check (fault 99)", async () => {
  const { call, query: usual } = await fixture([]);
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

  for (const command of ["migrate", "check", "sync"])
    expect(await call([command], { DATABASE_URL: url })).toMatchObject({ code: 0 });
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
      const { call, query } = await fixture([library("alice", "Fire", { scenarios: [1] })]);
      await query(statement);
      expect((await call(["sync"])).code).toBe(78);

      const { exit, said } = told(await call(["migrate"]));
      expect({ exit, said }).toEqual({
        exit: 78,
        said: expect.stringMatching(/^all migrations are applied, but the database lacks /),
      });
      expect(said).toContain(missing);
      expect(said).toContain(hint);
      expect(await call(["check"])).toMatchObject({ code: 78, stdout: expect.stringContaining(missing) });
    },
  );

  test("names a missing key or index, and its hint repairs it (fault 118)", async () => {
    const { call, query } = await fixture([]);
    const before = await query(DEFINITIONS);
    for (const [statement, missing] of [
      [
        "ALTER TABLE simcat.libraries DROP CONSTRAINT libraries_owner_library_name_pk CASCADE",
        "constraint libraries_owner_library_name_pk of simcat.libraries, constraint scenarios_owner_library_name_libraries_owner_library_name_fk of simcat.scenarios",
      ],
      ["ALTER TABLE simcat.leases DROP CONSTRAINT leases_pkey", "constraint leases_pkey of simcat.leases"],
      ["DROP INDEX simcat.leases_name_token_key", "index leases_name_token_key of simcat.leases"],
      ["DROP INDEX simcat.rejects_open_index", "index rejects_open_index of simcat.rejects"],
    ] as const) {
      await query(statement);

      const { exit, said } = told(await call(["migrate"]));
      expect({ statement, exit }).toEqual({ statement, exit: 78 });
      expect(said).toContain(`but the database lacks ${missing}; no row is lost; as the owner of the tables run `);
      expect((await call(["check"])).stdout).toContain(missing);

      await query(/the tables run (.*;)/.exec(said)?.[1] ?? "");
      expect(await call(["migrate"])).toMatchObject({ code: 0 });
      expect(await call(["check"])).toMatchObject({ code: 0 });
      expect(await query(DEFINITIONS), statement).toEqual(before);
    }
  });

  test("migrate repairs missing views and functions without loss of a row (fault 118)", async () => {
    const { call, query } = await syncedFixture([library("alice", "Fire", { scenarios: [1] })]);
    const read = async () => [await query(DEFINITIONS), await query("TABLE simcat.scenarios")];
    const before = await read();
    for (const [statement, missing] of [
      ["DROP VIEW simcat_report.run_history CASCADE", "view simcat_report.data_complete_as_of"],
      ["DROP FUNCTION simcat_report.version_order CASCADE", "function simcat_report.version_order"],
      ["DROP SCHEMA simcat_report CASCADE", "view simcat_report.changes"],
    ] as const) {
      await query(statement);

      const checked = await call(["check"]);
      expect({ statement, code: checked.code }).toEqual({ statement, code: 78 });
      expect(checked.stdout).toContain(missing);
      expect(checked.stdout).toContain("no row is lost; run simcat migrate, which creates missing views");
      const migrated = await call(["migrate"]);
      expect(migrated).toMatchObject({ code: 0 });
      expect(migrated.stdout).toContain(missing);

      expect(await read(), statement).toEqual(before);
      expect(await call(["check"])).toMatchObject({ code: 0 });
      expect(JSON.parse((await call(["migrate", "--json"])).stdout)).toEqual({ applied: 0, recreated: [] });
    }
  });

  test("migrate repairs views in a database whose migrations include one more (fault 118)", async () => {
    const database = await freshTestDatabase();
    const folder = await withOneMore("CREATE INDEX later_index ON simcat.libraries (description)");
    await database.query("DROP VIEW simcat_report.data_quality");

    const result = await migrate(database.url, never, { folder });

    expect(result).toEqual({ applied: 1, recreated: ["view simcat_report.data_quality"] });
  });
});
