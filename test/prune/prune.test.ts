import { describe, expect, onTestFinished, test } from "vitest";
import { createClock } from "../../src/db/clock.ts";
import { connect, disconnect, type Pool } from "../../src/db/connect.ts";
import { withLease } from "../../src/db/lease.ts";
import { countPrunable, type PrunedRows, prune } from "../../src/db/prune.ts";
import { readRemovalNumbers } from "../../src/db/read/removal-numbers.ts";
import { readSnapshot } from "../../src/db/transaction.ts";
import { LostLeaseError } from "../../src/errors.ts";
import { serve } from "../mock/service.ts";
import { freshTestDatabase, type TestDatabase } from "../support/database.ts";
import { library } from "../support/organization.ts";
import { fingerprintRows, simcat } from "../verify/simcat.ts";

const never = new AbortController().signal;
const CUTOFF = new Date("2026-01-01T00:00:00Z");
/** One microsecond on both sides of the cutoff. */
const OLD = "2025-12-31 23:59:59.999999Z";
const AT = "2026-01-01 00:00:00Z";

describe("a library", () => {
  test("that was removed before the cutoff is deleted with everything stored about it", async () => {
    const database = await freshTestDatabase();
    await insertLibrary(database, "gone", OLD);
    await insertScenario(database, "gone", 1, null);
    await insertScenario(database, "gone", 2, AT);
    await insertVersion(database, "library_history", "gone", AT);
    await insertVersion(database, "scenario_history", "gone", AT, 1);
    await insertReject(database, "gone", null);
    await database.query("INSERT INTO simcat.library_sync (owner, library_name) VALUES ('o', 'gone')");
    await database.query(
      "INSERT INTO simcat.scenario_absences (owner, library_name, scenario_id, run_id) VALUES ('o', 'gone', 1, 1)",
    );

    const expected: PrunedRows = {
      libraries: 1,
      scenarios: 2,
      libraryHistory: 1,
      scenarioHistory: 1,
      librarySync: 1,
      scenarioAbsences: 1,
      rejects: 1,
    };
    expect(await pruneAll(database)).toEqual({ counted: expected, pruned: expected });
    expect(await countRows(database)).toEqual(NOTHING);
  });

  test("that was removed at the cutoff stays, as does a live one", async () => {
    const database = await freshTestDatabase();
    for (const [name, removedAt] of [
      ["late", AT],
      ["live", null],
    ] as const) {
      await insertLibrary(database, name, removedAt);
      await insertScenario(database, name, 1, null);
      await insertReject(database, name, null);
      await database.query("INSERT INTO simcat.library_sync (owner, library_name) VALUES ('o', $1)", [name]);
    }

    expect(await pruneAll(database)).toEqual({ counted: NOTHING, pruned: NOTHING });
    expect(await countRows(database)).toEqual({ ...NOTHING, libraries: 2, scenarios: 2, librarySync: 2, rejects: 2 });
  });
});

