import { beforeEach, expect, test } from "vitest";
import { useTestDatabase } from "../support/database.ts";
import { addRows, day, emptyTables } from "./stored-rows.ts";

const database = useTestDatabase();

beforeEach(async () => {
  await emptyTables(database());
});

test("libraries shows the live ones with what their metadata says and how many live scenarios they have", async () => {
  await addRows(database(), "libraries", [
    {
      library_name: "forest",
      library_owner: "Ann's organization",
      package_name: "stsim",
      package_version: "4.2.0",
      description: "Trees",
      last_modified: "2025-12-24 at 6:30 PM",
      last_modified_at: "2025-12-24T18:30:00Z",
      file_size: "2 KB",
      file_size_bytes: 2048,
      listed: { libraryName: "forest" },
      metadata: { packageName: "stsim" },
    },
    { library_name: "gone", changed_at: day(5), removed_at: day(5) },
  ]);
  await addRows(database(), "scenarios", [
    { scenario_id: 1, is_result: false, parent_id: 0 },
    { scenario_id: 2, is_result: true, parent_id: 1 },
    { scenario_id: 3, is_result: null, parent_id: 1 },
    { scenario_id: 4, is_result: null, parent_id: 0 },
    { scenario_id: 5, is_result: true, parent_id: 1, removed_at: day(3), changed_at: day(3) },
    { scenario_id: 1, library_name: "gone", is_result: false },
  ]);
  expect(await database().query("SELECT * FROM simcat_report.libraries")).toEqual([
    {
      owner: "ann",
      library_name: "forest",
      library_owner: "Ann's organization",
      package_name: "stsim",
      package_version: "4.2.0",
      description: "Trees",
      last_modified: "2025-12-24 at 6:30 PM",
      last_modified_at: new Date("2025-12-24T18:30:00Z"),
      file_size: "2 KB",
      file_size_bytes: "2048",
      scenario_count: "4",
      result_count: "2",
      first_seen_at: day(1),
      changed_at: day(1),
      run_id: "1",
      listed: { libraryName: "forest" },
      metadata: { packageName: "stsim" },
      parent_count: "2",
      last_work_at: new Date("2025-12-24T18:30:00Z"),
      last_work_scenario_id: null,
      work_state: "stale",
      complete_as_of: null,
      reread_reason: null,
      open_rejects: "0",
      unparsed_fields: null,
    },
  ]);
});

test("scenarios shows those that are live in a live library, and takes a parentId of 0 for none", async () => {
  await addRows(database(), "libraries", [
    { library_name: "forest" },
    { library_name: "gone", changed_at: day(5), removed_at: day(5) },
  ]);
  await addRows(database(), "scenarios", [
    { scenario_id: 1, scenario_name: "Snow", is_result: false, parent_id: 0, raw: { scenarioId: 1 } },
    { scenario_id: 2, removed_at: day(3), changed_at: day(3) },
    { scenario_id: 1, library_name: "gone" },
  ]);
  expect(await database().query("SELECT * FROM simcat_report.scenarios")).toEqual([
    {
      owner: "ann",
      library_name: "forest",
      scenario_id: "1",
      scenario_name: "Snow",
      is_result: false,
      parent_id: null,
      last_modified: null,
      last_modified_at: null,
      description: null,
      first_seen_at: day(1),
      changed_at: day(1),
      run_id: "1",
      raw: { scenarioId: 1 },
      counts_as_result: false,
      unparsed_fields: null,
      library_complete_as_of: null,
    },
  ]);
});

test("removed has what vanished, and a library's scenarios with it", async () => {
  await addRows(database(), "libraries", [
    { library_name: "forest" },
    { library_name: "gone", changed_at: day(5), removed_at: day(5), run_id: 5 },
  ]);
  await addRows(database(), "scenarios", [
    { scenario_id: 1, scenario_name: "stays" },
    { scenario_id: 2, scenario_name: "deleted", removed_at: day(3), changed_at: day(3), run_id: 3 },
    { scenario_id: 1, library_name: "gone", scenario_name: "went along" },
    { scenario_id: 2, library_name: "gone", scenario_name: "went before", removed_at: day(4), run_id: 4 },
  ]);
  const rows = await database().query(
    `SELECT what, library_name, name, went_with_library, removed_at, run_id FROM simcat_report.removed
     ORDER BY removed_at, what, scenario_id`,
  );
  const row = (what: string, library: string, name: string, along: boolean, at: number) => ({
    what,
    library_name: library,
    name,
    went_with_library: along,
    removed_at: day(at),
    run_id: String(at),
  });
  expect(rows).toEqual([
    row("scenario", "forest", "deleted", false, 3),
    row("scenario", "gone", "went before", false, 4),
    row("library", "gone", "gone", false, 5),
    row("scenario", "gone", "went along", true, 5),
  ]);
});

