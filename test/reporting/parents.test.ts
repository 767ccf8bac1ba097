import { beforeEach, describe, expect, test } from "vitest";
import { useTestDatabase } from "../support/database.ts";
import { addRows, day, emptyTables } from "./stored-rows.ts";

const database = useTestDatabase();

beforeEach(async () => {
  await emptyTables(database());
  await addRows(database(), "libraries", [{ library_name: "forest" }, { library_name: "lake" }]);
});

const range = (count: number) => Array.from({ length: count }, (_, at) => at + 1);
const gone = { removed_at: day(3), changed_at: day(3) };

describe("scenario_parents", () => {
  test("has each scenario with its parent, and flags a missing parent and a scenario that is its own", async () => {
    await addRows(database(), "scenarios", [
      { scenario_id: 1, scenario_name: "Parent", is_result: false, last_modified_at: day(2) },
      { scenario_id: 2, scenario_name: "Result", is_result: true, parent_id: 1 },
      { scenario_id: 3, scenario_name: "Of none", is_result: true, parent_id: 0 },
      { scenario_id: 4, scenario_name: "Of a gone one", is_result: true, parent_id: 9 },
      { scenario_id: 5, scenario_name: "Of another library's", is_result: true, parent_id: 77 },
      { scenario_id: 6, scenario_name: "Of itself", is_result: true, parent_id: 6 },
      { scenario_id: 9, ...gone },
      { scenario_id: 77, library_name: "lake" },
    ]);
    const rows = await database().query(
      `SELECT scenario_id, parent_id, parent_name, parent_is_result, parent_last_modified_at, parent_missing, is_own_parent
       FROM simcat_report.scenario_parents WHERE library_name = 'forest' ORDER BY scenario_id`,
    );
    const row = (id: number, parent: number | null, rest: object = {}) => ({
      scenario_id: String(id),
      parent_id: parent === null ? null : String(parent),
      parent_name: null,
      parent_is_result: null,
      parent_last_modified_at: null,
      parent_missing: false,
      is_own_parent: false,
      ...rest,
    });
    expect(rows).toEqual([
      row(1, null),
      row(2, 1, { parent_name: "Parent", parent_is_result: false, parent_last_modified_at: day(2) }),
      row(3, null),
      row(4, 9, { parent_missing: true }),
      row(5, 77, { parent_missing: true }),
      row(6, 6, { parent_name: "Of itself", parent_is_result: true, is_own_parent: true }),
    ]);
  });

  test.each(["scenario_parents WHERE parent_missing", "data_quality WHERE problem = 'parent_missing'"])(
    "%s compares no pairs of scenarios to find parents (fault 135)",
    async (rows) => {
      await addRows(
        database(),
        "libraries",
        range(50).map((at) => ({ owner: `owner ${at}`, library_name: `library ${at}` })),
      );
      await database().query(`
        INSERT INTO simcat.scenarios (owner, library_name, scenario_id, parent_id, raw, first_seen_at, changed_at, run_id)
        SELECT l.owner, l.library_name, id, id - 1, '{}', now(), now(), 1
        FROM simcat.libraries l CROSS JOIN generate_series(1, 400) AS id WHERE l.owner <> 'ann' ORDER BY 1, 2, 3`);
      await database().query("ANALYZE simcat.scenarios, simcat.libraries");
      const session = await database().pool.connect();
      // As if the rows were too many to hash or sort: a merge of two index scans is left, or a lookup for each row.
      const { rows: plans } = await session
        .query("SET enable_hashjoin = off; SET enable_sort = off")
        .then(() =>
          session.query<{ "QUERY PLAN": string }>(
            `EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF) SELECT * FROM simcat_report.${rows}`,
          ),
        )
        .finally(() => session.release(true));
      const removed = plans.map((line) => /Rows Removed by Join Filter: (\d+)/.exec(line["QUERY PLAN"])?.[1] ?? "0");
      expect(Math.max(...removed.map(Number))).toBeLessThan(100);
    },
  );
});

describe("parents_without_results", () => {
  const never = async () => {
    const rows = await database().query<{ scenario_id: string }>(
      "SELECT scenario_id FROM simcat_report.parents_without_results WHERE library_name = 'forest' ORDER BY 1",
    );
    return rows.map((row) => Number(row.scenario_id));
  };

  test("has the scenarios of which no live result is", async () => {
    await addRows(database(), "scenarios", [
      { scenario_id: 1, is_result: false },
      { scenario_id: 2, is_result: false },
      { scenario_id: 3, is_result: false },
      { scenario_id: 4, is_result: false, ...gone },
      { scenario_id: 10, is_result: true, parent_id: 1 },
      { scenario_id: 11, is_result: true, parent_id: 2, ...gone },
      { scenario_id: 12, is_result: true, parent_id: 10 },
      { scenario_id: 3, library_name: "lake", is_result: true, parent_id: 3 },
    ]);
    expect(await never()).toEqual([2, 3]);
  });

  test("goes by the parent where no flag was sent, and never takes a scenario for its own result", async () => {
    await addRows(database(), "scenarios", [
      { scenario_id: 1, is_result: null },
      { scenario_id: 2, is_result: null, parent_id: 1 },
      { scenario_id: 3, is_result: null, parent_id: 0 },
      { scenario_id: 4, is_result: false, parent_id: 4 },
      { scenario_id: 5, is_result: false },
      { scenario_id: 6, is_result: false, parent_id: 5 },
    ]);
    // 6 is no result, so that 5 has none.
    expect(await never()).toEqual([3, 4, 5, 6]);
  });
});

