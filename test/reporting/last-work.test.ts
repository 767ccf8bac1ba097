import { expect, test } from "vitest";
import { type Fixture, fixture } from "../support/fixture.ts";
import type { MockScenario } from "../support/mock/library.ts";
import { library, scenario } from "../support/organization.ts";
import { day, lifeOf, mergeRows, type Step, useStoredRows } from "./stored-rows.ts";

const { add, query, queryLists, tablesRead } = useStoredRows();

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

const dated = (id: number, lastModified: string | null, parentId: number | null = null): MockScenario =>
  scenario(id, { lastModified, parentId });
const LIST = [
  dated(1, "2024-05-01 at 1:00 PM"),
  dated(2, "2024-05-03 at 1:00 PM", 1),
  dated(3, "2024-05-03 at 1:00 PM", 1),
];

/** The exit code of a run, the last work of `Lake`, and its live scenarios and results. */
async function run({ call, query }: Fixture, ...args: readonly string[]): Promise<string> {
  const { code } = await call(args);
  const [row] = await query<{ work: string | null; results: number }>(
    `SELECT to_char(last_work_at AT TIME ZONE 'UTC', 'YYYY-MM-DD') || coalesce(' #' || last_work_scenario_id, '') AS work,
       result_count::int AS results
     FROM simcat_report.libraries WHERE library_name = 'Lake'`,
  );
  const { scenarios } = JSON.parse((await call(["status", "--json"])).stdout);
  return `${code}: ${row?.work}, ${scenarios.live} live, ${row?.results} results`;
}

test("last work and counts follow edits, removals, returns, flags, rejects and lists that shrank", async () => {
  const unusable = [dated(4, "2099-01-01"), dated(5, "soon")];
  const made = await fixture([
    library("ann", "Lake", { lastModified: "2023-01-01", scenarios: [...LIST, ...unusable] }),
  ]);
  expect(await run(made, "backfill")).toBe("0: 2024-05-03 #3, 5 live, 2 results");
  const put = (at: number, scenarios: readonly MockScenario[]) => {
    made.service.change("ann", "Lake", { lastModified: `2023-01-0${at}`, scenarios });
    return run(made, "sync");
  };

  expect(await put(2, LIST.slice(0, 2))).toBe("0: 2024-05-03 #2, 2 live, 1 results");
  const edited = [dated(1, "2024-06-01"), ...LIST.slice(1)];
  expect(await put(3, edited)).toBe("0: 2024-06-01 #1, 3 live, 2 results");
  // The row of a scenario that cannot be stored stays, so its date does too.
  const bad = scenario(1, { source: '{"scenarioId":1,"isResult":"yes"}' });
  expect(await put(4, [bad, ...LIST.slice(1)])).toBe("2: 2024-06-01 #1, 3 live, 2 results");
  expect(await put(5, [dated(2, "2024-05-03 at 1:00 PM")])).toBe("0: 2024-05-03 #2, 1 live, 0 results");
  expect(await put(6, [])).toBe("0: 2023-01-06, 0 live, 0 results");

  const twelve = Array.from({ length: 12 }, (_, at) => dated(at + 1, `2024-07-${at + 10}`, at > 0 ? 1 : null));
  expect(await put(8, twelve)).toBe("0: 2024-07-21 #12, 12 live, 11 results");
  // A list that lost too much is not believed until a second read confirms it.
  expect(await put(9, twelve.slice(0, 3))).toBe("2: 2024-07-21 #12, 12 live, 11 results");
  expect(await put(9, twelve.slice(0, 3))).toBe("0: 2024-07-12 #3, 3 live, 2 results");

  made.service.remove("ann", "Lake");
  expect(await run(made, "sync", "--allow-removals")).toBe("0: undefined, 0 live, undefined results");
  made.service.put(library("ann", "Lake", { lastModified: "2023-01-10", scenarios: twelve.slice(0, 2) }));
  expect(await run(made, "sync")).toBe("0: 2024-07-11 #2, 2 live, 1 results");
  expect(await run(made, "prune", "--older-than", "1ms")).toBe("0: 2024-07-11 #2, 2 live, 1 results");
  expect(await made.query("SELECT scenario_id::int AS id FROM simcat.scenarios ORDER BY 1")).toEqual([
    { id: 1 },
    { id: 2 },
  ]);
});
