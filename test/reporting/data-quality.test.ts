import { expect, test } from "vitest";
import { day, useStoredRows } from "./stored-rows.ts";

const { add, query, tablesRead } = useStoredRows();

/** Each problem with its item, its field with the value, its severity, and who can fix it. */
const problems = async () => {
  const rows = await query<Record<string, string | null>>(
    "SELECT * FROM simcat_report.data_quality ORDER BY problem, what, owner, library_name, scenario_id, detail",
  );
  return rows.map(({ problem, what, owner, library_name, scenario_id, field, value, severity, fix_by }) => {
    const item = `${what} ${owner}/${library_name}${scenario_id === null ? "" : `#${scenario_id}`}`;
    return `${problem}: ${item}, ${field} = ${value} (${severity}, ${fix_by})`;
  });
};

const good = { last_modified: "2025-12-24", last_modified_at: day(1) };
const gone = { removed_at: day(2), changed_at: day(2) };
const hoursAhead = (hours: number) => new Date(Date.now() + hours * 3_600_000);

test("libraries: dates, sizes, and names that differ only in case or are under two owners", async () => {
  await add({
    libraries: [
      { library_name: "Forêt", last_modified: "soon", file_size: "large" },
      { library_name: "FORÊT", last_modified: "" },
      { owner: "Ann", library_name: "forêt", ...good },
      { owner: "ann", library_name: "lake", last_modified: null },
      { owner: "bob", library_name: "Lake", ...good, file_size: "2 KB", file_size_bytes: 2048, metadata: { a: 1 } },
      { owner: "bob", library_name: "lake", ...good, metadata: {} },
      { library_name: "tomorrow", last_modified: "tomorrow", last_modified_at: hoursAhead(23) },
      { library_name: "later", last_modified: "later", last_modified_at: hoursAhead(25) },
      { library_name: "gone", last_modified: "soon", ...gone },
      { library_name: "LAKE", ...good, ...gone },
      { owner: "bob", library_name: "Forêt", ...good, ...gone },
    ],
  });
  expect(await problems()).toEqual([
    "date_not_understood: library ann/Forêt, last_modified = soon (warning, operator)",
    "future_date: library ann/later, last_modified = later (warning, service)",
    "name_under_two_owners: library ann/lake, library_name = lake (info, uploader)",
    "name_under_two_owners: library bob/lake, library_name = lake (info, uploader)",
    "names_differ_by_case: library Ann/forêt, library_name = null (warning, uploader)",
    "names_differ_by_case: library ann/FORÊT, library_name = null (warning, uploader)",
    "names_differ_by_case: library ann/Forêt, library_name = null (warning, uploader)",
    "names_differ_by_case: library bob/Lake, library_name = null (warning, uploader)",
    "names_differ_by_case: library bob/lake, library_name = null (warning, uploader)",
    "no_date: library ann/FORÊT, last_modified =  (warning, service)",
    "no_date: library ann/lake, last_modified = null (warning, service)",
    "no_size: library bob/lake, file_size = null (warning, service)",
    "size_not_understood: library ann/Forêt, file_size = large (warning, operator)",
  ]);
});

test("scenarios: dates, and results and parents that contradict each other", async () => {
  await add({
    libraries: [{ library_name: "forest", ...good }],
    scenarios: [
      { scenario_id: 1, is_result: false, last_modified: "soon" },
      { scenario_id: 2, is_result: true },
      { scenario_id: 3, is_result: true, parent_id: 0 },
      { scenario_id: 4, is_result: false, parent_id: 1 },
      { scenario_id: 5, is_result: true, parent_id: 99 },
      { scenario_id: 6, is_result: true, parent_id: 6 },
      { scenario_id: 7, last_modified: "tomorrow", last_modified_at: hoursAhead(23) },
      { scenario_id: 8, last_modified: "later", last_modified_at: hoursAhead(25) },
      { scenario_id: 9, is_result: true, parent_id: 1, ...good },
      { scenario_id: 10, is_result: null, parent_id: 9 },
      { scenario_id: 99, is_result: true, ...gone },
    ],
  });
  expect(await problems()).toEqual([
    "date_not_understood: scenario ann/forest#1, last_modified = soon (warning, operator)",
    "future_date: scenario ann/forest#8, last_modified = later (warning, uploader)",
    "own_parent: scenario ann/forest#6, parent_id = 6 (error, uploader)",
    "parent_but_no_result: scenario ann/forest#4, is_result = false (warning, uploader)",
    "parent_missing: scenario ann/forest#5, parent_id = 99 (warning, uploader)",
    "result_without_parent: scenario ann/forest#2, parent_id = null (warning, uploader)",
    "result_without_parent: scenario ann/forest#3, parent_id = null (warning, uploader)",
  ]);
});

test("cycles: their members, not what hangs below them, and not through another library", async () => {
  const ofForest = { 1: 2, 2: 1, 3: 5, 4: 3, 5: 4, 6: 5, 7: 6, 11: 12, 12: 13, 21: 22 };
  await add({
    libraries: [
      { library_name: "forest", ...good },
      { library_name: "lake", ...good },
    ],
    scenarios: [
      ...Object.entries(ofForest).map(([scenario_id, parent_id]) => ({ scenario_id, parent_id, is_result: true })),
      { library_name: "lake", scenario_id: 13, parent_id: 11, is_result: true },
      { scenario_id: 22, parent_id: 21, is_result: true, ...gone },
    ],
  });
  expect((await problems()).filter((problem) => !problem.startsWith("parent_missing"))).toEqual([
    "parent_cycle: scenario ann/forest#1, parent_id = 2 (error, uploader)",
    "parent_cycle: scenario ann/forest#2, parent_id = 1 (error, uploader)",
    "parent_cycle: scenario ann/forest#3, parent_id = 5 (error, uploader)",
    "parent_cycle: scenario ann/forest#4, parent_id = 3 (error, uploader)",
    "parent_cycle: scenario ann/forest#5, parent_id = 4 (error, uploader)",
  ]);
});

test("rejects that are open, with and without a library", async () => {
  await add({
    rejects: [
      { owner: "ann", library_name: "forest" },
      { kind: "listing", path: "", reason: "it is no object", code: "not_an_object" },
      { owner: "ann", library_name: "lake", resolved_at: day(2) },
    ],
  });
  expect(await problems()).toEqual([
    "open_reject: library null/null, null = null (error, service)",
    "open_reject: scenario ann/forest, parentId = null (error, service)",
  ]);
  expect(await query("SELECT detail FROM simcat_report.data_quality ORDER BY 1")).toEqual([
    { detail: "not_an_object: it is no object" },
    { detail: "wrong_type: parentId is a string" },
  ]);
});

test.each([
  ["problem = 'no_date'", ["libraries"]],
  ["problem = 'open_reject'", ["rejects"]],
  ["problem = 'future_version'", ["events"]],
  ["severity = 'info'", ["libraries"]],
  ["fix_by = 'service'", ["libraries", "rejects"]],
])("a filter by %s reads only the tables of its problems (fault 130)", async (filter, tables) => {
  const read = await tablesRead(`SELECT * FROM simcat_report.data_quality WHERE ${filter}`);
  expect(read.filter((table) => ["libraries", "scenarios", "rejects", "events"].includes(table))).toEqual(tables);
});