describe("in a live library", () => {
  test("a scenario removed before the cutoff is deleted with its versions, one removed at it stays", async () => {
    const database = await freshTestDatabase();
    await insertLibrary(database, "live", null);
    for (const [id, removedAt] of [
      [1, null],
      [2, AT],
      [3, OLD],
    ] as const) {
      await insertScenario(database, "live", id, removedAt);
      await insertVersion(database, "scenario_history", "live", removedAt ?? AT, id);
    }

    const expected = { ...NOTHING, scenarios: 1, scenarioHistory: 1 };
    expect(await pruneAll(database)).toEqual({ counted: expected, pruned: expected });
    expect(await idsOf(database, "scenarios")).toEqual([1, 2]);
    expect(await idsOf(database, "scenario_history")).toEqual([1, 2]);
  });

  test("versions that ended before the cutoff are deleted, one that ended at it stays", async () => {
    const database = await freshTestDatabase();
    await insertLibrary(database, "live", null);
    await insertScenario(database, "live", 1, null);
    for (const validTo of [OLD, AT]) {
      await insertVersion(database, "library_history", "live", validTo);
      await insertVersion(database, "scenario_history", "live", validTo, 1);
    }

    const expected = { ...NOTHING, libraryHistory: 1, scenarioHistory: 1 };
    expect(await pruneAll(database)).toEqual({ counted: expected, pruned: expected });
    expect(await database.query("SELECT DISTINCT valid_to FROM simcat.library_history")).toEqual([
      { valid_to: CUTOFF },
    ]);
    expect(await database.query("SELECT DISTINCT valid_to FROM simcat.scenario_history")).toEqual([
      { valid_to: CUTOFF },
    ]);
  });

  test("rejects resolved before the cutoff are deleted; later and open ones stay, whatever their age", async () => {
    const database = await freshTestDatabase();
    await insertLibrary(database, "live", null);
    for (const resolvedAt of [OLD, AT, null]) await insertReject(database, "live", resolvedAt);
    await insertReject(database, null, OLD);
    await insertReject(database, null, null);

    const expected = { ...NOTHING, rejects: 2 };
    expect(await pruneAll(database)).toEqual({ counted: expected, pruned: expected });
    const left = await database.query("SELECT resolved_at FROM simcat.rejects ORDER BY resolved_at");
    expect(left).toEqual([{ resolved_at: CUTOFF }, { resolved_at: null }, { resolved_at: null }]);
  });
});

test("deletes rows in several transactions, and no other rows", async () => {
  const database = await freshTestDatabase();
  await insertLibrary(database, "live", null);
  await insertLibrary(database, "large", OLD);
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

  const expected = { ...NOTHING, libraries: 1201, scenarios: 31_000, scenarioHistory: 20_000 };
  expect(await pruneAll(database)).toEqual({ counted: expected, pruned: expected });
  expect(await countRows(database)).toEqual({ ...NOTHING, libraries: 1, scenarios: 20_000, scenarioHistory: 1 });
});

test("an interrupted prune leaves whole libraries, and the next one finishes the work", async () => {
  const database = await freshTestDatabase();
  for (const name of ["a", "b"]) {
    await insertLibrary(database, name, OLD);
    await database.query(
      "INSERT INTO simcat.library_sync (owner, library_name, scenario_count) VALUES ('o', $1, 11000)",
      [name],
    );
    await database.query(
      `INSERT INTO simcat.scenarios (owner, library_name, scenario_id, raw, first_seen_at, changed_at, run_id)
       SELECT 'o', $1, i, '{}', now(), now(), 1 FROM generate_series(1, 11000) i`,
      [name],
    );
  }
  const stop = new AbortController();

  await expect(pruneUntil(database, stop.signal, () => stop.abort(new Error("stopped")))).rejects.toThrow("stopped");
  const expected = { ...NOTHING, libraries: 1, scenarios: 11_000, librarySync: 1 };
  expect(await countRows(database)).toEqual(expected);
  expect(await pruneAll(database)).toEqual({ counted: expected, pruned: expected });
});

test("a prune whose lease another run takes over stops", async () => {
  const database = await freshTestDatabase();
  for (const table of ["library_history", "scenario_history"] as const) {
    await insertVersion(database, table, "gone", OLD, table === "library_history" ? undefined : 1);
  }
  const pool = await openPool(database);
  const clock = await createClock(pool, never);
  const cutDown = withLease(
    pool,
    clock,
    { name: "sync", holder: "test" },
    async (lease) => {
      await database.query("UPDATE simcat.leases SET token = token + 1");
      return prune({ pool, lease, cutoff: CUTOFF, onProgress: () => {} }, never);
    },
    never,
  );
  await expect(cutDown).rejects.toThrow(LostLeaseError);
  expect(await countRows(database)).toEqual({ ...NOTHING, libraryHistory: 1, scenarioHistory: 1 });
});

