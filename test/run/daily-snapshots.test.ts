import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { headers, status } from "../faults/answers.ts";
import { movableClock } from "../support/database-clock.ts";
import { fixture } from "../support/fixture.ts";
import type { MockLibrary } from "../support/mock/library.ts";
import { library, scenario } from "../support/organization.ts";
import { rowVersions } from "../support/row-versions.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";
import { createTrigger } from "../support/trigger.ts";

/** A fixture with these libraries. The clocks of its service and its database can be set, or only the database's. */
async function organization(libraries: readonly MockLibrary[]) {
  let serviceTime = new Date();
  const made = await fixture(libraries, { clock: () => serviceTime });
  const { database, call } = made;
  const setDatabaseClock = await movableClock(database);
  const setClock = async (moment: string) => {
    serviceTime = new Date(moment);
    await setDatabaseClock(moment);
  };
  return {
    ...made,
    setDatabaseClock,
    setClock,
    /** A run at this time, which ends with this code. */
    runAt: async (moment: string, command: string, exit = 0) => {
      await setClock(moment);
      const { code, stdout } = await call(command.split(" "));
      expect(code, stdout).toBe(exit);
    },
    /** Runs a sync that ends with 0; returns its warnings. */
    warnings: async () => {
      const { code, stdout } = await call(["sync", "--json"]);
      expect(code).toBe(0);
      return JSON.parse(stdout).warnings;
    },
    days: () => database.lines("SELECT day::text FROM simcat.snapshot_days ORDER BY day"),
    /** The library's rows of daily_libraries as `day live scenarios parents results bytes version`. */
    daily: (name: string) =>
      database.lines(
        `SELECT concat_ws(' ', day, live, scenarios, parents, results, bytes, package_version)
         FROM simcat_report.daily_libraries WHERE library_name = $1 ORDER BY day`,
        [name],
      ),
  };
}

const fire = library("alice", "Fire", { scenarios: [1, scenario(2, { parentId: 1 }), scenario(3, { parentId: 1 })] });
const water = library("bob", "Water", { scenarios: [1], fileSize: "unknown" });

test("only the first good run to end on a UTC day takes its snapshot, whatever zone the sessions have", async () => {
  const { database, service, days, daily, runAt } = await organization([fire, water]);
  await database.query(
    "DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET timezone = ''Pacific/Kiritimati''', current_database()); END $$",
  );
  await runAt("2026-03-01T23:40:00Z", "backfill");
  expect(await days()).toEqual(["2026-03-01"]);
  expect(await daily("Fire")).toEqual(["2026-03-01 t 3 1 2 245760 4.3.6"]);
  expect(await daily("Water")).toEqual(["2026-03-01 t 1 1 0 4.3.6"]);

  await runAt("2026-03-02T00:20:00Z", "sync");
  expect(await days()).toEqual(["2026-03-01", "2026-03-02"]);
  const snapshots = async () =>
    (await rowVersions(database.query)).filter((row) => /^(snapshot|library|owner)_days /.test(row));
  const before = await snapshots();
  service.change("alice", "Fire", { lastModified: "2026-03-02 at 8:30 AM", scenarios: [] });
  await runAt("2026-03-02T23:00:00Z", "sync --allow-removals");
  expect(await snapshots()).toEqual(before);
  const taken = "SELECT run_id, taken_at IS NOT NULL FROM simcat.snapshot_days ORDER BY day";
  expect(await database.lines(taken)).toEqual(["1 true", "2 true"]);
});

