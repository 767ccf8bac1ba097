import { expect, test } from "vitest";
import { AWKWARD_NAMES } from "../support/organization.ts";
import { day, useStoredRows } from "./stored-rows.ts";

const { add, query, queryLists } = useStoredRows();

test("libraries and scenarios show those that are live, and take a parentId of 0 for none", async () => {
  const forest = {
    library_name: "forest",
    library_owner: "Ann's organization",
    package_name: "stsim",
    package_version: "4.2.0",
    description: "Trees",
    last_modified: "2025-12-24 at 6:30 PM",
    last_modified_at: new Date("2025-12-24T18:30:00Z"),
    file_size: "2 KB",
    listed: { libraryName: "forest" },
    metadata: { packageName: "stsim" },
  };
  await add({
    libraries: [
      { ...forest, file_size_bytes: 2048 },
      { library_name: "gone", changed_at: day(5), removed_at: day(5) },
    ],
    scenarios: [
      { scenario_id: 1, scenario_name: "Snow", is_result: false, parent_id: 0, raw: { scenarioId: 1 } },
      { scenario_id: 2, removed_at: day(3), changed_at: day(3) },
      { scenario_id: 1, library_name: "gone" },
    ],
    library_sync: [{ library_name: "forest", scenario_count: 1, result_count: 0 }],
  });
  const versions = { first_seen_at: day(1), changed_at: day(1), run_id: "1" };
  const counts = { scenario_count: "1", result_count: "0", parent_count: "1", open_rejects: "0" };
  const unknown = { last_work_scenario_id: null, complete_as_of: null, reread_reason: null, unparsed_fields: null };
  const work = { last_work_at: forest.last_modified_at, work_state: "stale" };
  expect(await query("SELECT * FROM simcat_report.libraries")).toEqual([
    { owner: "ann", ...forest, file_size_bytes: "2048", ...versions, ...counts, ...unknown, ...work },
  ]);
  const key = { owner: "ann", library_name: "forest", scenario_id: "1" };
  const empty = { parent_id: null, last_modified: null, last_modified_at: null, description: null };
  const derived = { counts_as_result: false, unparsed_fields: null, library_complete_as_of: null };
  expect(await query("SELECT * FROM simcat_report.scenarios")).toEqual([
    { ...key, scenario_name: "Snow", is_result: false, raw: { scenarioId: 1 }, ...empty, ...versions, ...derived },
  ]);
});

test("without bookkeeping, the counts of a library are those of its live scenarios", async () => {
  await add({
    libraries: [{ library_name: "forest" }],
    scenarios: [
      { scenario_id: 1, is_result: false, parent_id: 0 },
      { scenario_id: 2, is_result: true, parent_id: 1 },
      { scenario_id: 3, is_result: null, parent_id: 1 },
      { scenario_id: 4, is_result: null, parent_id: 0 },
      { scenario_id: 5, is_result: true, parent_id: 1, removed_at: day(3), changed_at: day(3) },
    ],
  });
  expect(await query("SELECT scenario_count, result_count, parent_count FROM simcat_report.libraries")).toEqual([
    { scenario_count: "4", result_count: "2", parent_count: "2" },
  ]);
});

test("removed has what vanished, and a library's scenarios with it", async () => {
  await add({
    libraries: [
      { library_name: "forest" },
      { library_name: "gone", changed_at: day(5), removed_at: day(5), run_id: 5 },
    ],
    scenarios: [
      { scenario_id: 1, scenario_name: "stays" },
      { scenario_id: 2, scenario_name: "deleted", removed_at: day(3), changed_at: day(3), run_id: 3 },
      { scenario_id: 1, library_name: "gone", scenario_name: "went along" },
      { scenario_id: 2, library_name: "gone", scenario_name: "went before", removed_at: day(4), run_id: 4 },
    ],
  });
  const rows = await query<{ row: string; at: Date }>(
    `SELECT concat_ws(' ', what, library_name, name, went_with_library, 'run', run_id) AS row, removed_at AS at
     FROM simcat_report.removed ORDER BY removed_at, what, scenario_id`,
  );
  expect(rows).toEqual([
    { row: "scenario forest deleted f run 3", at: day(3) },
    { row: "scenario gone went before f run 4", at: day(4) },
    { row: "library gone gone f run 5", at: day(5) },
    { row: "scenario gone went along t run 5", at: day(5) },
  ]);
});

