import { beforeEach, describe, expect, test } from "vitest";
import { migrate } from "../../src/db/migrate.ts";
import { firstMigrations } from "../postgres/migration-folders.ts";
import { freshTestDatabase, type TestDatabase, useTestDatabase } from "../support/database.ts";
import { addRows, day, emptyTables } from "./stored-rows.ts";

const database = useTestDatabase();

beforeEach(async () => {
  await emptyTables(database());
  // "forest" since the 2nd, in its second version since the 6th, with a scenario of the same age.
  await addRows(database(), "libraries", [{ library_name: "forest", first_seen_at: day(2), changed_at: day(6) }]);
  await addRows(database(), "library_history", [
    { library_name: "forest", first_seen_at: day(2), valid_from: day(2), valid_to: day(6) },
  ]);
  await addRows(database(), "scenarios", [{ scenario_id: 1, first_seen_at: day(2), changed_at: day(2) }]);
});

const prune = (id: number, cutoff: Date) => ({ id, pruned_at: day(20), cutoff });

/** The rows of a query and the notices that it raised, asked as a role that may read only the views. */
async function askAsReader(sql: string): Promise<{ rows: Record<string, unknown>[]; notices: string[] }> {
  const client = await database().pool.connect();
  const notices: string[] = [];
  const hear = ({ message = "" }: { message?: string | undefined }) => void notices.push(message);
  try {
    await client.query(`BEGIN; CREATE ROLE simcat_test_reader; GRANT USAGE ON SCHEMA simcat_report TO simcat_test_reader;
      GRANT SELECT ON ALL TABLES IN SCHEMA simcat_report TO simcat_test_reader; SET LOCAL ROLE simcat_test_reader;
      SET LOCAL timezone = 'UTC'`);
    client.on("notice", hear);
    const { rows } = await client.query(sql);
    return { rows, notices };
  } finally {
    client.off("notice", hear);
    await client.query("ROLLBACK");
    client.release();
  }
}

const NOTICE = (moment: string) =>
  `no rows for ${moment}: simcat prune deleted history, which is complete since 2026-01-05 00:00:00+00`;

describe.each(["libraries_as_of", "scenarios_as_of"])("%s after a prune (fault 125)", (name) => {
  const call = (moment: string) => `SELECT library_name FROM simcat_report.${name}(${moment})`;
  const forest = { rows: [{ library_name: "forest" }], notices: [] };

  test("answers the newest cutoff and later, and before it gives no row and one notice", async () => {
    await addRows(database(), "prunes", [prune(1, day(3)), prune(2, day(5)), prune(3, day(4))]);
    expect(await askAsReader(call("'2026-01-05Z'"))).toEqual(forest);
    expect(await askAsReader(call("'2026-01-07Z'"))).toEqual(forest);
    expect(await askAsReader(call("'2026-01-04 23:59:59.999999Z'"))).toEqual({
      rows: [],
      notices: [NOTICE("2026-01-04 23:59:59.999999+00")],
    });
    expect((await askAsReader(call("'-infinity'"))).notices).toHaveLength(1);
    expect(await askAsReader(call("NULL"))).toEqual({ rows: [], notices: [] });
  });

  test("answers every time if nothing was pruned", async () => {
    expect(await askAsReader(call("'2026-01-02Z'"))).toEqual(forest);
    expect(await askAsReader(call("'2026-01-01Z'"))).toEqual({ rows: [], notices: [] });
  });

  test("checks once per call, however many rows there are and wherever the time comes from", async () => {
    await addRows(database(), "prunes", [prune(1, day(5))]);
    await addRows(
      database(),
      "libraries",
      Array.from({ length: 50 }, (_, n) => ({ library_name: `L${n}`, first_seen_at: day(2), changed_at: day(2) })),
    );
    await database().query("ANALYZE simcat.libraries, simcat.library_history, simcat.scenarios");
    const moments = "unnest(ARRAY['2026-01-03Z', '2026-01-04Z', '2026-01-06Z']::timestamptz[]) AS m(at)";
    const { rows, notices } = await askAsReader(
      `SELECT m.at, count(l.library_name)::int AS found FROM ${moments}
       LEFT JOIN LATERAL simcat_report.${name}(m.at) AS l ON l.library_name = 'forest' GROUP BY m.at ORDER BY m.at`,
    );
    expect(rows).toEqual([
      { at: day(3), found: 0 },
      { at: day(4), found: 0 },
      { at: day(6), found: 1 },
    ]);
    expect(notices).toEqual([NOTICE("2026-01-03 00:00:00+00"), NOTICE("2026-01-04 00:00:00+00")]);
    expect((await askAsReader(call("(SELECT '2026-01-03Z'::timestamptz)"))).notices).toHaveLength(1);
    expect((await askAsReader(call("now() - interval '100 years'"))).notices).toHaveLength(1);
  });
});

describe("history_complete_since", () => {
  const since = async () => {
    const [row] = await database().query<{ since: Date | null }>(
      "SELECT history_complete_since AS since FROM simcat_report.data_complete_as_of",
    );
    return row?.since;
  };
  const run = (n: number, rest: object = {}) => ({ id: n, started_at: day(n - 1), finished_at: day(n), ...rest });

  test("is the end of the first run that saw everything, and NULL before it", async () => {
    await addRows(database(), "sync_runs", [
      run(2, { status: "interrupted" }),
      run(3, { scope: { owners: ["ann"], libraries: [] } }),
    ]);
    await addRows(database(), "prunes", [prune(1, day(2))]);
    expect(await since()).toBeNull();
    await addRows(database(), "sync_runs", [run(4, { status: "partial" }), run(6)]);
    expect(await since()).toEqual(day(4));
  });

  test("is the newest cutoff if that is later", async () => {
    await addRows(database(), "sync_runs", [run(4)]);
    await addRows(database(), "prunes", [prune(1, day(9)), prune(2, day(8))]);
    expect(await since()).toEqual(day(9));
  });
});