test("a library that was listed when the history began is loaded, not added, whenever it is read (fault 209)", async () => {
  const { database, service, daily, runAt } = await organization([fire, water]);
  service.always({ owner: "bob", library: "Water" }, status(404));
  await runAt("2026-03-01T08:00:00Z", "backfill", 2);
  expect(await daily("Water")).toEqual(["2026-03-01 f"]);
  const owner = "SELECT libraries, not_stored, active, run_id FROM simcat_report.daily_owners WHERE owner = 'bob'";
  expect(await database.lines(owner)).toEqual(["0 1 0 1"]);

  service.script([]);
  service.put(library("bob", "Wood", { scenarios: [1, 2] }));
  await runAt("2026-03-03T08:00:00Z", "backfill --restart");
  const counts = (view: string, time: string) =>
    database.lines(
      `SELECT library_name, kind, count(*) FROM simcat_report.${view} WHERE ${time} > '2026-03-02Z' GROUP BY 1, 2 ORDER BY 1`,
    );
  expect(await counts("events", "seen_at")).toEqual(["Water loaded 1", "Wood added 3"]);
  expect(await counts("activity", "seen_at")).toEqual(["Water loaded 2", "Wood added 3"]);
  expect(await counts("changes", "changed_at")).toEqual(["Wood added 3"]);
  expect(await daily("Water")).toEqual(["2026-03-01 f", "2026-03-03 t 1 1 0 4.3.6"]);
});

test("a scenario that was a reject when the history began is loaded, not added, when it can be stored (fault 209)", async () => {
  const { database, service, runAt } = await organization([fire, water]);
  service.always({ operation: "scenarios", owner: "alice" }, { kind: "alterItem", index: 1, set: { scenarioName: 7 } });
  await runAt("2026-03-01T08:00:00Z", "backfill", 2);
  service.script([]);
  await runAt("2026-03-02T08:00:00Z", "sync");
  for (const view of ["events", "activity"]) {
    const kinds = `SELECT kind, count(*) FROM simcat_report.${view} WHERE seen_at > '2026-03-02Z' GROUP BY kind`;
    expect(await database.lines(kinds), view).toEqual(["loaded 1"]);
  }

  service.change("alice", "Fire", {
    lastModified: "2026-03-03 at 7:30 AM",
    scenarios: [1, 2, 3, 4].map((id) => scenario(id)),
  });
  await runAt("2026-03-03T08:00:00Z", "sync");
  const sums = "SELECT sum(library_change), sum(scenario_change) FROM simcat_report.events WHERE owner = 'alice'";
  expect(await database.lines(sums)).toEqual(["1 4"]);
  expect(await database.lines("SELECT scenario_id FROM simcat.events WHERE kind = 'added'")).toEqual(["4"]);
});

test("what was stored after a snapshot by a clock that was hours ahead is counted after it (fault 259)", async () => {
  const { service, call, runAt, setClock, setDatabaseClock } = await organization([fire, water]);
  await setClock("2026-03-02T06:00:00Z");
  await setDatabaseClock("2026-03-02T14:00:00Z");
  service.always({ owner: "bob", library: "Water" }, status(404));
  expect((await call(["backfill"])).code).toBe(2);
  service.script([]);
  await runAt("2026-03-02T08:00:00Z", "sync");
  service.put(library("bob", "Wood"));
  await runAt("2026-03-02T09:00:00Z", "sync");
  await runAt("2026-03-03T09:00:00Z", "sync");

  const { stdout } = await call(["report", "--json", "--out", join(temporaryDirectory(), "report.html")]);
  expect(JSON.parse(stdout).findings.growth).toBe("1 more library since 2 Mar 2026, and as many scenarios");
});

test.each([
  { clock: "was ahead when the history began", began: "2026-04-02T08:00:00Z", listed: "2026-03-03T08:00:00Z" },
  { clock: "is behind when it is listed", began: "2026-03-02T08:00:00Z", listed: "2026-02-03T08:00:00Z" },
])("a library that came after the history began is added although the clock $clock (fault 386)", async (times) => {
  const { database, service, call, setClock, setDatabaseClock } = await organization([fire]);
  await setClock("2026-03-02T08:00:00Z");
  await setDatabaseClock(times.began);
  await call(["sync"]);
  service.put(water);
  await setClock("2026-03-03T08:00:00Z");
  await setDatabaseClock(times.listed);
  await call(["sync"]);
  const kinds = "SELECT DISTINCT library_name, kind FROM simcat.events ORDER BY 1";
  expect(await database.lines(kinds)).toEqual(["Fire loaded", "Water added"]);
});

