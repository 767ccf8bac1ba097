import { beforeEach, describe, expect, test } from "vitest";
import { useTestDatabase } from "../support/database.ts";
import { type Fixture, fixture } from "../support/fixture.ts";
import type { MockScenario } from "../support/mock/library.ts";
import { library, scenario } from "../support/organization.ts";
import { addRows, day, emptyTables } from "./stored-rows.ts";

const database = useTestDatabase();

beforeEach(async () => {
  await emptyTables(database());
});

const DAY = 86_400_000;

describe("work_state", () => {
  test.each([
    ["NULL", "unknown"],
    ["now() + interval '1 day 1 minute'", "unknown"],
    ["now() + interval '1 day'", "active"],
    ["now()", "active"],
    ["now() - interval '30 days'", "active"],
    ["now() - interval '30 days 1 second'", "quiet"],
    ["now() - interval '90 days'", "quiet"],
    ["now() - interval '90 days 1 second'", "stale"],
    ["'-infinity'", "stale"],
    ["'infinity'", "unknown"],
  ])("of %s is %s", async (moment, state) => {
    expect(await database().query(`SELECT simcat_report.work_state(${moment}) AS state`)).toEqual([{ state }]);
  });
});

/** Adds the library `forest` with these dates, and reads what the view says about its last work. */
async function lastWork(own: Date | null, newest: Date | null): Promise<unknown> {
  await emptyTables(database());
  await addRows(database(), "libraries", [{ library_name: "forest", last_modified: "text", last_modified_at: own }]);
  const kept = { scenario_count: 3, result_count: 1, last_scenario_at: newest, last_scenario_id: newest && 7 };
  await addRows(database(), "library_sync", [{ library_name: "forest", ...kept }]);
  const [row] = await database().query<Record<string, unknown>>(
    "SELECT last_work_at, last_work_scenario_id AS id, work_state FROM simcat_report.libraries",
  );
  return row;
}

describe("a library's last work", () => {
  const today = new Date();
  const ago = (days: number) => new Date(today.getTime() - days * DAY);

  test("is the newest of its own date and its newest scenario's, and says which", async () => {
    const [old, recent] = [ago(100), ago(50)];
    expect(await lastWork(old, recent)).toEqual({ last_work_at: recent, id: "7", work_state: "quiet" });
    expect(await lastWork(recent, old)).toEqual({ last_work_at: recent, id: null, work_state: "quiet" });
    expect(await lastWork(recent, recent)).toEqual({ last_work_at: recent, id: "7", work_state: "quiet" });
    expect(await lastWork(old, null)).toEqual({ last_work_at: old, id: null, work_state: "stale" });
    expect(await lastWork(null, old)).toEqual({ last_work_at: old, id: "7", work_state: "stale" });
    expect(await lastWork(null, null)).toEqual({ last_work_at: null, id: null, work_state: "unknown" });
  });

  test("is no date that is more than a day in the future (fault 128)", async () => {
    const [recent, soon, later] = [ago(10), ago(-0.5), ago(-2)];
    expect(await lastWork(later, recent)).toEqual({ last_work_at: recent, id: "7", work_state: "active" });
    expect(await lastWork(soon, recent)).toEqual({ last_work_at: soon, id: null, work_state: "active" });
    expect(await lastWork(later, null)).toEqual({ last_work_at: null, id: null, work_state: "unknown" });
  });
});

