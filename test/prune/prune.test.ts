import { randomInt } from "node:crypto";
import { beforeEach, describe, expect, test } from "vitest";
import { countPrunable, type PrunedRows, pruneUnderLease } from "../../src/db/prune.ts";
import { readRemovalNumbers } from "../../src/db/read/removal-numbers.ts";
import { readSnapshot } from "../../src/db/transaction.ts";
import { LostLeaseError } from "../../src/errors.ts";
import { holdLocks, untilSession, WAITS_FOR_LOCK } from "../postgres/sessions.ts";
import { addRows } from "../reporting/stored-rows.ts";
import { callCli } from "../support/call-cli.ts";
import { freshTestDatabase, type TestDatabase } from "../support/database.ts";
import { syncedFixture } from "../support/fixture.ts";
import { library } from "../support/organization.ts";
import { openPool } from "../support/pool.ts";
import { rowVersions } from "../support/row-versions.ts";
import { createTrigger } from "../support/trigger.ts";

const never = new AbortController().signal;
const CUTOFF = new Date("2026-01-01T00:00:00Z");
/** One microsecond on both sides of the cutoff. */
const OLD = "2025-12-31 23:59:59.999999Z";
const AT = "2026-01-01 00:00:00Z";

let database: TestDatabase;
beforeEach(async () => {
  database = await freshTestDatabase();
});

test("a library that was removed before the cutoff is deleted with all that it has; at the cutoff it stays", async () => {
  await insertLibrary("gone", OLD);
  await insertScenario("gone", 1, null);
  await insertScenario("gone", 2, AT);
  await insertVersion("gone", AT);
  await insertVersion("gone", AT, 1);
  await insertReject("gone", null);
  await insertBookmark("gone");
  await database.query("INSERT INTO simcat.scenario_absences VALUES ('o', 'gone', 1, 1)");

  for (const [name, removedAt] of Object.entries({ late: AT, live: null })) {
    await insertLibrary(name, removedAt);
    await insertScenario(name, 1, null);
    await insertReject(name, null);
    await insertBookmark(name);
  }
  const bookkeeping = { library_sync: 1, scenario_absences: 1, rejects: 1 };
  const history = { library_history: 1, scenario_history: 1 };
  await expectPruned({ libraries: 1, scenarios: 2, ...history, ...bookkeeping });
  expect(await countRows(database)).toEqual({ libraries: 2, scenarios: 2, library_sync: 2, rejects: 2 });
});

test("events are kept, also those of deleted libraries; --events deletes those before the cutoff", async () => {
  await insertLibrary("gone", OLD);
  await database.query(
    `INSERT INTO simcat.events (seen_at, run_id, kind, owner, library_name, bytes, scenarios, results)
     SELECT CASE WHEN n > 1 THEN $1 ELSE $2 END::timestamptz, 1, 'changed', 'o', 'gone', 0, 0, 0 FROM generate_series(1, 25001) AS n`,
    [OLD, AT],
  );
  const takeRecords = () => database.query("DELETE FROM simcat.prunes RETURNING cutoff, events");

  await expectPruned({ libraries: 1 });
  expect(await countRows(database)).toEqual({ events: 25_001 });
  expect(await takeRecords()).toEqual([{ cutoff: CUTOFF, events: false }]);

  await expectPruned({ events: 25_000 }, true);
  expect(await countRows(database)).toEqual({ events: 1 });
  expect(await takeRecords()).toEqual([{ cutoff: CUTOFF, events: true }]);
});

