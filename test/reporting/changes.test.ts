import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { libraryColumns, namesBy, scenarioColumns } from "../../src/db/store/columns.ts";
import { day, lifeOf, useStoredRows } from "./stored-rows.ts";

const { add, plan, query } = useStoredRows(day(0));

const FOREST = { library_name: "forest" };

const changes = async (where = "true") => {
  const rows = await query<Record<string, string | Date | null>>(
    `SELECT *, to_char(changed_at AT TIME ZONE 'UTC', 'DD') AS day FROM simcat_report.changes WHERE ${where}
     ORDER BY changed_at, what, owner, library_name, scenario_id, kind, field`,
  );
  return rows.map(({ day, kind, what, library_name, scenario_id, name, field, old_value, new_value, run_id }) =>
    [
      `${day} ${kind} ${what} ${library_name}${scenario_id === null ? "" : `#${scenario_id}`}`,
      ...(what === "scenario" ? [`(${name})`] : []),
      ...(field === null ? [] : [`${field}: ${JSON.stringify(old_value)} -> ${JSON.stringify(new_value)}`]),
      `run ${run_id}`,
    ].join(" "),
  );
};

test("a library that was added, changed, removed and returned with another field", async () => {
  await add(
    lifeOf("library", FOREST, [
      [day(1), { package_name: "stsim", package_version: "1.0" }],
      [day(2), { package_version: "1.1", file_size: "2 KB" }],
      [day(3), null],
      [day(4), { file_size: "3 KB" }],
    ]),
  );
  expect(await changes()).toEqual([
    "01 added library forest run 1",
    '02 changed library forest file_size: null -> "2 KB" run 2',
    '02 changed library forest package_version: "1.0" -> "1.1" run 2',
    "03 removed library forest run 3",
    '04 changed library forest file_size: "2 KB" -> "3 KB" run 4',
    "04 returned library forest run 4",
  ]);
});

test("a scenario's fields, with a parentId of 0 taken for none and flags as text", async () => {
  await add({
    libraries: [FOREST],
    ...lifeOf("scenario", { scenario_id: 7 }, [
      [day(1), { scenario_name: "Snow", parent_id: 0, is_result: false }],
      [day(2), { parent_id: null, is_result: true }],
      [day(3), { scenario_name: "Rain", parent_id: 5, description: "wet", last_modified: "later" }],
      [day(4), null],
      [day(5), { parent_id: 0, is_result: null }],
      [day(6), { parent_id: 6 }],
    ]),
  });
  expect(await changes("what = 'scenario'")).toEqual([
    "01 added scenario forest#7 (Snow) run 1",
    '02 changed scenario forest#7 (Snow) is_result: "false" -> "true" run 2',
    '03 changed scenario forest#7 (Rain) description: null -> "wet" run 3',
    '03 changed scenario forest#7 (Rain) last_modified: null -> "later" run 3',
    '03 changed scenario forest#7 (Rain) parent_id: null -> "5" run 3',
    '03 changed scenario forest#7 (Rain) scenario_name: "Snow" -> "Rain" run 3',
    "04 removed scenario forest#7 (Rain) run 4",
    '05 changed scenario forest#7 (Rain) is_result: "true" -> null run 5',
    '05 changed scenario forest#7 (Rain) parent_id: "5" -> null run 5',
    "05 returned scenario forest#7 (Rain) run 5",
    '06 changed scenario forest#7 (Rain) parent_id: null -> "6" run 6',
  ]);
});

test("since a moment has what was stored at the moment itself and not what was stored before", async () => {
  await add({
    libraries: [
      { ...FOREST, first_seen_at: day(1), changed_at: day(5), run_id: 5 },
      { library_name: "lake", first_seen_at: day(5), changed_at: day(5), run_id: 5 },
    ],
    library_history: [{ ...FOREST, description: "old", valid_from: day(1), valid_to: day(5), superseded_by: 5 }],
  });
  expect(await changes("changed_at >= '2026-01-05Z'")).toEqual([
    '05 changed library forest description: "old" -> null run 5',
    "05 added library lake run 5",
  ]);
  expect(await changes("changed_at >= '2026-01-05 00:00:00.000001Z'")).toEqual([]);
  expect(await changes("changed_at < '2026-01-05Z'")).toEqual(["01 added library forest run 1"]);
});

test("a version that differs only in unknown fields shows nothing, and pruning invents nothing", async () => {
  await add({
    libraries: [{ ...FOREST, first_seen_at: day(1), changed_at: day(5), run_id: 5 }],
    library_history: [{ ...FOREST, valid_from: day(3), valid_to: day(5), superseded_by: 5 }],
    scenarios: [{ scenario_id: 1, first_seen_at: day(1), changed_at: day(5), run_id: 5 }],
    scenario_history: [{ scenario_id: 1, valid_from: day(3), valid_to: day(5), superseded_by: 5 }],
  });
  expect(await changes()).toEqual([]);
});

test("a removed library takes its scenarios along without rows of their own", async () => {
  await add({
    ...lifeOf("library", FOREST, [
      [day(1), {}],
      [day(2), null],
    ]),
    scenarios: [{ scenario_id: 1 }],
  });
  expect(await changes("changed_at >= '2026-01-02Z'")).toEqual(["02 removed library forest run 2"]);
});

test.each(["added", "removed", "returned"])("a filter by the kind %s compares no fields", async (kind) => {
  const lines = await plan(`SELECT * FROM simcat_report.changes WHERE kind = '${kind}'`);
  expect(lines.join("\n")).not.toContain("ProjectSet");
});

test("the view has a row for each field that one version can change", () => {
  const [, last] = /generate_series\(0, (\d+)\)/.exec(readFileSync("migrations/views/changes.sql", "utf8")) ?? [];
  for (const columns of [libraryColumns, scenarioColumns])
    expect(namesBy("version", columns).length).toBeLessThanOrEqual(Number(last));
});