test("runs with selectors and runs that fail take no snapshot; partial and held ones do", async () => {
  const { service, runAt, call, days } = await organization([fire, water]);
  await runAt("2026-03-01T08:00:00Z", "sync --owner bob");
  service.once({ operation: "listing" }, status(401));
  expect((await call(["sync"])).code).toBe(77);
  expect(await days()).toEqual([]);

  service.always({ owner: "bob", library: "Water" }, status(404));
  expect((await call(["backfill", "--restart"])).code).toBe(2);
  expect(await days()).toEqual(["2026-03-01"]);

  service.script([]);
  service.remove("alice", "Fire");
  await runAt("2026-03-02T08:00:00Z", "sync", 3);
  expect(await days()).toEqual(["2026-03-01", "2026-03-02"]);
});

test("a snapshot that fails leaves only a warning, and the next good run takes it (fault 126)", async () => {
  const { database, warnings, setClock, days } = await organization([fire]);
  await setClock("2026-03-01T08:00:00Z");
  await createTrigger(database.query, "BEFORE INSERT ON simcat.owner_days FOR EACH ROW", "RAISE 'no space here';");

  const message = expect.stringMatching(/^taking the daily snapshot failed: .*no space here.*; everything/);
  expect(await warnings()).toEqual([{ code: "snapshot_failed", message }]);
  expect(await database.lines("SELECT status FROM simcat.sync_runs")).toEqual(["ok"]);
  expect(await database.lines("SELECT library_name FROM simcat.library_days")).toEqual([]);
  await database.query("DROP TRIGGER act ON simcat.owner_days");
  expect(await warnings()).toEqual([]);
  expect(await days()).toEqual(["2026-03-01"]);
});

test("a date that was past only to a clock that was ahead is no last work once the clock is confirmed (fault 386)", async () => {
  const { database, service, call, warnings, runAt, setClock, setDatabaseClock } = await organization([fire]);
  const lastWork = () =>
    database.lines("SELECT last_work_at::date::text, last_work_scenario_id FROM simcat_report.libraries");
  await runAt("2026-03-02T08:00:00Z", "sync");
  await setDatabaseClock("2126-04-11T08:00:00Z");
  const planned = scenario(4, { lastModified: "2126-04-10 at 8:30 AM" });
  service.change("alice", "Fire", { lastModified: "2026-03-02 at 8:30 AM", scenarios: [...fire.scenarios, planned] });
  await call(["sync"]);
  expect(await lastWork()).toEqual(["2126-04-10 4"]);

  await setClock("2026-03-03T08:00:00Z");
  expect((await warnings()).map(({ code }: { code: string }) => code)).toContain("versions_moved_back");
  expect(await lastWork()).toEqual(["2026-03-02 NULL"]);
  const days = "SELECT day::text, last_work_at::date::text FROM simcat_report.daily_libraries ORDER BY day";
  expect(await database.lines(days)).toEqual(["2026-03-02 2023-09-11", "2026-03-03 2026-03-02"]);
});