test("a library shows its counts, and what of it is owed, rejected, not understood, and complete as of when", async () => {
  await addRows(database(), "sync_runs", [{ id: 1, started_at: day(5), finished_at: day(6) }]);
  await addRows(database(), "libraries", [
    { library_name: "forest", last_modified: "soon", file_size: "large", owner: "ann" },
    { library_name: "lake", last_modified: "", file_size: null },
    { library_name: "unread", file_size: "small" },
  ]);
  const read = { content_read_at: day(3), last_success_at: day(3), suspect_reads: 0, failures: 0 };
  await addRows(database(), "library_sync", [
    { library_name: "forest", ...read, scenario_count: 5, result_count: 2, reread_reason: "rejects" },
    { library_name: "lake", ...read, scenario_count: 0, result_count: 0 },
  ]);
  await addRows(database(), "rejects", [
    { library_name: "forest", owner: "ann" },
    { library_name: "forest", owner: "ann" },
    { library_name: "forest", owner: "ann", resolved_at: day(2) },
  ]);
  expect(
    await database().query(
      `SELECT library_name, scenario_count, result_count, parent_count, complete_as_of, reread_reason, open_rejects,
         unparsed_fields FROM simcat_report.libraries ORDER BY library_name`,
    ),
  ).toEqual([
    {
      ...{ library_name: "forest", scenario_count: "5", result_count: "2", parent_count: "3" },
      ...{ complete_as_of: day(3), reread_reason: "rejects", open_rejects: "2" },
      unparsed_fields: "last_modified,file_size",
    },
    {
      ...{ library_name: "lake", scenario_count: "0", result_count: "0", parent_count: "0" },
      ...{ complete_as_of: day(3), reread_reason: null, open_rejects: "0", unparsed_fields: null },
    },
    {
      ...{ library_name: "unread", scenario_count: "0", result_count: "0", parent_count: "0" },
      ...{ complete_as_of: null, reread_reason: null, open_rejects: "0", unparsed_fields: "file_size" },
    },
  ]);
  const freshness = await database().query(
    "SELECT library_name, complete_as_of FROM simcat_report.library_freshness ORDER BY library_name",
  );
  expect(freshness).toEqual([
    { library_name: "forest", complete_as_of: day(3) },
    { library_name: "lake", complete_as_of: day(3) },
  ]);
});

test("the number of libraries is read from the libraries only, and the counts without the scenarios", async () => {
  const tablesOf = async (query: string) => {
    const plan = await database().query<{ "QUERY PLAN": string }>(`EXPLAIN (ANALYZE, TIMING OFF) ${query}`);
    const nodes = plan.map((row) => row["QUERY PLAN"]).filter((node) => !node.includes("never executed"));
    return [...new Set(nodes.flatMap((node) => / on (\w+) /.exec(node)?.[1] ?? []))].sort();
  };
  await addRows(database(), "libraries", [{ library_name: "forest" }]);
  await addRows(database(), "library_sync", [{ library_name: "forest", scenario_count: 2, result_count: 1 }]);
  expect(await tablesOf("SELECT count(*) FROM simcat_report.libraries")).toEqual(["libraries"]);
  const work =
    "SELECT scenario_count, result_count, parent_count, last_work_at, work_state FROM simcat_report.libraries";
  expect(await tablesOf(work)).toEqual(["libraries", "library_sync"]);
});

test("libraries_as_of has the last work and its state of that time", async () => {
  const then = new Date("2026-03-01T00:00:00Z");
  await addRows(database(), "libraries", [{ library_name: "forest", last_modified_at: day(1) }]);
  await addRows(database(), "scenario_history", [
    { scenario_id: 1, last_modified_at: day(20), valid_from: day(21), valid_to: then, first_seen_at: day(21) },
    { scenario_id: 2, last_modified_at: day(20), valid_from: day(21), valid_to: then, first_seen_at: day(21) },
  ]);
  await addRows(database(), "scenarios", [
    { scenario_id: 1, last_modified_at: day(2), changed_at: then },
    { scenario_id: 2, last_modified_at: day(2), changed_at: then, removed_at: then },
  ]);
  const at = (moment: string) =>
    database().query(
      `SELECT parent_count, last_work_at, last_work_scenario_id AS id, work_state, open_rejects
       FROM simcat_report.libraries_as_of('${moment}')`,
    );
  const common = { open_rejects: null };
  expect(await at("2026-01-10Z")).toEqual([
    { ...common, parent_count: "0", last_work_at: day(1), id: null, work_state: "active" },
  ]);
  expect(await at("2026-02-28Z")).toEqual([
    { ...common, parent_count: "2", last_work_at: day(20), id: "2", work_state: "quiet" },
  ]);
  expect(await at("2026-06-01Z")).toEqual([
    { ...common, parent_count: "1", last_work_at: day(2), id: "1", work_state: "stale" },
  ]);
});