describe("the record of a prune (fault 125)", () => {
  const readRecords = ({ query }: TestDatabase) =>
    query(
      "SELECT cutoff, library_versions::int AS libraries, scenario_versions::int AS scenarios FROM simcat.prunes ORDER BY id",
    );

  test("has its cutoff and how many versions it deleted; a removed row is its item's last version", async () => {
    const database = await freshTestDatabase();
    await insertLibrary(database, "live", null);
    await insertVersion(database, "library_history", "live", OLD);
    await insertScenario(database, "live", 1, OLD);
    await insertVersion(database, "scenario_history", "live", OLD, 1);
    await insertScenario(database, "live", 2, null);
    await insertVersion(database, "scenario_history", "live", OLD, 2);
    await insertLibrary(database, "gone", OLD);

    await pruneAll(database);

    expect(await readRecords(database)).toEqual([{ cutoff: CUTOFF, libraries: 2, scenarios: 3 }]);
    await pruneAll(database);
    expect(await readRecords(database)).toHaveLength(1);
  });

  test("is not written if only resolved rejects are deleted, or nothing", async () => {
    const database = await freshTestDatabase();
    await insertLibrary(database, "live", null);
    await insertVersion(database, "library_history", "live", AT);
    await insertReject(database, "live", OLD);

    expect((await pruneAll(database)).pruned).toEqual({ ...NOTHING, rejects: 1 });

    expect(await readRecords(database)).toEqual([]);
  });

  test("is there if the prune is stopped after its first transaction", async () => {
    const database = await freshTestDatabase();
    await insertLibrary(database, "gone", OLD);
    await insertVersion(database, "library_history", "live", OLD);
    const stop = new AbortController();

    await expect(pruneUntil(database, stop.signal, () => stop.abort(new Error("stopped")))).rejects.toThrow("stopped");

    expect(await countRows(database)).toEqual({ ...NOTHING, libraryHistory: 1 });
    expect(await readRecords(database)).toEqual([{ cutoff: CUTOFF, libraries: 1, scenarios: 0 }]);
  });

  test("is undone together with its first deletion", async () => {
    const database = await freshTestDatabase();
    await insertVersion(database, "library_history", "live", OLD);
    await database.query(`CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'refused'; END $$;
      CREATE TRIGGER refuse BEFORE INSERT ON simcat.prunes FOR EACH ROW EXECUTE FUNCTION refuse()`);

    await expect(pruneUntil(database, never, () => {})).rejects.toThrow("refused");

    expect(await countRows(database)).toEqual({ ...NOTHING, libraryHistory: 1 });
    expect(await readRecords(database)).toEqual([]);
  });
});

test("a pruned library that is listed again unchanged is stored again", async () => {
  const kept = library("o", "kept", { scenarios: [1] });
  const gone = library("o", "gone", { scenarios: [1, 2] });
  const sides = { database: await freshTestDatabase(), service: await serve([kept, gone]) };
  const simcatOn = async (...args: string[]) => (await simcat(sides, args)).code;
  expect(await simcatOn("backfill")).toBe(0);
  sides.service.edit((organization) => void organization.remove("o", "gone"));
  expect(await simcatOn("sync", "--allow-removals")).toBe(0);
  await sides.database.query(
    "UPDATE simcat.libraries SET removed_at = removed_at - interval '2 d' WHERE removed_at IS NOT NULL",
  );
  expect(await simcatOn("prune", "--older-than", "1d")).toBe(0);
  expect(await countRows(sides.database)).toEqual({ ...NOTHING, libraries: 1, scenarios: 1, librarySync: 1 });

  sides.service.put(gone);
  expect(await simcatOn("sync")).toBe(0);
  expect(await simcatOn("verify")).toBe(0);
  expect(await countRows(sides.database)).toMatchObject({ libraries: 2, scenarios: 3 });
});

test("a prune of everything older than a day keeps the numbers of the guard of removals", async () => {
  const database = await freshTestDatabase();
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
  expect(before).toEqual({ peakLive: 2, gone: 2, returned: [] });

  expect((await simcat({ database }, ["prune", "--older-than", "1d"])).code).toBe(0);
  expect(await countRows(database)).toEqual({ ...NOTHING, libraries: 2, libraryHistory: 2 });
  expect(await readNumbers()).toEqual(before);
});

