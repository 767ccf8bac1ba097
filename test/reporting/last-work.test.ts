import { expect, test } from "vitest";
import { inUndone } from "../support/database.ts";
import { day, lifeOf, mergeRows, type Step, useStoredRows } from "./stored-rows.ts";

const { add, database, query, queryLists, tablesRead } = useStoredRows();

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
])("work_state of %s is %s", async (moment, state) => {
  expect(await query(`SELECT simcat_report.work_state(${moment}) AS state`)).toEqual([{ state }]);
});

test("the work state, of now or of the past, is the same in each session's time zone (fault 245)", async () => {
  const hours = (n: number) => new Date(NOW - n * 3_600_000);
  const worked = { library_name: "forest", last_modified: "text", last_modified_at: hours(50 * 24 - 0.5) };
  await add({
    sync_runs: [{ id: 1, started_at: hours(60 * 24), finished_at: hours(60 * 24) }],
    libraries: [{ ...worked, first_seen_at: hours(61 * 24), changed_at: hours(61 * 24) }],
    snapshot_days: [{ day: "2026-01-01", run_id: 1, taken_at: hours(20 * 24) }],
    library_days: [
      { owner: "ann", library_name: "forest", live: true, from_day: "2026-01-01", last_work_at: hours(50 * 24 - 0.5) },
    ],
  });
  // Clocks were put forward 40 days ago.
  const start = Math.ceil((hours(40 * 24).getTime() - Date.UTC(hours(40 * 24).getUTCFullYear(), 0, 0)) / 86_400_000);
  const zone = `STD0DST,J${start},J${((start + 99) % 365) + 1}`;
  await inUndone(database(), `SET LOCAL timezone = '${zone}'`, async (client) => {
    const { rows } = await client.query(
      `SELECT simcat_report.work_state(now() - interval '2159.5 hours') AS now,
        (SELECT work_state FROM simcat_report.daily_libraries) AS day,
        (SELECT work_state FROM simcat_report.libraries_as_of(now() - interval '480 hours')) AS moment`,
    );
    expect(rows).toEqual([{ now: "quiet", day: "active", moment: "active" }]);
  });
});

/** That number of days before now. */
const ago = (days: number | null) => (days === null ? null : new Date(NOW - days * 86_400_000));
const NOW = Date.now();

test.each([
  { own: 100, newest: 50, last: 50, id: "7", state: "quiet" },
  { own: 50, newest: 100, last: 50, id: null, state: "quiet" },
  { own: 50, newest: 50, last: 50, id: "7", state: "quiet" },
  { own: 100, newest: null, last: 100, id: null, state: "stale" },
  { own: null, newest: 100, last: 100, id: "7", state: "stale" },
  { own: null, newest: null, last: null, id: null, state: "unknown" },
  // A date more than a day in the future is none.
  { own: -2, newest: 10, last: 10, id: "7", state: "active" },
  { own: -0.5, newest: 10, last: -0.5, id: null, state: "active" },
  { own: -2, newest: null, last: null, id: null, state: "unknown" },
])(
  "the last work is the newest of a library's own date and its newest scenario's: $own and $newest days ago (fault 128)",
  async ({ own, newest, last, id, state }) => {
    const kept = { scenario_count: 3, result_count: 1, last_scenario_at: ago(newest), last_scenario_id: newest && 7 };
    await add({
      libraries: [{ library_name: "forest", last_modified: "text", last_modified_at: ago(own) }],
      library_sync: [{ library_name: "forest", ...kept }],
    });
    expect(
      await query("SELECT last_work_at, last_work_scenario_id AS id, work_state AS state FROM simcat_report.libraries"),
    ).toEqual([{ last_work_at: ago(last), id, state }]);
  },
);

