import { beforeEach, describe, expect, test } from "vitest";
import { day, useStoredRows } from "./stored-rows.ts";

const { add, plan, query, queryLists } = useStoredRows();

const gone = { removed_at: day(3), changed_at: day(3) };

beforeEach(() => add({ libraries: [{ library_name: "forest" }, { library_name: "lake" }] }));

const range = (count: number) => Array.from({ length: count }, (_, at) => at + 1);

describe("scenario_parents", () => {
  test("has each scenario with its parent, and flags a missing parent and a scenario that is its own", async () => {
    await add({
      libraries: [{ library_name: "gone", ...gone }],
      scenarios: [
        { scenario_id: 1, scenario_name: "Parent", is_result: false, last_modified_at: day(2) },
        { scenario_id: 2, scenario_name: "Result", is_result: true, parent_id: 1 },
        { scenario_id: 3, scenario_name: "Of none", is_result: true, parent_id: 0 },
        { scenario_id: 4, scenario_name: "Of a gone one", is_result: true, parent_id: 9 },
        { scenario_id: 5, scenario_name: "Of another library's", is_result: true, parent_id: 77 },
        { scenario_id: 6, scenario_name: "Of itself", is_result: true, parent_id: 6 },
        { scenario_id: 9, ...gone },
        { scenario_id: 77, library_name: "lake" },
        { scenario_id: 78, library_name: "gone" },
      ],
    });
    const rows = await queryLists(
      `SELECT scenario_id::int, parent_id::int, parent_name, parent_is_result, parent_last_modified_at, parent_missing, is_own_parent
       FROM simcat_report.scenario_parents ORDER BY scenario_id`,
    );
    expect(rows).toEqual([
      [1, null, null, null, null, false, false],
      [2, 1, "Parent", false, day(2), false, false],
      [3, null, null, null, null, false, false],
      [4, 9, null, null, null, true, false],
      [5, 77, null, null, null, true, false],
      [6, 6, "Of itself", true, null, false, true],
      [77, null, null, null, null, false, false],
    ]);
  });

  test("questions compare no pairs of scenarios (fault 135), and find their rows by an index that has them in order", async () => {
    await add({ libraries: range(50).map((at) => ({ owner: `owner ${at}`, library_name: `library ${at}` })) });
    await query(`
      INSERT INTO simcat.scenarios (owner, library_name, scenario_id, parent_id, raw, first_seen_at, changed_at, run_id)
      SELECT l.owner, l.library_name, id, id - 1, '{}', now(), now(), 1
      FROM simcat.libraries l CROSS JOIN generate_series(1, 400) AS id WHERE l.owner <> 'ann' ORDER BY 1, 2, 3`);
    await query("ANALYZE simcat.scenarios, simcat.libraries");
    const library = "owner = 'owner 7' AND library_name = 'library 7'";
    for (const rows of [
      "scenario_parents WHERE parent_missing",
      "data_quality WHERE problem = 'parent_missing'",
      `data_quality WHERE problem = 'parent_missing' AND ${library}`,
      "stale_results",
      `stale_results WHERE ${library}`,
      "parents_without_results",
      `parents_without_results WHERE ${library}`,
    ]) {
      // As if the rows were too many to hash or sort: a merge of two index scans is left, or a lookup for each row.
      const off = ["enable_hashjoin", "enable_sort"];
      const lines = await plan(`SELECT * FROM simcat_report.${rows}`, "(ANALYZE, COSTS OFF, TIMING OFF)", off);
      const compared = lines.map((line) => Number(/Rows Removed by Join Filter: (\d+)/.exec(line)?.[1] ?? 0));
      expect(Math.max(...compared)).toBeLessThan(100);
    }

    for (const [rows, index] of [
      ["latest_result_per_parent", "scenarios_parent_index"],
      ["stale_results", "scenarios_parent_index"],
      ["parents_without_results", "scenarios_parent_index"],
      ["data_quality WHERE problem = 'parent_missing'", "scenarios_parent_index"],
      ["data_quality WHERE problem = 'date_not_understood' AND what = 'scenario'", "scenarios_quality_index"],
      ["data_quality WHERE problem = 'result_without_parent'", "scenarios_quality_index"],
      ["data_quality WHERE problem = 'parent_but_no_result'", "scenarios_quality_index"],
      ["data_quality WHERE problem = 'own_parent'", "scenarios_quality_index"],
      ["data_quality WHERE problem = 'parent_cycle'", "scenarios_quality_index"],
      ["data_quality WHERE problem = 'future_date' AND what = 'scenario'", "scenarios_last_modified_at_index"],
      ["scenarios ORDER BY last_modified_at DESC LIMIT 100", "scenarios_last_modified_at_index"],
      ["scenario_parents ORDER BY last_modified_at DESC LIMIT 100", "scenarios_last_modified_at_index"],
      ["library_moves", "events_presence_index"],
    ]) {
      // As if the table was too large to scan or to sort.
      const off = ["enable_seqscan", "enable_bitmapscan", "enable_sort", "enable_incremental_sort"];
      const lines = await plan(`SELECT * FROM simcat_report.${rows}`, "", off);
      expect({ rows, used: lines.filter((line) => line.includes(`using ${index}`)).length }).not.toEqual({
        rows,
        used: 0,
      });
    }
  });
});

