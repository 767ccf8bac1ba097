import { expect, test } from "vitest";
import { day, useStoredRows } from "./stored-rows.ts";

const { add, query } = useStoredRows();

const libraries = [{ library_name: "forest" }, { library_name: "gone", changed_at: day(5), removed_at: day(5) }];
const parent = (id: number, edited: number | null, rest = {}) => ({
  scenario_id: id,
  scenario_name: `parent ${id}`,
  is_result: false,
  last_modified_at: edited && day(edited),
  ...rest,
});
const result = (id: number, parentId: number, run: number | null, rest = {}) => ({
  scenario_id: id,
  scenario_name: `result ${id}`,
  parent_id: parentId,
  is_result: true,
  last_modified_at: run && day(run),
  ...rest,
});

test("a scenario that was edited after its latest result is listed with that result and the time between", async () => {
  await add({
    libraries,
    scenarios: [parent(1, 9), result(2, 1, 3), result(3, 1, 4), result(4, 1, 4), result(5, 1, null)],
  });
  expect(await query("SELECT * FROM simcat_report.stale_results")).toEqual([
    {
      owner: "ann",
      library_name: "forest",
      parent_id: "1",
      parent_name: "parent 1",
      parent_last_modified_at: day(9),
      latest_result_id: "4",
      latest_result_name: "result 4",
      latest_result_modified_at: day(4),
      edited_after_seconds: 5 * 86_400,
      result_count: "4",
    },
  ]);
});

const removed = { removed_at: day(9), changed_at: day(9) };
const ofGone = { library_name: "gone" };

test.each([
  ["edited when its result was made", [parent(1, 4), result(2, 1, 4)], []],
  ["edited before", [parent(1, 3), result(2, 1, 4)], []],
  ["without a date", [parent(1, null), result(2, 1, 4)], []],
  ["whose result has no date", [parent(1, 9), result(2, 1, null)], []],
  ["that was removed", [parent(1, 9, removed), result(2, 1, 4)], []],
  ["whose result was removed", [parent(1, 9), result(2, 1, 4, removed)], []],
  ["whose child is no result", [parent(1, 9), result(2, 1, 4, { is_result: false })], []],
  ["of a removed library", [parent(1, 9, ofGone), result(2, 1, 4, ofGone)], []],
  ["that is its own parent, is missing or has no result", [result(1, 1, 9), result(2, 99, 4), parent(3, 9)], []],
  ["whose result has no flag", [parent(4, 9, { parent_id: 0 }), result(5, 4, 4, { is_result: null })], ["4: 5"]],
  ["that is a result itself", [parent(1, 1), result(2, 1, 5, { is_result: null }), result(3, 2, 4)], ["2: 3"]],
])("a scenario %s is listed only if both are live and dated, and the edit is later", async (_, scenarios, expected) => {
  await add({ libraries, scenarios });
  const found = await query<{ parent_id: string; latest_result_id: string }>(
    "SELECT * FROM simcat_report.stale_results",
  );
  expect(found.map((row) => `${row.parent_id}: ${row.latest_result_id}`)).toEqual(expected);
});