describe("the command", () => {
  test("prints the numbers for people and for machines", async () => {
    const database = await freshTestDatabase();
    await insertLibrary(database, "gone", OLD);
    await insertScenario(database, "gone", 1, null);

    const dry = await simcat({ database }, ["prune", "--older-than", "1d", "--dry-run", "--json"]);
    expect(dry.code).toBe(0);
    expect(JSON.parse(dry.out)).toEqual({
      dry_run: true,
      older_than: "1d",
      before: expect.stringMatching(/^20\d\d-.*Z$/),
      history_complete_since: null,
      rows_total: 2,
      rows: {
        libraries: 1,
        scenarios: 1,
        library_history: 0,
        scenario_history: 0,
        library_sync: 0,
        scenario_absences: 0,
        rejects: 0,
      },
    });
    expect(await countRows(database)).toEqual({ ...NOTHING, libraries: 1, scenarios: 1 });

    const real = await simcat({ database }, ["prune", "--older-than", "1d"]);
    expect(real.code).toBe(0);
    expect(real.err).toBe("");
    expect(real.out.replace(/before .*Z/, "before …Z")).toBe(
      `prune: 2 rows deleted, older than 1d (before …Z)
  removed    1 library, 1 scenario
  history    0 versions of libraries, 0 of scenarios
  rejects    0 resolved
  other      0 bookmarks and 0 absences of the removed libraries
  kept       history is not complete, because no run has seen everything yet`,
    );
    expect(await countRows(database)).toEqual(NOTHING);
  });

  test("prints since when the history is complete: the cutoff if history is deleted, otherwise as before", async () => {
    const database = await freshTestDatabase();
    // The first run had an incomplete listing, so it did not see everything.
    await database.query(`INSERT INTO simcat.sync_runs (kind, trigger, status, listing_complete, libraries_read, finished_at, version)
      VALUES ('backfill', 'cli', 'partial', false, 1, '2025-05-01Z', '1'), ('backfill', 'cli', 'ok', true, 1, '2025-06-01Z', '1')`);
    const report = async (...more: string[]) => {
      const { out } = await simcat({ database }, ["prune", "--older-than", "1d", "--json", ...more]);
      const { before, history_complete_since: since } = JSON.parse(out);
      return since === before ? "the cutoff" : since;
    };
    expect(await report()).toBe("2025-06-01T00:00:00.000Z");
    await insertVersion(database, "library_history", "live", OLD);
    expect(await report("--dry-run")).toBe("the cutoff");
    expect((await simcat({ database }, ["prune", "--older-than", "1d"])).out).toMatch(
      /\n {2}kept {7}history is complete since 20\d\d-.*Z$/,
    );
    expect(await report()).toMatch(/^20\d\d-.*Z$/);
    const [record] = await database.query<{ since: Date }>(
      "SELECT history_complete_since AS since FROM simcat_report.data_complete_as_of",
    );
    expect(await report()).toBe(record?.since.toISOString());
  });

  test("writes nothing on a dry run, and takes no lease for it", async () => {
    const database = await freshTestDatabase();
    await insertLibrary(database, "gone", OLD);
    await holdLease(database);
    const before = await fingerprintRows(database);

    expect((await simcat({ database }, ["prune", "--older-than", "90d", "--dry-run"])).code).toBe(0);
    expect(await fingerprintRows(database)).toEqual(before);
  });

  test("is busy during a run", async () => {
    const database = await freshTestDatabase();
    await insertLibrary(database, "gone", OLD);
    const pool = await openPool(database);
    const clock = await createClock(pool, never);
    const work = async () => {
      // The lease is renewed every five seconds; a reader must see a renewal to consider its holder alive.
      const renewing = setInterval(
        () => void pool.query("UPDATE simcat.leases SET expires_at = expires_at + '1 s'"),
        100,
      );
      try {
        return await simcat({ database }, ["prune", "--older-than", "90d"]);
      } finally {
        clearInterval(renewing);
      }
    };
    const { code, err } = await withLease(pool, clock, { name: "sync", holder: "worker-1:42" }, work, never);

    expect(code).toBe(75);
    expect(err).toContain("worker-1:42");
    expect(await countRows(database)).toMatchObject({ libraries: 1 });
  });

  test.each([
    ["removed", "is not a duration"],
    ["", "is not a duration"],
    ["90", "is not a duration"],
    ["90 d", "is not a duration"],
    ["-90d", "is not a duration"],
    ["0d", "is not a duration"],
  ])("refuses the age %j", async (age, said) => {
    const database = await freshTestDatabase();
    const { code, out, err } = await simcat({ database }, ["prune", `--older-than=${age}`]);
    expect({ code, out }).toEqual({ code: 64, out: "" });
    expect(err).toContain(said);
  });

  test.each(["1d", "24h", "86400000ms", "100000000d"])("accepts the age %s", async (age) => {
    const database = await freshTestDatabase();
    const { code, err } = await simcat({ database }, ["prune", "--older-than", age]);
    expect(code).toBe(0);
    expect(err).not.toContain("SIMCAT_MAX_REMOVED");
  });

  test.each(["1ms", "23h", "86399999ms"])(
    "accepts the age %s and reports what the guard no longer sees",
    async (age) => {
      const database = await freshTestDatabase();
      const { code, err } = await simcat({ database }, ["prune", "--older-than", age]);
      expect(code).toBe(0);
      expect(err).toContain("deletes history of the last 24 h, which the limit on removals (SIMCAT_MAX_REMOVED) uses");
    },
  );

  test("requires an age: the option's, or else SIMCAT_KEEP_HISTORY", async () => {
    const database = await freshTestDatabase();
    await insertVersion(database, "library_history", "live", OLD);
    const prune = async (environment: Record<string, string>, ...more: string[]) => {
      const { code, out, err } = await simcat({ database }, ["prune", "--json", ...more], environment);
      return { code, ...(code === 0 ? pruned(JSON.parse(out)) : { err }) };
    };
    const pruned = (report: { older_than: string; rows_total: number }) => ({
      age: report.older_than,
      rows: report.rows_total,
    });

    expect(await prune({})).toEqual({
      code: 64,
      err: expect.stringContaining("give --older-than 365d, or set SIMCAT_KEEP_HISTORY"),
    });
    expect(await prune({ SIMCAT_KEEP_HISTORY: "1h" })).toEqual({
      code: 78,
      err: expect.stringContaining("SIMCAT_KEEP_HISTORY"),
    });
    const ages = { SIMCAT_KEEP_HISTORY: "24h" };
    expect(await prune(ages, "--dry-run")).toEqual({ code: 0, age: "1d", rows: 1 });
    expect(await prune(ages, "--older-than", "3650d")).toEqual({ code: 0, age: "3650d", rows: 0 });
    expect(await prune(ages)).toEqual({ code: 0, age: "1d", rows: 1 });
    expect(await prune(ages)).toEqual({ code: 0, age: "1d", rows: 0 });
  });

  test.each([["--dry-run"], []])(
    "refuses a partitioned table %j, because a ctid is unique in one partition",
    async (...more) => {
      const database = await freshTestDatabase();
      await database.query(`
      ALTER TABLE simcat.scenario_history RENAME TO one_month;
      CREATE TABLE simcat.scenario_history (LIKE simcat.one_month) PARTITION BY RANGE (valid_to)`);
      const { code, err } = await simcat({ database }, ["prune", "--older-than", "90d", ...more]);
      expect(code).toBe(78);
      expect(err).toContain("prune cannot delete from partitioned tables: simcat.scenario_history");
    },
  );

  test.each([
    ["rejects", []],
    ["rejects", ["--dry-run"]],
    ["leases", []],
  ])("reports that the database refuses simcat.%s %j", async (table, more) => {
    const database = await freshTestDatabase();
    await database.query(`ALTER TABLE simcat.${table} RENAME TO others`);
    const { code, err } = await simcat({ database }, ["prune", "--older-than", "90d", ...more]);
    expect(code).toBe(78);
    expect(err).toContain(`simcat.${table}`);
  });

  test("does not touch a database without simcat's tables", async () => {
    const database = await freshTestDatabase({ empty: true });
    const { code, err } = await simcat({ database }, ["prune", "--older-than", "90d"]);
    expect(code).toBe(78);
    expect(err).toContain("simcat migrate");
  });
});