test("in a live library, rows that ended before the cutoff are deleted; later ones and open rejects stay", async () => {
  await insertLibrary("live", null);
  for (const [id, removedAt] of [null, AT, OLD].entries()) {
    await insertScenario("live", id, removedAt);
    await insertVersion("live", removedAt ?? AT, id);
  }
  for (const end of [OLD, AT]) {
    await insertVersion("live", end);
    await insertReject("live", end);
  }
  for (const name of ["live", null]) await insertReject(name, null);
  await insertReject(null, OLD);

  await expectPruned({ scenarios: 1, scenario_history: 1, library_history: 1, rejects: 2 });
  const ids = (table: string) => database.query(`SELECT scenario_id::int AS id FROM simcat.${table} ORDER BY 1`);
  expect(await ids("scenarios")).toEqual([{ id: 0 }, { id: 1 }]);
  expect(await ids("scenario_history")).toEqual([{ id: 0 }, { id: 1 }]);
  expect(await database.query("SELECT valid_to AS at FROM simcat.library_history")).toEqual([{ at: CUTOFF }]);
  const rejects = await database.query("SELECT resolved_at AS at FROM simcat.rejects ORDER BY at");
  expect(rejects).toEqual([{ at: CUTOFF }, { at: null }, { at: null }]);
});

test("deletes rows in several transactions, and no other rows", async () => {
  await insertLibrary("live", null);
  await insertLibrary("large", OLD);
  await database.query(
    `INSERT INTO simcat.libraries (owner, library_name, first_seen_at, changed_at, removed_at, run_id)
     SELECT 'many', i::text, $1, $1, $1, 1 FROM generate_series(1, 1200) i`,
    [OLD],
  );
  await database.query(
    `INSERT INTO simcat.scenarios (owner, library_name, scenario_id, raw, first_seen_at, changed_at, removed_at, run_id)
     SELECT 'o', 'live', i, jsonb_build_object('pad', repeat('x', 100)), now(), now(), CASE WHEN i % 2 = 0 THEN $1::timestamptz END, 1
     FROM generate_series(1, 40000) i
     UNION ALL SELECT 'o', 'large', i, '{}', now(), now(), NULL, 1 FROM generate_series(1, 11000) i`,
    [OLD],
  );
  await database.query(
    `INSERT INTO simcat.scenario_history (owner, library_name, scenario_id, raw, first_seen_at, changed_at, run_id, valid_from, valid_to, superseded_by)
     SELECT 'o', 'live', 1, '{}', now(), now(), 1, at - interval '1 s', at, 2
     FROM (SELECT timestamptz '2026-01-01 00:00Z' - i * interval '1 s' AS at FROM generate_series(0, 20000) i) AS ends`,
  );

  await expectPruned({ libraries: 1201, scenarios: 31_000, scenario_history: 20_000 });
  expect(await countRows(database)).toEqual({ libraries: 1, scenarios: 20_000, scenario_history: 1 });
});

test("an interrupted prune waits for no lock again and leaves whole libraries; the next one goes on (fault 357)", async () => {
  const names = Array.from({ length: 51 }, (_, at) => String(at));
  for (const name of names) await insertBookmark(name);
  const libraries = names.map((library_name) => ({ ...PAST, library_name, removed_at: OLD }));
  await addRows(database, "libraries", libraries);
  const scenarios = names.flatMap((library_name) =>
    [1, 2].map((scenario_id) => ({ ...PAST, library_name, scenario_id })),
  );
  await addRows(database, "scenarios", scenarios);
  const locked = new AbortController();
  const stop = new AbortController();

  const blocker = await holdLocks(database, "LOCK TABLE simcat.libraries IN SHARE MODE");
  void untilSession(database.query, WAITS_FOR_LOCK).then(() => locked.abort(new Error("locked")));
  await expect(pruneUntil(locked.signal)).rejects.toThrow("locked");
  await blocker.query("ROLLBACK");
  await expect(pruneUntil(stop.signal, () => stop.abort(new Error("stopped")))).rejects.toThrow("stopped");
  const left = { libraries: 1, scenarios: 2, library_sync: 1 };
  expect(await countRows(database)).toEqual(left);
  expect(await readRecords()).toEqual([{ cutoff: CUTOFF, libraries: 50, scenarios: 100 }]);
  await expectPruned(left);
});

test("a prune whose lease another run takes over stops", async () => {
  await insertLibrary("gone", OLD);
  await insertVersion("live", OLD);
  const takeOver = "UPDATE simcat.leases SET token = token + 1; RETURN NULL;";
  await createTrigger(database.query, "AFTER DELETE ON simcat.libraries", takeOver);
  await expect(pruneUntil(never)).rejects.toThrow(LostLeaseError);
  expect(await countRows(database)).toEqual({ library_history: 1 });
});

