import { beforeEach, expect, test } from "vitest";
import { useTestDatabase } from "../support/database.ts";
import { addRows, day, emptyTables } from "./stored-rows.ts";

const database = useTestDatabase();

beforeEach(async () => {
  await emptyTables(database());
});

const changes = async (where = "true") => {
  const rows = await database().query<Record<string, string | Date | null>>(
    `SELECT * FROM simcat_report.changes WHERE ${where}
     ORDER BY changed_at, what, owner, library_name, scenario_id, kind, field`,
  );
  return rows.map(({ changed_at, kind, what, library_name, scenario_id, name, field, old_value, new_value, run_id }) =>
    [
      `${(changed_at as Date).toISOString().slice(8, 10)} ${kind} ${what} ${library_name}${scenario_id === null ? "" : `#${scenario_id}`}`,
      ...(what === "scenario" ? [`(${name})`] : []),
      ...(field === null ? [] : [`${field}: ${JSON.stringify(old_value)} -> ${JSON.stringify(new_value)}`]),
      `run ${run_id}`,
    ].join(" "),
  );
};

test("a library that was added, changed, removed and returned with another field", async () => {
  const version = { library_name: "forest", package_name: "stsim" };
  await addRows(database(), "library_history", [
    { ...version, package_version: "1.0", valid_from: day(1), valid_to: day(2), run_id: 1, superseded_by: 2 },
    {
      ...version,
      package_version: "1.1",
      file_size: "2 KB",
      valid_from: day(2),
      valid_to: day(3),
      run_id: 2,
      superseded_by: 3,
    },
    {
      ...version,
      package_version: "1.1",
      file_size: "2 KB",
      valid_from: day(3),
      valid_to: day(4),
      removed_at: day(3),
      run_id: 3,
      superseded_by: 4,
    },
  ]);
  await addRows(database(), "libraries", [
    { ...version, package_version: "1.1", file_size: "3 KB", changed_at: day(4), run_id: 4 },
  ]);
  expect(await changes()).toEqual([
    "01 added library forest run 1",
    '02 changed library forest file_size: null -> "2 KB" run 2',
    '02 changed library forest package_version: "1.0" -> "1.1" run 2',
    "03 removed library forest run 3",
    '04 changed library forest file_size: "2 KB" -> "3 KB" run 4',
    "04 returned library forest run 4",
  ]);
});

test("every field of a library has its row", async () => {
  const fields = ["library_owner", "package_name", "package_version", "description", "last_modified", "file_size"];
  const filled = Object.fromEntries(fields.map((field) => [field, `new ${field}`]));
  await addRows(database(), "library_history", [{ library_name: "forest", valid_from: day(1), valid_to: day(2) }]);
  await addRows(database(), "libraries", [{ library_name: "forest", ...filled, changed_at: day(2), run_id: 2 }]);
  expect(await changes("kind = 'changed'")).toEqual(
    fields.toSorted().map((field) => `02 changed library forest ${field}: null -> "new ${field}" run 2`),
  );
});

test("a scenario's fields, with a parentId of 0 taken for none and flags as text", async () => {
  await addRows(database(), "libraries", [{ library_name: "forest" }]);
  await addRows(database(), "scenario_history", [
    {
      scenario_id: 7,
      scenario_name: "Snow",
      parent_id: 0,
      is_result: false,
      valid_from: day(1),
      valid_to: day(2),
      superseded_by: 2,
    },
    {
      scenario_id: 7,
      scenario_name: "Snow",
      parent_id: null,
      is_result: true,
      valid_from: day(2),
      valid_to: day(3),
      superseded_by: 3,
    },
    {
      scenario_id: 7,
      scenario_name: "Rain",
      parent_id: 5,
      is_result: true,
      description: "wet",
      last_modified: "later",
      valid_from: day(3),
      valid_to: day(4),
      superseded_by: 4,
    },
  ]);
  await addRows(database(), "scenarios", [
    {
      scenario_id: 7,
      scenario_name: "Rain",
      parent_id: 5,
      is_result: true,
      description: "wet",
      last_modified: "later",
      changed_at: day(4),
      removed_at: day(4),
      run_id: 4,
    },
  ]);
  expect(await changes("what = 'scenario'")).toEqual([
    "01 added scenario forest#7 (Snow) run 1",
    '02 changed scenario forest#7 (Snow) is_result: "false" -> "true" run 2',
    '03 changed scenario forest#7 (Rain) description: null -> "wet" run 3',
    '03 changed scenario forest#7 (Rain) last_modified: null -> "later" run 3',
    '03 changed scenario forest#7 (Rain) parent_id: null -> "5" run 3',
    '03 changed scenario forest#7 (Rain) scenario_name: "Snow" -> "Rain" run 3',
    "04 removed scenario forest#7 (Rain) run 4",
  ]);
});

test("since a moment has what was stored at the moment itself and not what was stored before", async () => {
  await addRows(database(), "libraries", [
    { library_name: "forest", first_seen_at: day(1), changed_at: day(5), run_id: 5 },
    { library_name: "lake", first_seen_at: day(5), changed_at: day(5), run_id: 5 },
  ]);
  await addRows(database(), "library_history", [
    { library_name: "forest", description: "old", valid_from: day(1), valid_to: day(5), superseded_by: 5 },
  ]);
  expect(await changes("changed_at >= '2026-01-05Z'")).toEqual([
    '05 changed library forest description: "old" -> null run 5',
    "05 added library lake run 5",
  ]);
  expect(await changes("changed_at >= '2026-01-05 00:00:00.000001Z'")).toEqual([]);
  expect(await changes("changed_at < '2026-01-05Z'")).toEqual(["01 added library forest run 1"]);
});

test("a version that differs only in unknown fields shows nothing, and pruning invents nothing", async () => {
  await addRows(database(), "libraries", [
    { library_name: "forest", first_seen_at: day(1), changed_at: day(5), run_id: 5 },
  ]);
  await addRows(database(), "library_history", [
    { library_name: "forest", valid_from: day(3), valid_to: day(5), superseded_by: 5 },
  ]);
  expect(await changes()).toEqual([]);
});

test("a removed library takes its scenarios along without rows of their own", async () => {
  await addRows(database(), "library_history", [
    { library_name: "forest", valid_from: day(1), valid_to: day(2), superseded_by: 2 },
  ]);
  await addRows(database(), "libraries", [
    { library_name: "forest", changed_at: day(2), removed_at: day(2), run_id: 2 },
  ]);
  await addRows(database(), "scenarios", [{ scenario_id: 1 }]);
  expect(await changes("changed_at >= '2026-01-02Z'")).toEqual(["02 removed library forest run 2"]);
});

test.each(["added", "removed", "returned"])("a filter by the kind %s compares no fields", async (kind) => {
  const plan = await database().query<{ "QUERY PLAN": string }>(
    `EXPLAIN SELECT * FROM simcat_report.changes WHERE kind = '${kind}'`,
  );
  expect(plan.map((line) => line["QUERY PLAN"]).join("\n")).not.toContain("ProjectSet");
});