const NOTHING: PrunedRows = {
  libraries: 0,
  scenarios: 0,
  libraryHistory: 0,
  scenarioHistory: 0,
  librarySync: 0,
  scenarioAbsences: 0,
  rejects: 0,
};

async function openPool(database: TestDatabase): Promise<Pool> {
  const pool = await connect(database.url, {}, never);
  onTestFinished(() => disconnect(pool));
  return pool;
}

async function pruneUntil(database: TestDatabase, signal: AbortSignal, tell: () => void): Promise<PrunedRows> {
  const pool = await openPool(database);
  const clock = await createClock(pool, never);
  return withLease(
    pool,
    clock,
    { name: "sync", holder: "test" },
    (lease) => prune({ pool, lease, cutoff: CUTOFF, onProgress: tell }, signal),
    never,
  );
}

async function pruneAll(database: TestDatabase): Promise<{ counted: PrunedRows; pruned: PrunedRows }> {
  const counted = await countPrunable(await openPool(database), CUTOFF, never);
  return { counted, pruned: await pruneUntil(database, never, () => {}) };
}

async function holdLease({ query }: TestDatabase): Promise<void> {
  await query("INSERT INTO simcat.leases VALUES ('sync', 'somebody', 1, now() + interval '1 h')");
}

async function insertLibrary({ query }: TestDatabase, name: string, removedAt: string | null): Promise<void> {
  await query(
    `INSERT INTO simcat.libraries (owner, library_name, first_seen_at, changed_at, removed_at, run_id)
     VALUES ('o', $1, '2020-01-01Z', '2020-01-01Z', $2, 1)`,
    [name, removedAt],
  );
}