test("snapshots, versions and events of a clock that was ahead are corrected once it is confirmed (faults 136, 207)", async () => {
  const { database, service, call, warnings, runAt, setClock, setDatabaseClock, days, daily } = await organization([
    fire,
    water,
  ]);
  const problems = () =>
    database.lines(
      "SELECT what, count(*) FROM simcat_report.data_quality WHERE problem = 'future_version' GROUP BY 1 ORDER BY 1",
    );
  await runAt("2026-03-02T08:00:00Z", "sync");
  await setDatabaseClock("2126-04-11T08:00:00Z");
  service.change("alice", "Fire", { lastModified: "2026-03-02 at 8:30 AM", scenarios: [scenario(1), scenario(4)] });
  service.put(library("bob", "Wood", { scenarios: [1, 2] }));
  expect((await call(["sync"])).code).toBe(0);
  await setDatabaseClock("2126-04-12T08:00:00Z");
  await call(["sync"]);
  expect(await problems()).toEqual(["library 2", "scenario 5"]);
  expect(await days()).toEqual(["2026-03-02", "2126-04-11", "2126-04-12"]);

  await setClock("2026-03-03T08:00:00Z");
  service.change("alice", "Fire", { lastModified: "2026-03-03 at 7:30 AM", scenarios: [scenario(1), scenario(5)] });
  expect(await warnings()).toEqual([
    { code: "versions_moved_back", message: expect.stringMatching(/ up to 2126-04-12 08:/) },
    {
      code: "snapshots_removed",
      message:
        "2 daily snapshots were taken while the database's clock was ahead, for days that have not begun (2126-04-11 to 2126-04-12), and removed now",
    },
  ]);
  expect(await daily("Fire")).toEqual(["2026-03-02 t 3 1 2 245760 4.3.6", "2026-03-03 t 2 2 0 245760 4.3.6"]);
  const ownerDays = "SELECT DISTINCT day::text FROM simcat.owner_days WHERE owner = 'bob' ORDER BY 1";
  expect(await database.lines(ownerDays)).toEqual(["2026-03-02", "2026-03-03"]);
  expect(await problems()).toEqual([]);
  const [counts] = await database.query(
    `SELECT count(*) FILTER (WHERE removed_at IS NULL)::int AS live, count(DISTINCT changed_at) BETWEEN 3 AND 6 AS times,
       bool_and(changed_at < '2026-03-03 08:10Z' AND first_seen_at <= changed_at) AS ordered,
       (SELECT count(*)::int FROM simcat_report.scenarios_as_of('2026-03-03 08:10Z')) AS as_of,
       (SELECT sum(scenario_change)::int FROM simcat_report.events WHERE seen_at < '2026-03-03 08:10Z') AS sum,
       (SELECT bool_and(valid_to > valid_from AND valid_to < '2026-03-03 08:10Z') FROM simcat.scenario_history) AS ended
     FROM simcat.scenarios`,
  );
  expect(counts).toEqual({ live: 5, times: true, ordered: true, as_of: 5, sum: 5, ended: true });
  expect(await warnings()).toEqual([]);
});

test("a prune under a clock that was ahead hides no history once the clock is confirmed (fault 207)", async () => {
  const { database, service, call, warnings, runAt, setClock, setDatabaseClock } = await organization([fire, water]);
  await runAt("2026-03-02T08:00:00Z", "sync");
  service.change("alice", "Fire", { lastModified: "2026-03-02 at 8:30 AM", scenarios: [scenario(1), scenario(4)] });
  await runAt("2026-03-03T08:00:00Z", "sync");
  await setDatabaseClock("2126-04-11T08:00:00Z");
  expect((await call(["prune", "--older-than", "30d"])).code).toBe(0);

  await setClock("2026-03-04T08:00:00Z");
  service.change("alice", "Fire", { lastModified: "2026-03-04 at 7:30 AM", scenarios: [scenario(1), scenario(5)] });
  expect(await warnings()).toMatchObject([{ code: "versions_moved_back" }]);

  const history = `SELECT 'begins', history_complete_since < '2026-03-04 08:10Z',
      'covers', simcat_report.history_covers('2026-03-04 08:10Z'),
      'pruned', (SELECT max(pruned_at) < '2026-03-04 08:10Z' FROM simcat_report.prune_history)
    FROM simcat_report.data_complete_as_of`;
  expect(await database.lines(history)).toEqual(["begins true covers true pruned true"]);
});

test.each([
  { case: "is not sent", sent: { date: null }, others: [] },
  { case: "is another one", sent: { date: "Fri, 06 Mar 2026 08:00:00 GMT" }, others: [] },
  { case: "is from a cache", sent: { age: "60" }, others: [{ code: "listing_cached" }] },
])("snapshots of days to come stay if the service's time $case: the clock may be behind", async ({ sent, others }) => {
  const { service, warnings, runAt, setClock, days } = await organization([fire]);
  await runAt("2026-03-05T08:00:00Z", "sync");
  service.always({ operation: "listing" }, headers(sent));
  await setClock("2026-03-03T08:00:00Z");

  const message = expect.stringContaining("there is one of 2026-03-05, and the database's");
  expect(await warnings()).toMatchObject([...others, { code: "snapshot_withheld", message }]);
  expect(await days()).toEqual(["2026-03-05"]);
  await setClock("2026-03-06T08:00:00Z");
  expect(await warnings()).toMatchObject(others);
  expect(await days()).toEqual(["2026-03-05", "2026-03-06"]);
});