const dated = (id: number, lastModified: string | null): MockScenario => scenario(id, { lastModified });
const LIST = [dated(1, "2024-05-01 at 1:00 PM"), dated(2, "2024-05-03 at 1:00 PM"), dated(3, "2024-05-03 at 1:00 PM")];

/** Changes the list of `Lake` and its date, and syncs. @returns the exit code and the last work of the library, by day */
async function put(made: Fixture, at: number, scenarios: readonly MockScenario[], args: readonly string[] = []) {
  made.service.change("ann", "Lake", { lastModified: `2023-01-${String(at).padStart(2, "0")}`, scenarios });
  const { code } = await made.call(["sync", ...args]);
  return { code, ...(await read(made)) };
}

async function read({ query }: Fixture): Promise<{ work: string | null }> {
  const [row] = await query<{ work: string | null }>(
    `SELECT to_char(last_work_at AT TIME ZONE 'UTC', 'YYYY-MM-DD') || coalesce(' #' || last_work_scenario_id, '') AS work
     FROM simcat_report.libraries WHERE library_name = 'Lake'`,
  );
  return { work: row?.work ?? null };
}

test("the last work follows edits, removals, returns, rejects, dates in the future, and a list that shrank", async () => {
  const unusable = [dated(4, "2099-01-01"), dated(5, "soon")];
  const first = library("ann", "Lake", { lastModified: "2023-01-01", scenarios: [...LIST, ...unusable] });
  const made = await fixture([first]);
  await made.call(["backfill"]);
  expect(await read(made)).toEqual({ work: "2024-05-03 #3" });

  expect(await put(made, 2, LIST.slice(0, 2))).toEqual({ code: 0, work: "2024-05-03 #2" });
  expect(await put(made, 3, [dated(1, "2024-06-01"), ...LIST.slice(1)])).toEqual({ code: 0, work: "2024-06-01 #1" });
  // The row of a scenario that cannot be stored stays, so its date does too.
  const bad = scenario(1, { source: '{"scenarioId":1,"isResult":"yes"}' });
  expect(await put(made, 4, [bad, ...LIST.slice(1)])).toEqual({ code: 2, work: "2024-06-01 #1" });
  expect(await put(made, 5, [])).toEqual({ code: 0, work: "2023-01-05" });

  const twelve = Array.from({ length: 12 }, (_, at) => dated(at + 1, `2024-07-${at + 10}`));
  expect(await put(made, 8, twelve)).toEqual({ code: 0, work: "2024-07-21 #12" });
  // A list that lost too much is not believed until a second read confirms it.
  expect(await put(made, 9, twelve.slice(0, 3))).toEqual({ code: 2, work: "2024-07-21 #12" });
  expect(await put(made, 9, twelve.slice(0, 3))).toEqual({ code: 0, work: "2024-07-12 #3" });

  made.service.remove("ann", "Lake");
  await made.call(["sync", "--allow-removals"]);
  expect(await read(made)).toEqual({ work: null });
  made.service.put(library("ann", "Lake", { lastModified: "2023-01-10", scenarios: twelve.slice(0, 2) }));
  await made.call(["sync"]);
  expect(await read(made)).toEqual({ work: "2024-07-11 #2" });
  expect((await made.simcat(["prune", "--older-than", "1ms"])).code).toBe(0);
  expect(await read(made)).toEqual({ work: "2024-07-11 #2" });
  expect(await made.query("SELECT scenario_id::int AS id FROM simcat.scenarios ORDER BY 1")).toEqual([
    { id: 1 },
    { id: 2 },
  ]);
});
