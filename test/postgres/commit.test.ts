import { expect, test } from "vitest";
import { brokenHistories, storedRows } from "../process/service-rows.ts";
import { freshTestDatabase, type TestDatabase } from "../support/database.ts";
import { type Fixture, fixture, syncedFixture } from "../support/fixture.ts";
import { library, NEWER, numbered, scenario } from "../support/organization.ts";
import { createTrigger } from "../support/trigger.ts";
import { startPostgresProxy, type Verdict } from "./proxy.ts";

const ten = Array.from({ length: 10 }, (_, at) => at + 1);

/** A copy of eight libraries. Since then five were edited, one was added, one fails, one has too short a list, one is removed. */
async function edited(): Promise<Fixture> {
  const made = await syncedFixture([
    ...numbered(6),
    library("alice", "shrinks", { scenarios: ten }),
    library("alice", "leaves", { scenarios: [1] }),
  ]);
  const { service } = made;
  for (const { name } of numbered(6)) {
    service.change("alice", name, {
      lastModified: NEWER,
      scenarios: [scenario(1, { scenarioName: "renamed" }), scenario(2), scenario(4)],
    });
  }
  service.change("alice", "shrinks", { lastModified: NEWER, scenarios: ten.slice(4).map((id) => scenario(id)) });
  service.remove("alice", "leaves");
  service.put(library("alice", "arrives", { scenarios: [1, 2, 3] }));
  service.always({ operation: "scenarios", library: "Lib 5" }, { kind: "status", status: 404 });
  return made;
}

const COUNTED = `SELECT status, libraries_read AS read, libraries_changed AS changed, libraries_failed AS failed, libraries_removed AS gone,
  scenarios_inserted::int AS inserted, scenarios_updated::int AS updated, scenarios_removed::int AS removed, scenarios_unchanged::int AS same
  FROM simcat.sync_runs ORDER BY id`;

/** What a run that is counted twice, or that confirms itself, would leave. */
const NUMBERS = `SELECT (SELECT count(*)::int FROM simcat.library_history) AS versions, (SELECT sum(failures)::int FROM simcat.library_sync) AS failures,
  (SELECT count(*)::int FROM simcat.scenario_absences) AS absences, (SELECT count(*)::int FROM simcat.libraries WHERE removed_at IS NOT NULL) AS gone`;

const FIRST = { status: "ok", failed: 0, gone: 0, updated: 0, removed: 0, same: 0 };
const LIBRARIES = { read: 7, changed: 7, failed: 1, gone: 1 };
const SECOND = { status: "partial", ...LIBRARIES, inserted: 8, updated: 5, removed: 5, same: 11 };
const TABLES = [
  ...["libraries", "scenarios", "library_sync", "library_history", "scenario_history", "scenario_absences"],
  "sync_runs",
];

const LOST = ["swallow answer", "cut before"] as const satisfies Verdict[];

test.each(LOST)(
  "a run that loses the answer to any one COMMIT (%s) does everything once and counts it (fault 79)",
  async (verdict) => {
    const { database, query, call } = await edited();
    await query("CREATE SCHEMA kept");
    for (const table of TABLES) await query(`CREATE TABLE kept.${table} AS TABLE simcat.${table}`);
    const outcomes: unknown[] = [];
    const stored: unknown[] = [];
    let commits = 0;

    // No COMMIT is lost in the first run. The last one has fewer than are to be lost.
    for (let lost = 0; lost < 2 || commits >= lost - 1; lost++) {
      await query(`TRUNCATE ${TABLES.map((table) => `simcat.${table}`).join(", ")}`);
      for (const table of TABLES)
        await query(`INSERT INTO simcat.${table} OVERRIDING SYSTEM VALUE TABLE kept.${table}`);
      const proxy = await startPostgresProxy(database.url);
      commits = 0;
      proxy.judge = (statement) => {
        if (statement !== "COMMIT") return "pass";
        commits += 1;
        return commits === lost ? verdict : "pass";
      };

      const { code } = await call(["sync"], { DATABASE_URL: proxy.url(database.url) });

      const [numbers] = await query(NUMBERS);
      outcomes.push({ lost, code, runs: await query(COUNTED), numbers, broken: await brokenHistories(query) });
      stored.push(await storedRows(query));
    }

    // The schema, the lease with the run's row, stored libraries, the listing, content, the end.
    expect(outcomes.length).toBeGreaterThan(7);
    const runs = [{ ...FIRST, read: 8, changed: 8, inserted: 29 }, SECOND];
    const numbers = { versions: 7, failures: 1, absences: 4, gone: 1 };
    expect(outcomes).toEqual(outcomes.map((_, lost) => ({ lost, code: 2, runs, numbers, broken: [] })));
    expect(stored).toEqual(stored.map(() => stored[0]));
  },
);

