import { beforeEach, expect, test } from "vitest";
import { useTestDatabase } from "../support/database.ts";
import { addRows, day, emptyTables } from "./stored-rows.ts";

const database = useTestDatabase();

beforeEach(async () => {
  await emptyTables(database());
  await addRows(database(), "libraries", [
    { library_name: "forest" },
    { library_name: "gone", changed_at: day(5), removed_at: day(5) },
  ]);
});

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

const stale = () => database().query("SELECT * FROM simcat_report.stale_results ORDER BY parent_id");

test("a scenario that was edited after its latest result is listed with that result and the time between", async () => {
  await addRows(database(), "scenarios", [
    parent(1, 9),
    result(2, 1, 3),
    result(3, 1, 4),
    result(4, 1, 4),
    result(5, 1, null),
  ]);
  expect(await stale()).toEqual([
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

test("a scenario is listed only if it and its result are live, dated, and the edit is later", async () => {
  await addRows(database(), "scenarios", [
    ...[parent(10, 4), result(11, 10, 4)],
    ...[parent(20, 3), result(21, 20, 4)],
    ...[parent(30, null), result(31, 30, 4)],
    ...[parent(40, 9), result(41, 40, null)],
    ...[parent(50, 9, { removed_at: day(9), changed_at: day(9) }), result(51, 50, 4)],
    ...[parent(60, 9), result(61, 60, 4, { removed_at: day(9), changed_at: day(9) })],
    ...[parent(70, 9), result(71, 70, 4, { is_result: false })],
    ...[parent(80, 9, { library_name: "gone" }), result(81, 80, 4, { library_name: "gone" })],
    ...[result(90, 90, 9), result(91, 99, 4), parent(95, 9)],
  ]);
  expect(await stale()).toEqual([]);
});

test("a result without the flag counts, and a result that was run again is a parent too", async () => {
  await addRows(database(), "scenarios", [
    parent(1, 1),
    result(2, 1, 5, { is_result: null }),
    result(3, 2, 4),
    parent(4, 9, { parent_id: 0 }),
    result(5, 4, 4, { is_result: null }),
  ]);
  const found = await database().query(
    "SELECT parent_id::int, latest_result_id::int AS latest FROM simcat_report.stale_results ORDER BY 1",
  );
  expect(found).toEqual([
    { parent_id: 2, latest: 3 },
    { parent_id: 4, latest: 5 },
  ]);
});