async function insertScenario({ query }: TestDatabase, name: string, id: number, removedAt: string | null) {
  await query(
    `INSERT INTO simcat.scenarios (owner, library_name, scenario_id, raw, first_seen_at, changed_at, removed_at, run_id)
     VALUES ('o', $1, $2, '{}', '2020-01-01Z', '2020-01-01Z', $3, 1)`,
    [name, id, removedAt],
  );
}

async function insertVersion(
  { query }: TestDatabase,
  table: "library_history" | "scenario_history",
  name: string,
  validTo: string,
  id?: number,
) {
  const [more, values] = id === undefined ? ["", ""] : [", scenario_id, raw", `, ${id}, '{}'`];
  await query(
    `INSERT INTO simcat.${table} (owner, library_name, first_seen_at, changed_at, run_id, valid_from, valid_to, superseded_by${more})
     VALUES ('o', $1, '2020-01-01Z', '2020-01-01Z', 1, $2::timestamptz - interval '1 h', $2, 2${values})`,
    [name, validTo],
  );
}

let rejects = 0;

async function insertReject({ query }: TestDatabase, name: string | null, resolvedAt: string | null) {
  rejects += 1;
  await query(
    `INSERT INTO simcat.rejects
       (run_id, owner, library_name, kind, code, path, reason, payload, fingerprint, first_seen_at, last_seen_at, resolved_at)
     VALUES (1, $1, $2, 'scenario', 'wrong_type', '', '', '', $3, '2020-01-01Z', '2020-01-01Z', $4)`,
    [name === null ? null : "o", name, String(rejects), resolvedAt],
  );
}

async function countRows({ query }: TestDatabase): Promise<PrunedRows> {
  const tables = {
    libraries: "libraries",
    scenarios: "scenarios",
    libraryHistory: "library_history",
    scenarioHistory: "scenario_history",
    librarySync: "library_sync",
    scenarioAbsences: "scenario_absences",
    rejects: "rejects",
  } satisfies Record<keyof PrunedRows, string>;
  const parts = Object.entries(tables).map(
    ([name, table]) => `(SELECT count(*)::int FROM simcat.${table}) AS "${name}"`,
  );
  const [row] = await query<PrunedRows>(`SELECT ${parts.join(", ")}`);
  if (row === undefined) throw new Error("no row");
  return row;
}

async function idsOf({ query }: TestDatabase, table: string): Promise<number[]> {
  const rows = await query<{ id: number }>(`SELECT scenario_id::int AS id FROM simcat.${table} ORDER BY 1`);
  return rows.map(({ id }) => id);
}