test("the statements of the operator's manual remove the snapshots of days to come", async () => {
  const { database, service, warnings, runAt, setClock, days, daily } = await organization([fire]);
  service.always({ operation: "listing" }, headers({ date: null }));
  for (const day of ["2026-03-02", "2030-01-01"]) {
    await runAt(`${day}T08:00:00Z`, "sync");
  }
  await setClock("2026-03-03T08:00:00Z");
  const manual = readFileSync("docs/operations.md", "utf8");
  const [, statements = ""] = /^## Snapshots of days to come\n.*?^```sql\n(.*?)^```/ms.exec(manual) ?? [];
  await database.query(statements);
  expect(await days()).toEqual(["2026-03-02"]);
  expect(await warnings()).toEqual([]);
  expect(await daily("Fire")).toEqual(["2026-03-02 t 3 1 2 245760 4.3.6", "2026-03-03 t 3 1 2 245760 4.3.6"]);
});

test("a clock that is set back over midnight by less than an hour keeps the snapshot of the next day", async () => {
  const { warnings, runAt, setClock, days } = await organization([fire]);
  await runAt("2026-03-02T00:10:00Z", "sync");
  await setClock("2026-03-01T23:40:00Z");
  expect(await warnings()).toEqual([]);
  expect(await days()).toEqual(["2026-03-02"]);
});

test("a library that fails or whose removal is held claims nothing of the time of a clock that was ahead (fault 207)", async () => {
  const gone = Array.from({ length: 8 }, (_, at) => library("carol", `Gone ${at}`, { scenarios: [1] }));
  const { database, service, runAt, call, setDatabaseClock } = await organization([fire, water, ...gone]);
  const freshness = (name: string) =>
    database.query(
      `SELECT complete_as_of, last_listed_at, last_read_at, failures FROM simcat_report.library_freshness WHERE library_name = $1`,
      [name],
    );
  const whole = () =>
    database.query("SELECT complete_as_of, libraries_behind::int FROM simcat_report.data_complete_as_of");
  const between = (from: string, to: string) =>
    expect.toSatisfy((at: Date) => at >= new Date(from) && at < new Date(to), `between ${from} and ${to}`);
  await runAt("2026-03-02T08:00:00Z", "sync");
  const second = between("2026-03-02T08:00:00Z", "2026-03-02T08:10:00Z");
  await setDatabaseClock("2126-04-11T08:00:00Z");
  for (const { name } of gone) service.remove("carol", name);
  service.change("alice", "Fire", { lastModified: "2026-03-02 at 8:30 AM", scenarios: [scenario(1), scenario(4)] });
  expect((await call(["sync"])).code).toBe(3);
  service.script([{ match: { library: "Fire" }, times: "always", action: { kind: "status", status: 500 } }]);

  for (const day of ["2026-03-03", "2026-03-04"]) {
    await runAt(`${day}T08:00:00Z`, "sync", 3);
  }

  const last = between("2026-03-04T08:00:00Z", "2026-03-04T08:10:00Z");
  expect(await freshness("Water")).toMatchObject([{ complete_as_of: last, last_listed_at: last }]);
  expect(await freshness("Fire")).toEqual([
    { complete_as_of: second, last_listed_at: last, last_read_at: second, failures: 2 },
  ]);
  expect(await freshness("Gone 0")).toMatchObject([{ complete_as_of: second, last_listed_at: second }]);
  expect(await whole()).toEqual([{ complete_as_of: second, libraries_behind: 9 }]);
});

test("content of a clock that was ahead from the start is complete as of no known time (fault 374)", async () => {
  const { database, service, call, setClock, setDatabaseClock } = await organization([fire, water]);
  await setDatabaseClock("2126-04-11T08:00:00Z");
  await call(["sync"]);
  service.always({ library: "Fire" }, status(500));
  await setClock("2026-03-03T08:00:00Z");
  await call(["sync"]);
  expect(await database.lines("SELECT complete_as_of FROM simcat_report.data_complete_as_of")).toEqual(["NULL"]);
});