describe("latest_result_per_parent", () => {
  const latest = () =>
    database().query(
      `SELECT parent_id, parent_name, parent_missing, result_count, latest_result_id, latest_result_name,
         latest_result_modified_at
       FROM simcat_report.latest_result_per_parent ORDER BY parent_id`,
    );

  test("goes by date, then by number, and takes undated ones last", async () => {
    await addRows(database(), "scenarios", [
      { scenario_id: 1, scenario_name: "dated", is_result: false },
      { scenario_id: 2, scenario_name: "same minute", is_result: false },
      { scenario_id: 3, scenario_name: "undated", is_result: false },
      { scenario_id: 11, scenario_name: "r11", is_result: true, parent_id: 1, last_modified_at: day(9) },
      { scenario_id: 12, scenario_name: "r12", is_result: true, parent_id: 1, last_modified_at: day(8) },
      { scenario_id: 13, scenario_name: "r13", is_result: true, parent_id: 1 },
      { scenario_id: 14, is_result: true, parent_id: 1, last_modified_at: day(10), ...gone },
      { scenario_id: 21, is_result: true, parent_id: 2, last_modified_at: day(9) },
      { scenario_id: 22, scenario_name: "r22", is_result: true, parent_id: 2, last_modified_at: day(9) },
      { scenario_id: 31, is_result: true, parent_id: 3 },
      { scenario_id: 32, is_result: true, parent_id: 3 },
    ]);
    const row = (
      id: number,
      name: string,
      count: number,
      latest: number,
      latestName: string | null,
      at: Date | null,
    ) => ({
      parent_id: String(id),
      parent_name: name,
      parent_missing: false,
      result_count: String(count),
      latest_result_id: String(latest),
      latest_result_name: latestName,
      latest_result_modified_at: at,
    });
    expect(await latest()).toEqual([
      row(1, "dated", 3, 11, "r11", day(9)),
      row(2, "same minute", 2, 22, "r22", day(9)),
      row(3, "undated", 2, 32, null, null),
    ]);
  });

  test("keeps the results of a missing parent, and leaves out what is no result or its own parent", async () => {
    await addRows(database(), "scenarios", [
      { scenario_id: 1, is_result: true, parent_id: 99 },
      { scenario_id: 2, is_result: false, parent_id: 3 },
      { scenario_id: 3, is_result: true, parent_id: 3 },
      { scenario_id: 4, is_result: true },
      { scenario_id: 5, is_result: null, parent_id: 4 },
    ]);
    const rows = await database().query(
      `SELECT parent_id, parent_missing, result_count, latest_result_id
       FROM simcat_report.latest_result_per_parent ORDER BY parent_id`,
    );
    expect(rows).toEqual([
      { parent_id: "4", parent_missing: false, result_count: "1", latest_result_id: "5" },
      { parent_id: "99", parent_missing: true, result_count: "1", latest_result_id: "1" },
    ]);
  });
});

describe("scenario_tree", () => {
  const tree = async () => {
    const rows = await database().query<Record<string, unknown>>(
      `SELECT scenario_id, root_id, depth, path::text, parent_missing, is_own_parent, is_in_cycle
       FROM simcat_report.scenario_tree('ann', 'forest')`,
    );
    const flags = ["parent_missing", "is_own_parent", "is_in_cycle"];
    return rows.map((row) =>
      [row.scenario_id, row.root_id, row.depth, row.path, ...flags.filter((flag) => row[flag])].join(" "),
    );
  };
  const links = (pairs: readonly (readonly [number, number | null])[]) =>
    addRows(
      database(),
      "scenarios",
      pairs.map(([scenario_id, parent_id]) => ({ scenario_id, parent_id })),
    );

  test("has parents before children, each with its way from the root", async () => {
    await links([
      [5, 2],
      [1, null],
      [2, 1],
      [10, 1],
      [3, 0],
      [4, 99],
      [6, 4],
    ]);
    await addRows(database(), "scenarios", [{ scenario_id: 99, library_name: "lake" }]);
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
    await links([
      [1, 1],
      [2, 1],
      [12, 11],
      [11, 13],
      [13, 12],
      [14, 12],
      [15, 14],
      [21, 22],
      [22, 21],
    ]);
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

  test("has every live scenario once, whatever the parents are", async () => {
    const pairs = Array.from({ length: 200 }, (_, at) => [at + 1, (at * 7919 + 13) % 230] as const);
    await links(pairs);
    const [row] = await database().query(
      `SELECT count(*) AS rows, count(DISTINCT scenario_id) AS scenarios, bool_and(path[1] = root_id) AS rooted,
         bool_and(path[depth + 1] = scenario_id AND cardinality(path) = depth + 1) AS whole
       FROM simcat_report.scenario_tree('ann', 'forest')`,
    );
    expect(row).toEqual({ rows: "200", scenarios: "200", rooted: true, whole: true });
  });

  test("goes down a thousand steps", async () => {
    await links(Array.from({ length: 1_000 }, (_, at) => [at + 1, at]));
    const [row] = await database().query(
      "SELECT count(*) AS rows, max(depth) AS depth FROM simcat_report.scenario_tree('ann', 'forest')",
    );
    expect(row).toEqual({ rows: "1000", depth: 999 });
  });
});