test("a filter by library reaches every table of scenarios in every view (fault 341)", async () => {
  const views = await queryLists(
    `SELECT table_name FROM information_schema.columns WHERE table_schema = 'simcat_report' AND column_name IN ('owner', 'library_name')
     GROUP BY table_name HAVING count(*) = 2 ORDER BY table_name`,
  );
  expect(views).toContainEqual(["stale_results"]);
  for (const [view] of views) {
    const library = "owner = 'bob' AND library_name = 'forest'";
    const lines = await plan(`SELECT * FROM simcat_report.${view} WHERE ${library}`, "(COSTS OFF)", ["enable_seqscan"]);
    const whole = lines.filter((line, at) => / on scenario/.test(line) && !/Cond: /.test(lines[at + 1] ?? ""));
    expect({ view, whole }).toEqual({ view, whole: [] });
  }
});

const result = (scenario_id: number, parent_id: number, rest: object = {}) => ({
  scenario_id,
  scenario_name: `r${scenario_id}`,
  is_result: true,
  parent_id,
  ...rest,
});

test.each([
  [
    "no live result is known",
    [
      { scenario_id: 1, is_result: false },
      { scenario_id: 2, is_result: false },
      { scenario_id: 3, is_result: false },
      { scenario_id: 4, is_result: false, ...gone },
      result(10, 1),
      result(11, 2, gone),
      result(12, 10),
      result(3, 3, { library_name: "lake" }),
    ],
    [2, 3],
  ],
  [
    "no result is known by its parent where no flag was sent, and none is its own result",
    [
      { scenario_id: 1, is_result: null },
      { scenario_id: 2, is_result: null, parent_id: 1 },
      { scenario_id: 3, is_result: null, parent_id: 0 },
      { scenario_id: 4, is_result: false, parent_id: 4 },
      { scenario_id: 5, is_result: false },
      { scenario_id: 6, is_result: false, parent_id: 5 },
    ],
    // 6 is no result, so that 5 has none.
    [3, 4, 5, 6],
  ],
])("parents_without_results has the scenarios of which %s", async (_, scenarios, expected) => {
  await add({ scenarios });
  const rows = await queryLists(
    "SELECT scenario_id::int FROM simcat_report.parents_without_results WHERE library_name = 'forest' ORDER BY 1",
  );
  expect(rows.flat()).toEqual(expected);
});

