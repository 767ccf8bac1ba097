import fc from "fast-check";
import { expect, test } from "vitest";
import { day, lifeOf, mergeRows, type Step, useStoredRows } from "./stored-rows.ts";

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
        [day(6), { package_version: "2.0" }],
      ]),
      lifeOf("library", { library_name: "gone" }, [
        [day(2), {}],
        [day(3), null],
      ]),
      lifeOf("scenario", { library_name: "lake", scenario_id: 1 }, [[day(2), { parent_id: 0 }]]),
    ]),
  );
  const rowsOf = (view: string) => query(`SELECT * FROM simcat_report.${view} ORDER BY owner, library_name`);
  for (const view of ["libraries", "scenarios"]) {
    const current = await rowsOf(view);
    expect(current).toHaveLength(1);
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

/** From each microsecond on, the value that a thing has; null while it is removed. The first is never a removal. */
type Life = readonly { readonly from: number; readonly value: string | null }[];

/** Every number is even, so that those between are the sides of boundaries. */
const moment = fc.integer({ min: 1, max: 40 }).map((n) => n * 2);
const life: fc.Arbitrary<Life> = fc
  .tuple(
    fc.uniqueArray(moment, { minLength: 1, maxLength: 6 }),
    fc.array(fc.option(fc.constantFrom("a", "b", "c"), { freq: 3 }), { minLength: 6, maxLength: 6 }),
  )
  .map(([moments, values]) =>
    moments
      .sort((x, y) => x - y)
      .map((from, at) => ({ from, value: at === 0 ? (values[at] ?? "a") : (values[at] ?? null) })),
  );
const organization = fc.array(fc.record({ life, scenarios: fc.array(life, { maxLength: 4 }) }), {
  minLength: 1,
  maxLength: 4,
});

const valueAt = (one: Life, at: number) => one.findLast(({ from }) => from <= at)?.value ?? null;

const instant = (us: number) =>
  `${new Date(Date.UTC(2026, 0, 1) + Math.floor(us / 1000)).toISOString().slice(0, -1)}${String(us % 1000).padStart(3, "0")}Z`;

const toSteps = (one: Life, column: string): Step[] =>
  one.map(({ from, value }) => [instant(from), value === null ? null : { [column]: value }]);

test("over random histories both functions equal an oracle at every boundary and a microsecond around it", async () => {
  const seed = Date.now();
  const organizations = fc
    .sample(organization, { numRuns: 60, seed })
    .map((libraries, at) => ({ owner: `owner ${at}`, libraries }));
  const rows = organizations.flatMap(({ owner, libraries }) =>
    libraries.flatMap((one, at) => {
      const key = { owner, library_name: `L${at}` };
      return [
        lifeOf("library", key, toSteps(one.life, "package_version")),
        ...one.scenarios.map((scenario, n) =>
          lifeOf("scenario", { ...key, scenario_id: n + 1 }, toSteps(scenario, "scenario_name")),
        ),
      ];
    }),
  );
  await add(mergeRows(rows));

  const expected = organizations.flatMap(({ owner, libraries }) => {
    const boundaries = libraries.flatMap((one) => [one.life, ...one.scenarios].flat().map(({ from }) => from));
    const moments = new Set(boundaries.flatMap((from) => [from - 1, from, from + 1]));
    return [...moments].map((at) => {
      const live = libraries.flatMap(({ life, scenarios }, n) => {
        const value = valueAt(life, at);
        const found = scenarios.flatMap((scenario, id) => {
          const name = valueAt(scenario, at);
          return name === null ? [] : [`L${n}#${id + 1} ${name}`];
        });
        return value === null ? [] : [{ library: `L${n} ${value} ${found.length}`, scenarios: found }];
      });
      return {
        owner,
        at: instant(at),
        libraries: live.map(({ library }) => library),
        scenarios: live.flatMap(({ scenarios }) => scenarios),
      };
    });
  });
  const found = await query(
    `SELECT owner, at,
       (SELECT coalesce(jsonb_agg(library_name || ' ' || package_version || ' ' || scenario_count ORDER BY library_name), '[]')
        FROM simcat_report.libraries_as_of(m.at::timestamptz) l WHERE l.owner = m.owner) AS libraries,
       (SELECT coalesce(jsonb_agg(library_name || '#' || scenario_id || ' ' || scenario_name ORDER BY library_name, scenario_id), '[]')
        FROM simcat_report.scenarios_as_of(m.at::timestamptz) s WHERE s.owner = m.owner) AS scenarios
     FROM unnest($1::text[], $2::text[]) WITH ORDINALITY AS m(owner, at, n) ORDER BY n`,
    [expected.map(({ owner }) => owner), expected.map(({ at }) => at)],
  );
  expect(found, `seed ${seed}`).toEqual(expected);
});