/** Loses the answer to the first COMMIT after a statement that contains `text`. */
async function losing({ url }: TestDatabase, text: string, verdict: Verdict) {
  const proxy = await startPostgresProxy(url);
  let isNext = false;
  const lost = { isLost: false };
  proxy.judge = (statement) => {
    if (statement.includes(text)) isNext = true;
    if (statement !== "COMMIT" || !isNext || lost.isLost) return "pass";
    lost.isLost = true;
    return verdict;
  };
  return { lost, DATABASE_URL: proxy.url(url) };
}

/** When a good run ends its row. */
const AT_ITS_END = "AFTER UPDATE ON simcat.sync_runs FOR EACH ROW WHEN (NEW.status = 'ok')";

test("a lease that was released is not renewed by a pending renewal", async () => {
  const { query, call } = await fixture(numbered(6));
  // The lease is renewed after five seconds, and the renewal waits for the end of this commit.
  await createTrigger(query, AT_ITS_END, "PERFORM pg_sleep(6); RETURN NULL;");

  expect((await call(["sync"])).code).toBe(0);

  expect(await query("SELECT expires_at::text AS expires FROM simcat.leases")).toEqual([{ expires: "-infinity" }]);
});

test.each(LOST)(
  "a run that loses the COMMIT that removes snapshots of future days (%s) still warns (fault 79)",
  async (verdict) => {
    const made = await syncedFixture(numbered(6));
    await made.query("UPDATE simcat.snapshot_days SET day = day + 30");
    await made.query("UPDATE simcat.owner_days SET day = day + 30");
    await made.query("UPDATE simcat.library_days SET from_day = from_day + 30");
    const { lost, DATABASE_URL } = await losing(made.database, "DELETE FROM simcat.library_days", verdict);

    const { code, stderr } = await made.call(["sync"], { DATABASE_URL });

    expect({ code, ...lost }).toEqual({ code: 0, isLost: true });
    expect(stderr).toContain("a daily snapshot was taken while the database's clock was ahead");
  },
);

test.each(LOST)(
  "the answer to the COMMIT of a migration is lost (%s): each migration is applied once (fault 85)",
  async (verdict) => {
    const { call } = await fixture([]);
    const empty = await freshTestDatabase({ empty: true });
    const { lost, DATABASE_URL } = await losing(empty, "", verdict);

    const { code } = await call(["migrate"], { DATABASE_URL });

    expect({ code, ...lost }).toEqual({ code: 0, isLost: true });
    const applied =
      "SELECT count(*) > 0 AS any, count(*) = count(DISTINCT hash) AS once FROM simcat_migrations.__drizzle_migrations";
    expect(await empty.query(applied)).toEqual([{ any: true, once: true }]);
    const again = await call(["migrate", "--json"], { DATABASE_URL: empty.url });
    expect(JSON.parse(again.stdout).applied).toBe(0);
  },
);

test("a run whose end was stored has not lost its lease, although another run takes it before the answer (fault 79)", async () => {
  const { database, query, call } = await syncedFixture(numbered(2));
  const proxy = await startPostgresProxy(database.url);
  let isEnding = false;
  let isStored = false;
  let isRenewed = false;
  proxy.judge = (statement) => {
    isEnding ||= statement.includes("SET expires_at = '-infinity'");
    if (!isStored && isEnding && statement === "COMMIT") {
      isStored = true;
      return "swallow answer";
    }
    isRenewed ||= isStored && /UPDATE simcat.leases\s+SET expires_at = CASE/.test(statement);
    return isStored && !isRenewed && statement.startsWith("BEGIN") ? "cut before" : "pass";
  };
  const running = call(["sync", "--json"], { DATABASE_URL: proxy.url(database.url) });
  const takeOver =
    "UPDATE simcat.leases SET token = token + 1, expires_at = now() + interval '20 s' WHERE expires_at = '-infinity'";
  await expect.poll(async () => isStored && (await query(`${takeOver} RETURNING token`)).length).toBe(1);

  const { code, stdout } = await running;

  expect(isRenewed).toBe(true);
  expect({ code, status: JSON.parse(stdout).status }).toEqual({ code: 0, status: "ok" });
});

test.each(LOST)(
  "a prune that loses the COMMIT of removed scenarios (%s) prints how many are gone (fault 79)",
  async (verdict) => {
    const made = await syncedFixture([library("alice", "shrinks", { scenarios: [1, 2, 3] })]);
    made.service.change("alice", "shrinks", { lastModified: NEWER, scenarios: [scenario(1)] });
    expect((await made.call(["sync"])).code).toBe(0);
    await made.query(
      "UPDATE simcat.scenarios SET removed_at = removed_at - interval '2 days' WHERE removed_at IS NOT NULL",
    );
    const { lost, DATABASE_URL } = await losing(made.database, "WITH scenarios AS (DELETE", verdict);

    const { code, stdout } = await made.call(["prune", "--older-than", "1d", "--json"], { DATABASE_URL });

    expect({ code, ...lost }).toEqual({ code: 0, isLost: true });
    expect(await made.query("SELECT count(*)::int AS left FROM simcat.scenarios")).toEqual([{ left: 1 }]);
    expect(JSON.parse(stdout)).toMatchObject({ rows_total: 2, rows: { scenarios: 2 } });
  },
);