test.each([
  [
    "goes by date, then by number, and takes undated ones last",
    [
      { scenario_id: 1, scenario_name: "dated", is_result: false },
      { scenario_id: 2, scenario_name: "same minute", is_result: false },
      { scenario_id: 3, scenario_name: "undated", is_result: false },
      result(11, 1, { last_modified_at: day(9) }),
      result(12, 1, { last_modified_at: day(8) }),
      result(13, 1),
      result(14, 1, { last_modified_at: day(10), ...gone }),
      result(21, 2, { last_modified_at: day(9) }),
      result(22, 2, { last_modified_at: day(9) }),
      result(31, 3),
      result(32, 3),
    ],
    [
      [1, "dated", false, 3, 11, "r11", day(9)],
      [2, "same minute", false, 2, 22, "r22", day(9)],
      [3, "undated", false, 2, 32, "r32", null],
    ],
  ],
  [
    "keeps the results of a missing parent, and leaves out what is no result or its own parent",
    [
      result(1, 99),
      result(2, 3, { is_result: false }),
      result(3, 3),
      { scenario_id: 4, is_result: true },
      result(5, 4, { is_result: null }),
      { scenario_id: 6, scenario_name: "gone", ...gone },
      result(7, 6),
    ],
    [
      [4, null, false, 1, 5, "r5", null],
      [6, null, true, 1, 7, "r7", null],
      [99, null, true, 1, 1, "r1", null],
    ],
  ],
])("latest_result_per_parent %s", async (_, scenarios, expected) => {
  await add({ scenarios });
  const rows = await queryLists(
    `SELECT parent_id::int, parent_name, parent_missing, result_count::int, latest_result_id::int, latest_result_name,
       latest_result_modified_at
     FROM simcat_report.latest_result_per_parent ORDER BY parent_id`,
  );
  expect(rows).toEqual(expected);
});

describe("scenario_tree", () => {
  const tree = async () => {
    const rows = await query(
      `SELECT scenario_id, root_id, depth, path::text, parent_missing, is_own_parent, is_in_cycle
       FROM simcat_report.scenario_tree('ann', 'forest')`,
    );
    const flags = ["parent_missing", "is_own_parent", "is_in_cycle"];
    return rows.map((row) =>
      [row.scenario_id, row.root_id, row.depth, row.path, ...flags.filter((flag) => row[flag])].join(" "),
    );
  };
  /** Scenario ids, each with the id of its parent. */
  const addLinks = (links: Readonly<Record<number, number | null>>) =>
    add({ scenarios: Object.entries(links).map(([scenario_id, parent_id]) => ({ scenario_id, parent_id })) });

  test("has parents before children, each with its way from the root", async () => {
    await addLinks({ 1: null, 2: 1, 3: 0, 4: 99, 5: 2, 6: 4, 10: 1 });
    await add({ scenarios: [{ scenario_id: 99, library_name: "lake" }] });
    expect(await tree()).toEqual([
      "1 1 0 {1}",
      "2 1 1 {1,2}",
      "5 1 2 {1,2,5}",
      "10 1 1 {1,10}",
      "3 3 0 {3}",
      "4 4 0 {4} parent_missing",
      "6 4 1 {4,6}",
    ]);
  });

  test("ends on cycles, starts them at the smallest id, and flags only their members", async () => {
    await addLinks({ 1: 1, 2: 1, 11: 13, 12: 11, 13: 12, 14: 12, 15: 14, 21: 22, 22: 21 });
    expect(await tree()).toEqual([
      "1 1 0 {1} is_own_parent is_in_cycle",
      "2 1 1 {1,2}",
      "11 11 0 {11} is_in_cycle",
      "12 11 1 {11,12} is_in_cycle",
      "13 11 2 {11,12,13} is_in_cycle",
      "14 11 2 {11,12,14}",
      "15 11 3 {11,12,14,15}",
      "21 21 0 {21} is_in_cycle",
      "22 21 1 {21,22} is_in_cycle",
    ]);
  });

  test("goes down a thousand steps", async () => {
    await addLinks(Object.fromEntries(range(1_000).map((id) => [id, id - 1])));
    const [row] = await query(
      "SELECT count(*) AS rows, max(depth) AS depth FROM simcat_report.scenario_tree('ann', 'forest')",
    );
    expect(row).toEqual({ rows: "1000", depth: 999 });
  });
});
