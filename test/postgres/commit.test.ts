import { expect, test } from "vitest";
import { brokenHistories, serviceRows, storedRows } from "../process/service-rows.ts";
import { freshTestDatabase } from "../support/database.ts";
import { type Fixture, fixture, syncedFixture } from "../support/fixture.ts";
import { library, scenario } from "../support/organization.ts";
import { startPostgresProxy, type Verdict } from "./proxy.ts";

const NEWER = "2024-01-02 at 3:04 PM";
const six = () => Array.from({ length: 6 }, (_, at) => library("alice", `Lib ${at}`, { scenarios: [1, 2, 3] }));

/** A copy of six libraries, each edited since: one scenario renamed, one removed, one added. */
async function edited(): Promise<Fixture> {
  const made = await syncedFixture(six());
  for (const { name } of made.service.organization.libraries()) {
    made.service.change("alice", name, {
      lastModified: NEWER,
      scenarios: [scenario(1, { scenarioName: "renamed" }), scenario(2), scenario(4)],
    });
  }
  return made;
}

const COUNTED = `SELECT status, libraries_read AS read, libraries_changed AS changed, libraries_failed AS failed, libraries_removed AS gone,
  scenarios_inserted::int AS inserted, scenarios_updated::int AS updated, scenarios_removed::int AS removed, scenarios_unchanged::int AS same
  FROM simcat.sync_runs ORDER BY id`;

const FIRST = { status: "ok", read: 6, changed: 6, failed: 0, gone: 0, inserted: 18, updated: 0, removed: 0, same: 0 };
const SECOND = { status: "ok", read: 6, changed: 6, failed: 0, gone: 0, inserted: 6, updated: 6, removed: 6, same: 6 };

/** Loses the answer to each COMMIT of a sync in turn, each time with the tables in their current state. */
async function expectNoCommitToMatter(made: Fixture, verdict: Verdict, runs: readonly unknown[]): Promise<void> {
  const { database, query, call, service } = made;
  await query("CREATE SCHEMA kept");
  const tables = ["libraries", "scenarios", "library_sync", "library_history", "scenario_history", "sync_runs"];
  for (const table of tables) await query(`CREATE TABLE kept.${table} AS TABLE simcat.${table}`);
  const outcomes: unknown[] = [];
  let commits = 0;

  // Repeat until no COMMIT is left: the schema, the lease with the run's row, stored libraries, the listing, content, the end.
  for (let lost = 1; commits >= lost - 1; lost++) {
    await query(`TRUNCATE ${tables.map((table) => `simcat.${table}`).join(", ")}`);
    for (const table of tables) await query(`INSERT INTO simcat.${table} OVERRIDING SYSTEM VALUE TABLE kept.${table}`);
    const proxy = await startPostgresProxy(database.url);
    commits = 0;
    proxy.judge = (statement) => {
      if (statement !== "COMMIT") return "pass";
      commits += 1;
      return commits === lost ? verdict : "pass";
    };

    const { code } = await call(["sync"], { DATABASE_URL: proxy.url(database.url) });

    outcomes.push({ lost, code, runs: await query(COUNTED), broken: await brokenHistories(query) });
    expect(await storedRows(query), `commit ${lost}`).toEqual(serviceRows(service.organization));
  }

  expect(outcomes.length).toBeGreaterThan(7);
  expect(outcomes).toEqual(outcomes.map((_, at) => ({ lost: at + 1, code: 0, runs, broken: [] })));
}

const LOST = ["swallow answer", "cut before"] as const satisfies Verdict[];

test.each(LOST)(
  "a run that loses the answer to any one COMMIT (%s) does everything once and counts it (fault 79)",
  async (verdict) => {
    await expectNoCommitToMatter(await edited(), verdict, [FIRST, SECOND]);
  },
);

test.each(LOST)(
  "a first run in which the answer to any one COMMIT is lost (%s) reports no false failure (fault 79)",
  async (verdict) => {
    await expectNoCommitToMatter(await fixture(six()), verdict, [FIRST]);
  },
);

/** Runs a sync that loses its first COMMIT after a statement with this text. */
async function syncLosing({ database, simcat }: Fixture, text: string, verdict: Verdict) {
  const proxy = await startPostgresProxy(database.url);
  let isNext = false;
  let isLost = false;
  proxy.judge = (statement) => {
    if (statement.includes(text)) isNext = true;
    if (statement !== "COMMIT" || !isNext || isLost) return "pass";
    isLost = true;
    return verdict;
  };
  const { code, stdout } = await simcat(["sync"], { DATABASE_URL: proxy.url(database.url) });
  return { ended: { code, isLost }, stdout };
}