describe("the record of a prune (fault 125)", () => {
  test("has its cutoff and how many versions it deleted; a removed row is its item's last version", async () => {
    await insertLibrary("live", null);
    await insertVersion("live", OLD);
    for (const [id, removedAt] of [OLD, null].entries()) {
      await insertScenario("live", id, removedAt);
      await insertVersion("live", OLD, id);
    }
    await insertLibrary("gone", OLD);

    await expectPruned({ libraries: 1, library_history: 1, scenarios: 1, scenario_history: 2 });
    expect(await readRecords()).toEqual([{ cutoff: CUTOFF, libraries: 2, scenarios: 3 }]);
    // None is written if only resolved rejects are deleted, or nothing.
    await insertReject("live", OLD);
    await expectPruned({ rejects: 1 });
    await expectPruned({});
    expect(await readRecords()).toHaveLength(1);
  });

  test("is undone together with its first deletion", async () => {
    await insertVersion("live", OLD);
    await createTrigger(database.query, "BEFORE INSERT ON simcat.prunes FOR EACH ROW", "RAISE 'refused';");

    await expect(pruneUntil(never)).rejects.toThrow("refused");
    expect(await countRows(database)).toEqual({ library_history: 1 });
    expect(await readRecords()).toEqual([]);
  });
});

test("a pruned library that is listed again unchanged is stored again", async () => {
  const kept = library("o", "kept", { scenarios: [1] });
  const gone = library("o", "gone", { scenarios: [1, 2] });
  const { database, service, call } = await syncedFixture([kept, gone]);
  const simcatOn = async (...args: string[]) => (await call(args)).code;
  service.remove("o", "gone");
  expect(await simcatOn("sync", "--allow-removals")).toBe(0);
  await database.query("UPDATE simcat.libraries SET removed_at = removed_at - interval '2 d'");
  expect(await simcatOn("prune", "--older-than", "1d")).toBe(0);
  expect(await countRows(database)).toEqual({ libraries: 1, scenarios: 1, library_sync: 1, events: 3 });

  service.put(gone);
  expect(await simcatOn("sync")).toBe(0);
  expect(await simcatOn("verify")).toBe(0);
  expect(await countRows(database)).toMatchObject({ libraries: 2, scenarios: 3 });
});

test("a prune of everything older than a day keeps the numbers of the guard of removals", async () => {
  await database.query(
    `INSERT INTO simcat.libraries (owner, library_name, first_seen_at, changed_at, removed_at, run_id)
     SELECT 'o', i::text, now() - interval '9 d', at, at, 1
     FROM (SELECT i, now() - i * interval '10 h' AS at FROM generate_series(1, 5) i) AS removals`,
  );
  await database.query(
    `INSERT INTO simcat.library_history (owner, library_name, first_seen_at, changed_at, run_id, valid_from, valid_to, superseded_by)
     SELECT owner, library_name, first_seen_at, first_seen_at, 1, first_seen_at, removed_at, 1 FROM simcat.libraries`,
  );
  const pool = await openPool(database);
  const readNumbers = () =>
    readSnapshot(pool, "reading what was removed lately", (connection) => readRemovalNumbers(connection, null), never);
  const before = await readNumbers();
  expect(before).toEqual({ peakLive: 2, gone: 2, cameBack: [] });

  expect((await callPrune(["--older-than", "1d"])).code).toBe(0);
  expect(await countRows(database)).toEqual({ libraries: 2, library_history: 2 });
  expect(await readNumbers()).toEqual(before);
});