test("names are returned byte for byte", async () => {
  const names = [
    "O'Brien; DROP TABLE libraries;--",
    "Q1/Q2 50% done #3?x=1&y=2",
    "%2e%2e",
    " lead",
    "trail ",
    "🌲🔥 burn 👩‍🔬",
    "مكتبة ١",
    "name\nERROR fake log line",
    '=HYPERLINK("http://x","y")',
    "<img src=x onerror=alert(1)>",
    "back\\slash \\x41",
  ];
  await addRows(
    database(),
    "libraries",
    names.map((name) => ({ owner: name, library_name: name, package_name: name, package_version: name })),
  );
  await addRows(
    database(),
    "scenarios",
    names.map((name) => ({ owner: name, library_name: name, scenario_id: 1, scenario_name: name })),
  );
  for (const name of names) {
    const [row] = await database().query(
      `SELECT l.owner, l.library_name, s.scenario_name, t.scenario_name AS in_tree, v.newest_version, a.library_name AS as_of_now
       FROM simcat_report.libraries l
       JOIN simcat_report.scenarios s USING (owner, library_name)
       JOIN simcat_report.package_versions v ON v.package_name = l.package_name
       JOIN simcat_report.libraries_as_of(now()) a USING (owner, library_name)
       CROSS JOIN LATERAL simcat_report.scenario_tree(l.owner, l.library_name) t
       WHERE l.owner = $1 AND l.library_name = $1`,
      [name],
    );
    expect(row).toEqual({
      owner: name,
      library_name: name,
      scenario_name: name,
      in_tree: name,
      newest_version: name,
      as_of_now: name,
    });
  }
});

test("owner_storage sums what could be read and counts what could not (fault 129)", async () => {
  await addRows(database(), "libraries", [
    { library_name: "a", file_size: "2 KB", file_size_bytes: 2048 },
    { library_name: "b", file_size: "large" },
    { library_name: "c" },
    { library_name: "gone", file_size_bytes: 1, removed_at: day(2), changed_at: day(2) },
    { owner: "bob", library_name: "d", file_size_bytes: "9000000000000000000" },
    { owner: "bob", library_name: "e", file_size_bytes: "9000000000000000000" },
    { owner: "cleo", library_name: "f" },
    { owner: "dan", library_name: "gone", file_size_bytes: 1, removed_at: day(2), changed_at: day(2) },
  ]);
  expect(await database().query("SELECT * FROM simcat_report.owner_storage ORDER BY owner")).toEqual([
    { owner: "ann", libraries: "3", bytes: "2048", sizes_unread: "2", total_bytes: "2048" },
    // The sum exceeds a bigint.
    {
      owner: "bob",
      libraries: "2",
      bytes: "18000000000000000000",
      sizes_unread: "0",
      total_bytes: "9223372036854775807",
    },
    { owner: "cleo", libraries: "1", bytes: "0", sizes_unread: "1", total_bytes: "0" },
  ]);
});

test("stale_libraries has the longest unchanged first and counts whole days", async () => {
  const ago = (interval: string) =>
    database()
      .query<{ at: Date }>("SELECT now() - $1::interval AS at", [interval])
      .then(([row]) => row?.at);
  await addRows(database(), "libraries", [
    { library_name: "no date", last_modified: "soon" },
    { library_name: "under a day", last_modified_at: await ago("23:59:00") },
    { library_name: "a day", last_modified_at: await ago("24:00:01") },
    { library_name: "old", last_modified_at: await ago("400 days") },
    { library_name: "tomorrow", last_modified_at: await ago("-12 hours") },
    { library_name: "gone", last_modified_at: await ago("500 days"), removed_at: day(2) },
  ]);
  const rows = await database().query<{ library_name: string; days_since_modified: string | null }>(
    "SELECT library_name, days_since_modified FROM simcat_report.stale_libraries",
  );
  expect(rows.map((row) => [row.library_name, row.days_since_modified])).toEqual([
    ["old", "400"],
    ["a day", "1"],
    ["under a day", "0"],
    ["tomorrow", "-1"],
    ["no date", null],
  ]);
});

test("the bucket of stale_libraries begins with its first day and ends before its last", async () => {
  await database().query(
    `INSERT INTO simcat.libraries (owner, library_name, last_modified_at, first_seen_at, changed_at, run_id)
     SELECT 'ann', hours::text, now() - hours * interval '1 hour', now(), now(), 1
     FROM unnest(ARRAY[-25, -23, 0, 719, 721, 2159, 2161, 8759, 8761]) AS hours
     UNION ALL SELECT 'ann', 'none', NULL, now(), now(), 1`,
  );
  expect(
    await database().query(
      "SELECT bucket, count(*)::int AS rows FROM simcat_report.stale_libraries GROUP BY 1 ORDER BY 1",
    ),
  ).toEqual([
    { bucket: "30 to 90 days", rows: 2 },
    { bucket: "90 to 365 days", rows: 2 },
    { bucket: "in the future", rows: 1 },
    { bucket: "no date", rows: 1 },
    { bucket: "over a year", rows: 1 },
    { bucket: "under 30 days", rows: 3 },
  ]);
});