test.each(LOST)(
  "the answer to the COMMIT that records a failed library is lost (%s): it failed once (fault 79)",
  async (verdict) => {
    const made = await fixture(six());
    made.service.always({ operation: "scenarios", library: "Lib 3" }, { kind: "status", status: 404 });

    const { ended } = await syncLosing(made, "last_failed_at = now()", verdict);

    expect(ended).toEqual({ code: 2, isLost: true });
    const failing = "SELECT failures, reread_reason FROM simcat.library_sync WHERE library_name = 'Lib 3'";
    expect(await made.query(failing)).toEqual([{ failures: 1, reread_reason: "failure" }]);
    expect(await made.query(COUNTED)).toMatchObject([{ status: "partial", failed: 1 }]);
  },
);

test.each(LOST)(
  "the answer to the COMMIT that marks a removed library is lost (%s): it counts once (fault 79)",
  async (verdict) => {
    const made = await syncedFixture(six());
    made.service.remove("alice", "Lib 3");

    const { ended, stdout } = await syncLosing(made, "SET removed_at = greatest", verdict);

    expect(ended).toEqual({ code: 0, isLost: true });
    expect(stdout).toContain("5 listed, 0 read, 5 skipped, 0 changed, 1 removed, 0 failed");
    const removed = "SELECT library_name AS name FROM simcat.libraries WHERE removed_at IS NOT NULL";
    expect(await made.query(removed)).toEqual([{ name: "Lib 3" }]);
    expect(await made.query("SELECT count(*)::int AS versions FROM simcat.library_history")).toEqual([{ versions: 1 }]);
    expect(await brokenHistories(made.query)).toEqual([]);
  },
);

test.each(LOST)(
  "the answer to the COMMIT that withholds scenarios is lost (%s): the repetition confirms nothing (fault 79)",
  async (verdict) => {
    const ids = Array.from({ length: 10 }, (_, at) => at + 1);
    const made = await syncedFixture([library("alice", "Fire", { scenarios: ids })]);
    const scenarios = ids.slice(4).map((id) => scenario(id));
    made.service.change("alice", "Fire", { lastModified: NEWER, scenarios });

    const { ended } = await syncLosing(made, "INSERT INTO simcat.scenario_absences", verdict);

    expect(ended).toEqual({ code: 2, isLost: true });
    expect(await made.query("SELECT FROM simcat.scenarios WHERE removed_at IS NOT NULL")).toEqual([]);
    const absences = "SELECT count(*)::int AS absences FROM simcat.scenario_absences";
    expect(await made.query(absences)).toEqual([{ absences: 4 }]);
  },
);

test("a run that loses its last answer and then its lease to another run still ended well (fault 79)", async () => {
  const made = await fixture(six());
  // The token changes in the same commit, as if another run had waited for it.
  await made.query(`
    CREATE FUNCTION take() RETURNS trigger LANGUAGE plpgsql AS
      $$ BEGIN UPDATE simcat.leases SET token = token + 1; RETURN NULL; END $$;
    CREATE TRIGGER take AFTER UPDATE ON simcat.sync_runs FOR EACH ROW WHEN (NEW.status = 'ok') EXECUTE FUNCTION take()`);

  const { ended, stdout } = await syncLosing(made, "UPDATE simcat.sync_runs SET status", "swallow answer");

  expect(ended).toEqual({ code: 0, isLost: true });
  expect(stdout).toContain("sync ok");
  expect(await made.query(COUNTED)).toEqual([FIRST]);
});

test("a lease that was released is not renewed by a pending renewal", async () => {
  const { query, simcat } = await fixture(six());
  // The lease is renewed after five seconds, and the renewal waits for the end of this commit.
  await query(`
    CREATE FUNCTION linger() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_sleep(6); RETURN NULL; END $$;
    CREATE TRIGGER linger AFTER UPDATE ON simcat.sync_runs FOR EACH ROW WHEN (NEW.status = 'ok') EXECUTE FUNCTION linger()`);

  expect((await simcat(["sync"])).code).toBe(0);

  expect(await query("SELECT expires_at::text AS expires FROM simcat.leases")).toEqual([{ expires: "-infinity" }]);
});

test.each(LOST)(
  "the answer to the COMMIT of a migration is lost (%s): each migration is applied once (fault 85)",
  async (verdict) => {
    const { simcat } = await fixture([]);
    const empty = await freshTestDatabase({ empty: true });
    const proxy = await startPostgresProxy(empty.url);
    let isLost = false;
    proxy.judge = (statement) => {
      if (statement !== "COMMIT" || isLost) return "pass";
      isLost = true;
      return verdict;
    };

    const { code } = await simcat(["migrate"], { DATABASE_URL: proxy.url(empty.url) });

    expect({ code, isLost }).toEqual({ code: 0, isLost: true });
    expect(
      await empty.query(
        "SELECT count(*) > 0 AS any, count(*) = count(DISTINCT hash) AS once FROM simcat_migrations.__drizzle_migrations",
      ),
    ).toEqual([{ any: true, once: true }]);
    const again = await simcat(["migrate", "--json"], { DATABASE_URL: empty.url });
    expect(JSON.parse(again.stdout).applied).toBe(0);
  },
);