describe("the command", () => {
  test("prints the numbers for people and for machines", async () => {
    await insertLibrary("gone", OLD);
    await insertScenario("gone", 1, null);
    const before = await rowVersions(database.query);

    // Another run's lease does not stop a dry run.
    await database.query("INSERT INTO simcat.leases VALUES ('sync', 'somebody', 1, now() + interval '1 h')");
    const dry = await callPrune(["--older-than", "1d", "--dry-run", "--json"]);
    expect(dry.code).toBe(0);
    expect(JSON.parse(dry.stdout)).toEqual({
      dry_run: true,
      older_than: "1d",
      before: expect.stringMatching(/^20\d\d-.*Z$/),
      history_complete_since: null,
      rows_total: 2,
      rows: { ...NOTHING, libraries: 1, scenarios: 1 },
    });
    await database.query("DELETE FROM simcat.leases");
    expect(await rowVersions(database.query)).toEqual(before);

    const real = await callPrune(["--older-than", "1d"]);
    expect(real).toMatchObject({ code: 0, stderr: "" });
    expect(real.stdout.replace(/before .*Z/, "before …Z")).toBe(
      `prune: 2 rows deleted, older than 1d (before …Z)
  removed    1 library, 1 scenario
  history    0 versions of libraries, 0 of scenarios
  rejects    0 resolved
  events     0
  other      0 bookmarks and 0 absences of the removed libraries
  kept       history is not complete, because no run has seen everything yet
`,
    );
    expect(await countRows(database)).toEqual({});
  });

  test("prints since when the history is complete: the cutoff if history is deleted, otherwise as before", async () => {
    // The first run had an incomplete listing, so it did not see everything.
    await database.query(`INSERT INTO simcat.sync_runs (kind, trigger, status, listing_complete, libraries_read, finished_at, version)
      VALUES ('backfill', 'cli', 'partial', false, 1, '2025-05-01Z', '1'), ('backfill', 'cli', 'ok', true, 1, '2025-06-01Z', '1')`);
    const report = async (...more: string[]) => {
      const { stdout } = await callPrune(["--older-than", "1d", "--json", ...more]);
      const { before, history_complete_since: since } = JSON.parse(stdout);
      return since === before ? "the cutoff" : since;
    };
    expect(await report()).toBe("2025-06-01T00:00:00.000Z");
    await insertVersion("live", OLD);
    expect(await report("--dry-run")).toBe("the cutoff");
    expect((await callPrune(["--older-than", "1d"])).stdout).toMatch(
      /\n {2}kept {7}history is complete since 20\d\d-.*Z\n$/,
    );
    const [record] = await database.query<{ since: Date }>(
      "SELECT history_complete_since AS since FROM simcat_report.data_complete_as_of",
    );
    expect(await report()).toBe(record?.since.toISOString());
  });

  test("takes an age of any length, and warns if it is shorter than a day", async () => {
    const warning = "deletes history of the last 24 h, which the limit on removals (SIMCAT_MAX_REMOVED) uses";
    for (const [age, exit, said] of [
      ["removed", 64, "is not a duration"],
      ["0d", 64, "is not a duration"],
      ["1ms", 0, warning],
      ["86399999ms", 0, warning],
      ["86400000ms", 0, ""],
      ["100000000d", 0, ""],
    ] as const) {
      const { code, stderr } = await callPrune([`--older-than=${age}`]);
      expect({ age, code, stderr }).toEqual({ age, code: exit, stderr: said && expect.stringContaining(said) });
    }
  });

  test("requires an age: the option's, or else SIMCAT_KEEP_HISTORY", async () => {
    await insertVersion("live", OLD);
    const prune = async (keepHistory: string | null, ...more: string[]) => {
      const environment = keepHistory === null ? {} : { SIMCAT_KEEP_HISTORY: keepHistory };
      const { code, stdout, stderr } = await callPrune(["--json", ...more], environment);
      const { older_than: age, rows_total: rows } = JSON.parse(stdout || "{}");
      return code === 0 ? { age, rows } : { code, stderr };
    };

    const stderr = expect.stringContaining("give --older-than 365d, or set SIMCAT_KEEP_HISTORY");
    expect(await prune(null)).toEqual({ code: 64, stderr });
    expect(await prune("1h")).toEqual({ code: 78, stderr: expect.stringContaining("SIMCAT_KEEP_HISTORY") });
    expect(await prune("24h", "--dry-run")).toEqual({ age: "1d", rows: 1 });
    expect(await prune("24h", "--older-than", "3650d")).toEqual({ age: "3650d", rows: 0 });
    expect(await prune("24h")).toEqual({ age: "1d", rows: 1 });
  });

  const partition = `ALTER TABLE simcat.scenario_history RENAME TO one_month;
    CREATE TABLE simcat.scenario_history (LIKE simcat.one_month) PARTITION BY RANGE (valid_to)`;
  test.each([
    [[], "ALTER TABLE simcat.rejects RENAME TO others", "simcat.rejects"],
    [["--dry-run"], "ALTER TABLE simcat.rejects RENAME TO others", "simcat.rejects"],
    [[], "ALTER TABLE simcat.leases RENAME TO others", "simcat.leases"],
    [[], partition, "prune cannot delete from partitioned tables: simcat.scenario_history"],
    [["--dry-run"], partition, "prune cannot delete from partitioned tables: simcat.scenario_history"],
    [[], "DROP SCHEMA simcat, simcat_report, simcat_migrations CASCADE", "run: simcat migrate"],
  ])("%j is refused after %s (fault 102)", async (more, statement, message) => {
    await database.query(statement);
    const { code, stderr } = await callPrune(["--older-than", "90d", ...more]);
    expect({ code, stderr }).toEqual({ code: 78, stderr: expect.stringContaining(message) });
  });
});