test("a library shows its counts, and what of it is owed, rejected, not understood, and complete as of when", async () => {
  const read = { content_read_at: day(3), last_success_at: day(3) };
  await add({
    sync_runs: [{ id: 1, started_at: day(5), finished_at: day(6) }],
    libraries: [
      { library_name: "forest", last_modified: "soon", file_size: "large" },
      { library_name: "lake", last_modified: "", file_size: null },
      { library_name: "unread", file_size: "small" },
    ],
    library_sync: [
      { library_name: "forest", ...read, scenario_count: 5, result_count: 2, reread_reason: "rejects" },
      { library_name: "lake", ...read, scenario_count: 0, result_count: 0 },
    ],
    rejects: [
      { library_name: "forest", owner: "ann" },
      { library_name: "forest", owner: "ann" },
      { library_name: "forest", owner: "ann", resolved_at: day(2) },
    ],
  });
  const rows = await queryLists(
    `SELECT library_name, scenario_count::int, result_count::int, parent_count::int, complete_as_of, reread_reason,
       open_rejects::int, unparsed_fields FROM simcat_report.libraries ORDER BY library_name`,
  );
  expect(rows).toEqual([
    ["forest", 5, 2, 3, day(3), "rejects", 2, "last_modified,file_size"],
    ["lake", 0, 0, 0, day(3), null, 0, null],
    ["unread", 0, 0, 0, null, null, 0, "file_size"],
  ]);
  const freshness = await query(
    "SELECT library_name, complete_as_of FROM simcat_report.library_freshness ORDER BY library_name",
  );
  expect(freshness).toEqual([
    { library_name: "forest", complete_as_of: day(3) },
    { library_name: "lake", complete_as_of: day(3) },
  ]);
});

test.each([
  ["count(*)", ["libraries"]],
  ["scenario_count, result_count, parent_count, last_work_at, work_state", ["libraries", "library_sync"]],
])("to know %s of libraries, no other table is read than needed", async (columns, tables) => {
  await add({
    libraries: [{ library_name: "forest" }],
    library_sync: [{ library_name: "forest", scenario_count: 2, result_count: 1 }],
  });
  const options = "(ANALYZE, TIMING OFF)";
  expect(await tablesRead(`SELECT ${columns} FROM simcat_report.libraries`, options)).toEqual(tables);
});

test("libraries_as_of has the last work and its state of that time", async () => {
  const then = new Date("2026-03-01T00:00:00Z");
  const steps: Step[] = [
    [day(21), { last_modified_at: day(20) }],
    [then, { last_modified_at: day(2) }],
  ];
  await add(
    mergeRows([
      {
        libraries: [{ library_name: "forest", last_modified_at: day(1) }],
        sync_runs: [{ id: 1, started_at: day(1), finished_at: day(1) }],
      },
      lifeOf("scenario", { scenario_id: 1 }, steps),
      lifeOf("scenario", { scenario_id: 2 }, [...steps.slice(0, 1), [then, null]]),
    ]),
  );
  const at = (moment: string) =>
    queryLists(
      `SELECT parent_count::int, last_work_at, last_work_scenario_id::int, work_state, open_rejects
       FROM simcat_report.libraries_as_of('${moment}')`,
    );
  expect(await at("2026-01-10Z")).toEqual([[0, day(1), null, "active", null]]);
  expect(await at("2026-02-28Z")).toEqual([[2, day(20), 2, "quiet", null]]);
  expect(await at("2026-06-01Z")).toEqual([[1, day(2), 1, "stale", null]]);
});

test("scenarios has counts_as_result, unparsed_fields and library_complete_as_of", async () => {
  await add({
    libraries: [{ library_name: "forest" }],
    scenarios: [
      { scenario_id: 1, is_result: false, last_modified: "soon", last_modified_at: day(1) },
      { scenario_id: 2, is_result: true },
      { scenario_id: 3, parent_id: 4, last_modified: "soon" },
      { scenario_id: 4, last_modified: "" },
    ],
    library_sync: [{ library_name: "forest", content_read_at: day(2), last_success_at: day(2) }],
  });
  const columns = "scenario_id::int, counts_as_result, unparsed_fields, library_complete_as_of";
  expect(await queryLists(`SELECT ${columns} FROM simcat_report.scenarios ORDER BY 1`)).toEqual([
    [1, false, null, day(2)],
    [2, true, null, day(2)],
    [3, true, "last_modified", day(2)],
    [4, false, null, day(2)],
  ]);
  expect(await queryLists(`SELECT ${columns} FROM simcat_report.scenarios_as_of(now()) WHERE scenario_id = 3`)).toEqual(
    [[3, true, "last_modified", null]],
  );
});