/** A database to which only the first migrations were applied. */
async function databaseAt(migrations: number): Promise<TestDatabase> {
  const old = await freshTestDatabase({ empty: true });
  const { statements, journaled } = await firstMigrations(migrations);
  for (const statement of statements) await old.query(statement);
  await old.query(`CREATE SCHEMA simcat_migrations;
    CREATE TABLE simcat_migrations.__drizzle_migrations (id serial PRIMARY KEY, hash text NOT NULL, created_at bigint)`);
  await old.query(
    "INSERT INTO simcat_migrations.__drizzle_migrations (hash, created_at) SELECT 'hash', unnest($1::bigint[])",
    [journaled],
  );
  return old;
}

test("the migration of runs keeps which of them saw everything (fault 138)", async () => {
  const old = await databaseAt(12);
  await old.query(`INSERT INTO simcat.sync_runs (kind, trigger, status, started_at, finished_at, libraries_read, version) VALUES
    ('sync', 'cli', 'partial', '2026-01-01Z', '2026-01-01Z', 1, '1'), ('sync', 'cli', 'partial', '2026-01-02Z', '2026-01-02Z', 1, '1'),
    ('sync', 'cli', 'held', '2026-01-03Z', '2026-01-03Z', 1, '1'), ('sync', 'cli', 'ok', '2026-01-04Z', '2026-01-04Z', 1, '1')`);
  await old.query(`INSERT INTO simcat.rejects (run_id, kind, code, path, reason, payload, fingerprint, first_seen_at, last_seen_at, resolved_at)
    VALUES (2, 'listing', 'paged_answer', '', '', '', '1', '2026-01-02Z', '2026-01-02Z', '2026-01-03Z'),
    (2, 'listing', 'unaddressable', '', '', '', '2', '2026-01-02Z', '2026-01-02Z', NULL)`);
  const seen = "SELECT run_id, saw_everything FROM simcat_report.run_history ORDER BY 1";
  const before = await old.query<{ saw_everything: boolean }>(seen);
  expect(before.map(({ saw_everything }) => saw_everything)).toEqual([true, false, true, true]);

  await migrate(old.url, new AbortController().signal);

  expect(await old.query(seen)).toEqual(before);
});

describe("the migration estimates what earlier versions pruned", () => {
  const LIBRARY =
    "INSERT INTO simcat.libraries (owner, library_name, first_seen_at, changed_at, removed_at, run_id) VALUES";
  const VERSION = `INSERT INTO simcat.library_history
    (owner, library_name, first_seen_at, changed_at, run_id, valid_from, valid_to, superseded_by) VALUES`;
  const SCENARIO = `INSERT INTO simcat.scenarios
    (owner, library_name, scenario_id, raw, first_seen_at, changed_at, removed_at, run_id) VALUES`;
  const RUN = `INSERT INTO simcat.sync_runs
    (kind, trigger, status, finished_at, libraries_removed, scenarios_removed, version) VALUES`;

  test.each([
    [
      "nothing, if all versions are whole",
      [
        `${LIBRARY} ('a', 'L', '2026-01-02Z', '2026-01-05Z', '2026-01-05Z', 1)`,
        `${VERSION} ('a', 'L', '2026-01-02Z', '2026-01-02Z', 1, '2026-01-02Z', '2026-01-05Z', 2)`,
        `${RUN} ('sync', 'cli', 'ok', '2026-01-06Z', 1, 0, '1')`,
      ],
      [],
    ],
    [
      "the start of the last version whose predecessor is missing",
      [
        `${LIBRARY} ('a', 'L', '2026-01-02Z', '2026-01-05Z', NULL, 1), ('a', 'M', '2026-01-02Z', '2026-01-09Z', NULL, 1)`,
        `${VERSION} ('a', 'M', '2026-01-02Z', '2026-01-07Z', 1, '2026-01-07Z', '2026-01-09Z', 2)`,
      ],
      ["2026-01-07T00:00:00.000Z"],
    ],
    [
      "the same of scenarios",
      [
        `${LIBRARY} ('a', 'L', '2026-01-02Z', '2026-01-02Z', NULL, 1)`,
        `${SCENARIO} ('a', 'L', 1, '{}', '2026-01-02Z', '2026-01-08Z', NULL, 1)`,
      ],
      ["2026-01-08T00:00:00.000Z"],
    ],
    [
      "the end of the last run whose removed libraries are missing",
      [`${RUN} ('sync', 'cli', 'ok', '2026-01-06Z', 1, 0, '1'), ('sync', 'cli', 'ok', '2026-01-09Z', 0, 0, '1')`],
      ["2026-01-06T00:00:00.000Z"],
    ],
    [
      "the end of the last run whose removed scenarios are missing",
      [
        `${RUN} ('sync', 'cli', 'ok', '2026-01-06Z', 0, 2, '1')`,
        `${LIBRARY} ('a', 'L', '2026-01-02Z', '2026-01-02Z', NULL, 1)`,
        `${SCENARIO} ('a', 'L', 1, '{}', '2026-01-05Z', '2026-01-05Z', '2026-01-05Z', 1)`,
      ],
      ["2026-01-06T00:00:00.000Z"],
    ],
  ])("as %s", async (_, stored, cutoffs) => {
    const old = await databaseAt(8);
    for (const statement of stored) await old.query(statement);

    await migrate(old.url, new AbortController().signal);

    const found = await old.query<{ cutoff: Date }>("SELECT cutoff FROM simcat.prunes");
    expect(found.map(({ cutoff }) => cutoff.toISOString())).toEqual(cutoffs);
  });
});