const NOTHING: PrunedRows = {
  libraries: 0,
  scenarios: 0,
  library_history: 0,
  scenario_history: 0,
  library_sync: 0,
  scenario_absences: 0,
  rejects: 0,
  events: 0,
};

async function pruneUntil(signal: AbortSignal, onProgress = () => {}, events = false): Promise<PrunedRows> {
  return pruneUnderLease(await openPool(database), { cutoff: CUTOFF, events }, onProgress, signal);
}

/** Prunes everything, and expects that these rows are counted before and deleted. */
async function expectPruned(rows: Partial<PrunedRows>, events = false): Promise<void> {
  const counted = await countPrunable(await openPool(database), { cutoff: CUTOFF, events }, never);
  const pruned = await pruneUntil(never, undefined, events);
  expect({ counted, pruned }).toEqual({ counted: { ...NOTHING, ...rows }, pruned: { ...NOTHING, ...rows } });
}

const callPrune = (args: readonly string[], more: Readonly<Record<string, string>> = {}) =>
  callCli(["prune", ...args], { DATABASE_URL: database.url, ...more });

const readRecords = () =>
  database.query(
    "SELECT cutoff, library_versions::int AS libraries, scenario_versions::int AS scenarios FROM simcat.prunes ORDER BY id",
  );

const PAST = { owner: "o", first_seen_at: "2020-01-01Z", changed_at: "2020-01-01Z" };

const insertLibrary = (library_name: string, removed_at: string | null) =>
  addRows(database, "libraries", [{ ...PAST, library_name, removed_at }]);

const insertBookmark = (library_name: string, scenario_count = 0) =>
  addRows(database, "library_sync", [{ owner: "o", library_name, scenario_count }]);

const insertScenario = (library_name: string, scenario_id: number, removed_at: string | null) =>
  addRows(database, "scenarios", [{ ...PAST, library_name, scenario_id, removed_at }]);

/** Of the library, or of its scenario with this id. */
function insertVersion(library_name: string, valid_to: string, scenario_id?: number) {
  const valid_from = new Date(Date.parse(valid_to) - 3_600_000);
  const table = scenario_id === undefined ? "library_history" : "scenario_history";
  return addRows(database, table, [{ ...PAST, library_name, scenario_id, valid_from, valid_to }]);
}

function insertReject(library_name: string | null, resolved_at: string | null) {
  const owner = library_name === null ? null : "o";
  const id = randomInt(2 ** 31);
  return addRows(database, "rejects", [{ ...PAST, id, fingerprint: String(id), owner, library_name, resolved_at }]);
}

/** The number of rows of each table that is not empty. */
async function countRows({ query }: TestDatabase): Promise<Partial<PrunedRows>> {
  const counts = Object.keys(NOTHING).map((table) => `(SELECT count(*)::int FROM simcat.${table}) AS ${table}`);
  const [row = {}] = await query<object>(`SELECT ${counts.join(", ")}`);
  return Object.fromEntries(Object.entries(row).filter(([, count]) => count > 0));
}