test("names are returned byte for byte", async () => {
  const key = (name: string) => ({ owner: name, library_name: name });
  await add({
    libraries: AWKWARD_NAMES.map((name) => ({ ...key(name), package_name: name, package_version: name })),
    scenarios: AWKWARD_NAMES.map((name) => ({ ...key(name), scenario_id: 1, scenario_name: name })),
  });
  const rows = await query(
    `SELECT l.owner, l.library_name, s.scenario_name, t.scenario_name AS in_tree, v.newest_version, a.library_name AS as_of_now
     FROM simcat_report.libraries l
     JOIN simcat_report.scenarios s USING (owner, library_name)
     JOIN simcat_report.package_versions v ON v.package_name = l.package_name
     JOIN simcat_report.libraries_as_of(now()) a USING (owner, library_name)
     CROSS JOIN LATERAL simcat_report.scenario_tree(l.owner, l.library_name) t ORDER BY array_position($1, l.owner)`,
    [AWKWARD_NAMES],
  );
  const same = (name: string) => ({ ...key(name), scenario_name: name, in_tree: name, as_of_now: name });
  expect(rows).toEqual(AWKWARD_NAMES.map((name) => ({ ...same(name), newest_version: name })));
});

test("owner_storage sums what could be read and counts what could not (fault 129)", async () => {
  await add({
    libraries: [
      { library_name: "a", file_size: "2 KB", file_size_bytes: 2048 },
      { library_name: "b", file_size: "large" },
      { library_name: "c" },
      { library_name: "gone", file_size_bytes: 1, removed_at: day(2), changed_at: day(2) },
      { owner: "bob", library_name: "d", file_size_bytes: "9000000000000000000" },
      { owner: "bob", library_name: "e", file_size_bytes: "9000000000000000000" },
      { owner: "cleo", library_name: "f" },
      { owner: "dan", library_name: "gone", file_size_bytes: 1, removed_at: day(2), changed_at: day(2) },
    ],
  });
  const columns = "owner, libraries, bytes, sizes_unread, total_bytes";
  expect(await queryLists(`SELECT ${columns} FROM simcat_report.owner_storage ORDER BY owner`)).toEqual([
    ["ann", "3", "2048", "2", "2048"],
    // The sum exceeds a bigint.
    ["bob", "2", "18000000000000000000", "0", "9223372036854775807"],
    ["cleo", "1", "0", "1", "0"],
  ]);
});

test("stale_libraries has the longest unchanged first, counts whole days, and puts each into its bucket", async () => {
  await query(
    `INSERT INTO simcat.libraries (owner, library_name, last_modified_at, removed_at, first_seen_at, changed_at, run_id)
     SELECT 'ann', coalesce(hours::text, 'none'), now() - hours * interval '1 hour', CASE hours WHEN 9000 THEN now() END, now(), now(), 1
     FROM unnest(ARRAY[-25, -12, 23, 24, 719, 720, 2159, 2160, 8759, 8760, 9000, NULL]) AS hours`,
  );
  const rows = await query<{ row: string }>(
    "SELECT concat_ws(' ', library_name, '=', days_since_modified, bucket) AS row FROM simcat_report.stale_libraries",
  );
  expect(rows.map(({ row }) => row)).toEqual([
    "8760 = 365 over a year",
    "8759 = 364 90 to 365 days",
    "2160 = 90 90 to 365 days",
    "2159 = 89 30 to 90 days",
    "720 = 30 30 to 90 days",
    "719 = 29 under 30 days",
    "24 = 1 under 30 days",
    "23 = 0 under 30 days",
    "-12 = -1 under 30 days",
    "-25 = -2 in the future",
    "none = no date",
  ]);
});
