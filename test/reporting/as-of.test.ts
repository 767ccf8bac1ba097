import { expect, test } from "vitest";
import { day, lifeOf, mergeRows, useStoredRows } from "./stored-rows.ts";

const { add, plan, query } = useStoredRows(day(0));

test("libraries and scenarios have the values that were stored at that moment", async () => {
  const tree = { scenario_name: "Tree", description: "old", is_result: false, parent_id: 0 };
  await add(
    mergeRows([
      lifeOf("library", { library_name: "forest" }, [
        [day(2), { package_version: "1.0", library_owner: "Ann" }],
        [day(4), { package_version: "2.0" }],
      ]),
      lifeOf("scenario", { scenario_id: 1 }, [
        [day(2), tree],
        [day(3), { scenario_name: "Wood", parent_id: 7 }],
      ]),
    ]),
  );
  const at = (moment: string) =>
    query(
      `SELECT package_version, library_owner, l.changed_at, l.run_id::int, scenario_count::int AS scenarios,
         s.scenario_name, s.description AS text, s.is_result, s.parent_id::int, s.changed_at AS scenario_changed_at
       FROM simcat_report.libraries_as_of('${moment}') l JOIN simcat_report.scenarios_as_of('${moment}') s USING (owner, library_name)`,
    );
  const first = { package_version: "1.0", library_owner: "Ann", changed_at: day(2), run_id: 2, scenarios: 1 };
  const scenario = { text: "old", is_result: false };
  const was = { ...scenario, scenario_name: "Tree", parent_id: null, scenario_changed_at: day(2) };
  const renamed = { ...scenario, scenario_name: "Wood", parent_id: 7, scenario_changed_at: day(3) };
  expect(await at("2026-01-02Z")).toEqual([{ ...first, ...was }]);
  expect(await at("2026-01-03Z")).toEqual([{ ...first, ...renamed }]);
  expect(await at("2026-01-04Z")).toEqual([
    { ...first, package_version: "2.0", changed_at: day(4), run_id: 4, ...renamed },
  ]);
});

test("now and any future time equal the current views, and before everything there is nothing", async () => {
  await add(
    mergeRows([
      lifeOf("library", { library_name: "lake" }, [
        [day(2), { package_version: "1.0" }],
        [day(4), null],
        [day(6), { package_version: "2.0", last_modified: "soon", file_size: "large" }],
      ]),
      lifeOf("library", { library_name: "gone" }, [
        [day(2), {}],
        [day(3), null],
      ]),
      lifeOf("library", { library_name: "hill" }, [[day(2), {}]]),
      lifeOf("scenario", { library_name: "lake", scenario_id: 1 }, [[day(2), { parent_id: 0 }]]),
      lifeOf("scenario", { library_name: "lake", scenario_id: 2 }, [[day(2), { parent_id: 1, is_result: true }]]),
    ]),
  );
  const rowsOf = (view: string) => query(`SELECT * FROM simcat_report.${view} v ORDER BY v::text`);
  for (const [view, count] of Object.entries({ libraries: 2, scenarios: 2 })) {
    const current = await rowsOf(view);
    expect(current).toHaveLength(count);
    for (const moment of ["now()", "'infinity'"]) expect(await rowsOf(`${view}_as_of(${moment})`)).toEqual(current);
    for (const moment of ["NULL", "'-infinity'"]) expect(await rowsOf(`${view}_as_of(${moment})`)).toEqual([]);
  }
});

test.each(["libraries_as_of('2026-01-01Z')", "scenarios_as_of('2026-01-01Z')"])(
  "%s is part of the query that asks it, and goes by the key's index",
  async (call) => {
    // Else the planner reads every version before it looks for one library's.
    const one = `SELECT * FROM simcat_report.${call} WHERE owner = 'ann' AND library_name = 'forest'`;
    const lines = (await plan(one, "", ["enable_seqscan", "enable_bitmapscan"])).join("\n");
    expect(lines).not.toContain("Function Scan");
    expect(lines).toMatch(/Index Cond: \(\(owner = 'ann'::text.*\) AND \(library_name = 'forest'::text/);
  },
);
