import { beforeEach, expect, test } from "vitest";
import { useTestDatabase } from "../support/database.ts";
import { addRows, day, emptyTables } from "./stored-rows.ts";

const database = useTestDatabase();

beforeEach(async () => {
  await emptyTables(database());
});

const problems = async () => {
  const rows = await database().query<Record<string, string | null>>(
    "SELECT * FROM simcat_report.data_quality ORDER BY problem, what, owner, library_name, scenario_id, detail",
  );
  return rows.map(({ problem, what, owner, library_name, scenario_id, field, value }) =>
    [problem, what, `${owner}/${library_name}${scenario_id === null ? "" : `#${scenario_id}`}`, field, value].join(" "),
  );
};

const good = { last_modified: "2025-12-24", last_modified_at: day(1) };

test("data in good order has no problem", async () => {
  await addRows(database(), "libraries", [
    { library_name: "forest", ...good, file_size: "2 KB", file_size_bytes: 2048 },
  ]);
  await addRows(database(), "scenarios", [
    { scenario_id: 1, is_result: false, parent_id: 0, ...good },
    { scenario_id: 2, is_result: true, parent_id: 1, ...good },
    { scenario_id: 3, is_result: true, parent_id: 2, ...good },
    { scenario_id: 4, is_result: true, parent_id: 3, ...good },
    { scenario_id: 5, is_result: null, parent_id: null },
  ]);
  expect(await problems()).toEqual([]);
});

test("libraries: dates, sizes and names that differ only in case", async () => {
  await addRows(database(), "libraries", [
    { library_name: "Forêt", last_modified: "soon", file_size: "large" },
    { library_name: "FORÊT", last_modified: "" },
    { owner: "Ann", library_name: "forêt", ...good },
    { owner: "ann", library_name: "lake", last_modified: null },
    { owner: "bob", library_name: "Lake", ...good },
    { library_name: "gone", last_modified: "soon", removed_at: day(2), changed_at: day(2) },
    { library_name: "LAKE", ...good, removed_at: day(2), changed_at: day(2) },
  ]);
  expect(await problems()).toEqual([
    "date_not_understood library ann/Forêt last_modified soon",
    "names_differ_by_case library Ann/forêt library_name ",
    "names_differ_by_case library ann/FORÊT library_name ",
    "names_differ_by_case library ann/Forêt library_name ",
    "no_date library ann/FORÊT last_modified ",
    "no_date library ann/lake last_modified ",
    "size_not_understood library ann/Forêt file_size large",
  ]);
});

test("scenarios: dates, and results and parents that contradict each other", async () => {
  await addRows(database(), "libraries", [{ library_name: "forest", ...good }]);
  await addRows(database(), "scenarios", [
    { scenario_id: 1, is_result: false, last_modified: "soon" },
    { scenario_id: 2, is_result: true },
    { scenario_id: 3, is_result: true, parent_id: 0 },
    { scenario_id: 4, is_result: false, parent_id: 1 },
    { scenario_id: 5, is_result: true, parent_id: 99 },
    { scenario_id: 6, is_result: true, parent_id: 6 },
    { scenario_id: 99, is_result: true, removed_at: day(2), changed_at: day(2) },
  ]);
  expect(await problems()).toEqual([
    "date_not_understood scenario ann/forest#1 last_modified soon",
    "own_parent scenario ann/forest#6 parent_id 6",
    "parent_but_no_result scenario ann/forest#4 is_result false",
    "parent_missing scenario ann/forest#5 parent_id 99",
    "result_without_parent scenario ann/forest#2 parent_id ",
    "result_without_parent scenario ann/forest#3 parent_id ",
  ]);
});

test("cycles: their members, not what hangs below them, and not through another library", async () => {
  await addRows(database(), "libraries", [
    { library_name: "forest", ...good },
    { library_name: "lake", ...good },
  ]);
  const link = (scenario_id: number, parent_id: number, library_name = "forest") => ({
    library_name,
    scenario_id,
    parent_id,
    is_result: true,
  });
  await addRows(database(), "scenarios", [
    link(1, 2),
    link(2, 1),
    link(3, 5),
    link(4, 3),
    link(5, 4),
    link(6, 5),
    link(7, 6),
    link(11, 12),
    link(12, 13),
    link(13, 11, "lake"),
    link(21, 22),
    { ...link(22, 21), removed_at: day(2), changed_at: day(2) },
  ]);
  expect((await problems()).filter((problem) => !problem.startsWith("parent_missing"))).toEqual([
    "parent_cycle scenario ann/forest#1 parent_id 2",
    "parent_cycle scenario ann/forest#2 parent_id 1",
    "parent_cycle scenario ann/forest#3 parent_id 5",
    "parent_cycle scenario ann/forest#4 parent_id 3",
    "parent_cycle scenario ann/forest#5 parent_id 4",
  ]);
});

test("rejects that are open, with and without a library", async () => {
  await addRows(database(), "rejects", [
    { owner: "ann", library_name: "forest" },
    { kind: "listing", path: "", reason: "it is no object", code: "not_an_object" },
    { owner: "ann", library_name: "lake", resolved_at: day(2) },
  ]);
  expect(await problems()).toEqual(["open_reject library null/null  ", "open_reject scenario ann/forest parentId "]);
  expect(await database().query("SELECT detail FROM simcat_report.data_quality ORDER BY 1")).toEqual([
    { detail: "not_an_object: it is no object" },
    { detail: "wrong_type: parentId is a string" },
  ]);
});

const hoursAhead = (hours: number) => new Date(Date.now() + hours * 3_600_000);

test("dates more than a day in the future, of libraries and of scenarios", async () => {
  await addRows(database(), "libraries", [
    { library_name: "forest", last_modified: "tomorrow", last_modified_at: hoursAhead(23) },
    { library_name: "lake", last_modified: "later", last_modified_at: hoursAhead(25) },
  ]);
  await addRows(database(), "scenarios", [
    { scenario_id: 1, last_modified: "tomorrow", last_modified_at: hoursAhead(23) },
    { scenario_id: 2, last_modified: "later", last_modified_at: hoursAhead(25) },
  ]);
  expect(await problems()).toEqual([
    "future_date library ann/lake last_modified later",
    "future_date scenario ann/forest#2 last_modified later",
  ]);
});

test("libraries whose metadata has no size", async () => {
  await addRows(database(), "libraries", [
    { library_name: "forest", ...good, metadata: {} },
    { library_name: "lake", ...good, metadata: { fileSize: "1 KB" }, file_size: "1 KB", file_size_bytes: 1024 },
    { library_name: "no metadata yet", ...good },
  ]);
  expect(await problems()).toEqual(["no_size library ann/forest file_size "]);
});

test("one name under two owners", async () => {
  await addRows(database(), "libraries", [
    { library_name: "forest", ...good },
    { owner: "bob", library_name: "forest", ...good },
    { owner: "cy", library_name: "Forest", ...good },
    { owner: "cy", library_name: "lake", ...good, removed_at: day(2), changed_at: day(2) },
    { owner: "bob", library_name: "lake", ...good },
  ]);
  expect(await problems()).toEqual([
    "name_under_two_owners library ann/forest library_name forest",
    "name_under_two_owners library bob/forest library_name forest",
  ]);
});

test("each problem has a severity and someone who can fix it", async () => {
  const dated = { last_modified: "soon" };
  await addRows(database(), "libraries", [
    { library_name: "forest", ...dated, file_size: "large", metadata: {} },
    { owner: "Ann", library_name: "forest", last_modified_at: hoursAhead(25), metadata: {} },
  ]);
  await addRows(database(), "scenarios", [
    { scenario_id: 1, ...dated, parent_id: 2, is_result: false },
    { scenario_id: 2, last_modified_at: hoursAhead(25), parent_id: 1 },
    { scenario_id: 3, is_result: true },
    { scenario_id: 4, parent_id: 4 },
    { scenario_id: 5, parent_id: 99 },
  ]);
  await addRows(database(), "rejects", [{ owner: "ann", library_name: "forest" }]);
  const rows = await database().query<Record<string, string>>(
    "SELECT DISTINCT problem, what, severity, fix_by FROM simcat_report.data_quality ORDER BY problem, what",
  );
  expect(rows.map(({ problem, what, severity, fix_by }) => `${problem} ${what}: ${severity}, ${fix_by}`)).toEqual([
    "date_not_understood library: warning, operator",
    "date_not_understood scenario: warning, operator",
    "future_date library: warning, service",
    "future_date scenario: warning, uploader",
    "name_under_two_owners library: info, uploader",
    "names_differ_by_case library: warning, uploader",
    "no_date library: warning, service",
    "no_size library: warning, service",
    "open_reject scenario: error, service",
    "own_parent scenario: error, uploader",
    "parent_but_no_result scenario: warning, uploader",
    "parent_cycle scenario: error, uploader",
    "parent_missing scenario: warning, uploader",
    "result_without_parent scenario: warning, uploader",
    "size_not_understood library: warning, operator",
  ]);
});

test("a filter by problem, severity or fix_by reads only the tables of its problems (fault 130)", async () => {
  const tablesOf = async (filter: string) => {
    const plan = await database().query<{ "QUERY PLAN": string }>(
      `EXPLAIN SELECT * FROM simcat_report.data_quality WHERE ${filter}`,
    );
    const scanned = plan.flatMap((line) => / on (libraries|scenarios|rejects)\b/.exec(line["QUERY PLAN"])?.[1] ?? []);
    return [...new Set(scanned)].sort();
  };
  expect(await tablesOf("problem = 'no_date'")).toEqual(["libraries"]);
  expect(await tablesOf("problem = 'open_reject'")).toEqual(["rejects"]);
  expect(await tablesOf("severity = 'info'")).toEqual(["libraries"]);
  expect(await tablesOf("fix_by = 'service'")).toEqual(["libraries", "rejects"]);
});
