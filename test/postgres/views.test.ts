import { readFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { migrate } from "../../src/db/migrate.ts";
import { freshTestDatabase, type TestDatabase } from "../support/database.ts";
import { fixture } from "../support/fixture.ts";
import { withViews } from "./migration-folders.ts";
import { DEFINITIONS } from "./schema-definitions.ts";

const never = new AbortController().signal;

/** A database that the last version with fifteen migrations created and filled: pg_dump's text. */
async function oldDatabase(): Promise<TestDatabase> {
  const database = await freshTestDatabase({ empty: true });
  const connection = await database.pool.connect();
  const dump = gunzipSync(readFileSync("test/postgres/before-baseline.sql.gz")).toString();
  await connection.query(dump).finally(() => connection.release(true));
  return database;
}

/** Where and when each object and each row was written; an added column writes no row. */
async function readStorage({ query }: TestDatabase) {
  const tables = await query<{ name: string }>(
    "SELECT relname AS name FROM pg_class WHERE relnamespace = 'simcat'::regnamespace AND relkind = 'r' ORDER BY 1",
  );
  const rows = tables.map(async ({ name }) => [name, await query(`SELECT ctid, xmin FROM simcat.${name} ORDER BY 1`)]);
  return {
    objects: await query<{ oid: string; relname: string }>(
      `SELECT oid, relname, relfilenode, relacl::text FROM pg_class WHERE relnamespace::regnamespace::text ~ '^simcat(_report)?$'
       UNION ALL SELECT oid, proname, 0, proacl::text FROM pg_proc WHERE pronamespace = 'simcat_report'::regnamespace ORDER BY 1`,
    ),
    rows: Object.fromEntries(await Promise.all(rows)) as Record<string, unknown[]>,
  };
}

/** It has more columns since a later migration. */
const REBUILT_KEY = "scenarios_owner_library_name_scenario_id_pk";

/** By owner, with the sums of the sizes as far as they are known. */
const LIVE = `SELECT owner, count(*)::int AS libraries, sum(scenario_count)::int AS scenarios, sum(result_count)::int AS results,
  coalesce(sum(file_size_bytes), 0)::float8 AS bytes FROM simcat_report.libraries GROUP BY owner ORDER BY owner`;
const SUMS = `SELECT owner, sum(library_change)::int AS libraries, sum(scenario_change)::int AS scenarios, sum(result_change)::int AS results,
  sum(byte_change)::float8 AS bytes FROM simcat_report.events GROUP BY owner HAVING sum(library_change) > 0 ORDER BY owner`;

test("a database of the fifteen migrations adopts the baseline, keeps all rows, and gets events (faults 101, 208)", async () => {
  const { call, database: made } = await fixture([]);
  const old = await oldDatabase();
  const before = await readStorage(old);
  expect(Object.values(before.rows).filter((rows) => rows.length > 0).length).toBeGreaterThan(8);

  const { entries } = JSON.parse(readFileSync("migrations/meta/_journal.json", "utf8"));
  const migrations = entries.length;
  expect((await call(["check"], { DATABASE_URL: old.url })).stdout).toContain(`${migrations} migrations behind`);
  expect(await migrate(old.url, never)).toEqual({ applied: migrations, recreated: [] });

  const after = await readStorage(old);
  const kept = before.objects.filter(({ relname }) => relname !== REBUILT_KEY);
  expect(kept.length).toBe(before.objects.length - 1);
  expect(after.objects).toEqual(expect.arrayContaining(kept));
  expect(after.rows).toMatchObject(before.rows);
  expect(await old.query(withoutNotNull)).toEqual(await made.query(withoutNotNull));
  expect(await migrate(old.url, never)).toEqual({ applied: 0, recreated: [] });
  expect((await call(["check"], { DATABASE_URL: old.url })).code).toBe(0);

  const pruned = await oldDatabase();
  const [middle] = await pruned.query<{ at: Date }>("SELECT max(valid_to) AS at FROM simcat.library_history");
  await pruned.query(
    "INSERT INTO simcat.prunes (pruned_at, cutoff) VALUES (now(), $1::timestamptz - interval '1 microsecond')",
    [middle?.at],
  );
  await migrate(pruned.url, never);
  for (const { query } of [old, pruned]) {
    const live = await query(LIVE);
    expect(live.length).toBeGreaterThan(0);
    expect(await query(SUMS)).toEqual(live);
  }
  const kinds = "SELECT DISTINCT kind FROM simcat_report.events ORDER BY 1";
  expect((await old.query(kinds)).length).toBeGreaterThan(1);
});

/** Postgres 18 keeps a constraint for each NOT NULL column, whose name is that of the column when it was created. */
const withoutNotNull = `SELECT * FROM (${DEFINITIONS}) AS d WHERE text NOT LIKE 'NOT NULL %'`;

test("only a changed file is applied, and an earlier simcat does not put the earlier view back", async () => {
  const { call, database } = await fixture([]);
  const rules = () =>
    database.query<{ name: string; xmin: string }>(
      `SELECT c.relname AS name, r.xmin FROM pg_rewrite r JOIN pg_class c ON c.oid = r.ev_class
       WHERE c.relnamespace = 'simcat_report'::regnamespace ORDER BY 1`,
    );
  const before = await rules();
  await database.query("CREATE VIEW public.mine AS SELECT * FROM simcat_report.prune_history");
  const folder = await withViews({
    prune_history: (text) => text.replace(/\nFROM/, ", 1 AS later\nFROM"),
    history_covers: (text) => `${text}COMMENT ON FUNCTION simcat_report.history_covers IS 'Another comment.';`,
  });

  expect(await migrate(database.url, never, { folder })).toEqual({ applied: 1, recreated: [] });

  const changed = (await rules()).filter(({ xmin }, n) => xmin !== before[n]?.xmin);
  expect(changed.map(({ name }) => name)).toEqual(["prune_history"]);
  for (const command of ["migrate", "check", "sync"]) expect(await call([command])).toMatchObject({ code: 78 });
  expect(await database.query("SELECT count(later)::int AS count FROM simcat_report.prune_history")).toEqual([
    { count: 0 },
  ]);
});

const swapColumns = (text: string) => text.replace(/SELECT (\S*owner), (\S*library_name)/, "SELECT $2, $1");
const addParameter = (text: string) =>
  text.replace("last_work_at timestamptz", "$&, later int DEFAULT 0").replace("timestamp with time zone", "$&, int");

test.each([
  ["whose columns change", { latest_result_per_parent: swapColumns }, ["latest_result_per_parent", "stale_results"]],
  ["with other parameters", { work_state: addParameter }, ["libraries", "libraries_as_of", "work_state"]],
])("a view or function %s is created again with its privileges and those of its users", async (_, change, created) => {
  const database = await freshTestDatabase();
  await database.query(
    `GRANT SELECT (owner), UPDATE ON simcat_report.latest_result_per_parent TO pg_monitor WITH GRANT OPTION;
     GRANT SELECT ON simcat_report.stale_results, simcat_report.libraries TO PUBLIC;
     REVOKE EXECUTE ON FUNCTION simcat_report.work_state, simcat_report.libraries_as_of FROM PUBLIC;
     ALTER DEFAULT PRIVILEGES IN SCHEMA simcat_report GRANT SELECT ON TABLES TO pg_read_all_stats`,
  );
  const read = () =>
    database.query<{ name: string; oid: number; acl: string }>(
      `SELECT relname AS name, oid, concat(coalesce(relacl, acldefault('r', relowner)), (SELECT string_agg(attacl::text, '') FROM pg_attribute WHERE attrelid = c.oid)) AS acl
       FROM pg_class c WHERE relnamespace = 'simcat_report'::regnamespace
       UNION ALL SELECT proname, oid, coalesce(proacl, acldefault('f', proowner))::text FROM pg_proc WHERE pronamespace = 'simcat_report'::regnamespace ORDER BY 1`,
    );
  const before = await read();
  const folder = await withViews(change);

  expect(await migrate(database.url, never, { folder })).toEqual({ applied: 1, recreated: [] });

  const after = await read();
  const again = after.filter(({ oid }, n) => oid !== before[n]?.oid).map(({ name }) => name);
  expect(again).toEqual(expect.arrayContaining(created));
  const withoutOid = (objects: typeof before) => objects.map(({ name, acl }) => [name, acl]);
  expect(withoutOid(after)).toEqual(withoutOid(before));
});

test.each([
  ["dropped with its file", () => null],
  ["created again", swapColumns],
])("a view that must be %s is kept while a foreign view uses it, which is named (78)", async (_, change) => {
  const { call, database } = await fixture([]);
  const folder = await withViews({ stale_results: change, activity: (text) => `${text}-- later` });
  await database.query(`CREATE VIEW public.mine AS SELECT * FROM simcat_report.stale_results;
    CREATE VIEW public.more AS SELECT * FROM public.mine`);
  const before = await database.query(DEFINITIONS);

  await expect(migrate(database.url, never, { folder })).rejects.toMatchObject({
    exitCode: 78,
    message: expect.stringContaining("view public.mine uses simcat_report.stale_results"),
  });
  expect(await database.query(DEFINITIONS)).toEqual(before);
  expect(await call(["check"])).toMatchObject({ code: 0 });

  await database.query("DROP VIEW public.mine CASCADE");
  expect(await migrate(database.url, never, { folder })).toEqual({ applied: 1, recreated: [] });
});

test("a view without a file is dropped, and one with a new file is created", async () => {
  const database = await freshTestDatabase();
  const folder = await withViews({
    stale_results: () => null,
    a_new_one: () => "CREATE OR REPLACE VIEW simcat_report.a_new_one AS SELECT owner FROM simcat_report.libraries",
  });
  await database.query("CREATE VIEW simcat_report.foreign_one AS SELECT 1 AS one");

  expect(await migrate(database.url, never, { folder })).toMatchObject({ applied: 1 });

  const names = "relname IN ('stale_results', 'a_new_one', 'foreign_one')";
  expect(await database.query(`SELECT relname AS name FROM pg_class WHERE ${names} ORDER BY 1`)).toEqual([
    { name: "a_new_one" },
    { name: "foreign_one" },
  ]);
});
