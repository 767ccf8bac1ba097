import fc from "fast-check";
import { beforeEach, describe, expect, test } from "vitest";
import { useTestDatabase } from "../support/database.ts";
import { addRows, day, emptyTables } from "./stored-rows.ts";

const database = useTestDatabase();

beforeEach(async () => {
  await emptyTables(database());
});

/** The moment, and a microsecond before and after it. */
const around = (moment: string) => [
  `${moment}'::timestamptz - interval '1 us'`,
  `${moment}'::timestamptz`,
  `${moment}'::timestamptz + interval '1 us'`,
];

const scenariosAt = async (moment: string) => {
  const rows = await database().query<{ one: string }>(
    `SELECT library_name || '#' || scenario_id || ' ' || scenario_name AS one
     FROM simcat_report.scenarios_as_of('${moment}) ORDER BY 1`,
  );
  return rows.map(({ one }) => one);
};

describe("at the boundaries of literal versions", () => {
  beforeEach(async () => {
    // "forest" from the 2nd on; "lake" from the 2nd to the 4th, back from the 6th on.
    await addRows(database(), "libraries", [
      { library_name: "forest", first_seen_at: day(2), changed_at: day(2) },
      { library_name: "lake", package_version: "2.0", first_seen_at: day(2), changed_at: day(6) },
    ]);
    await addRows(database(), "library_history", [
      { library_name: "lake", package_version: "1.0", first_seen_at: day(2), valid_from: day(2), valid_to: day(4) },
      {
        library_name: "lake",
        package_version: "1.0",
        first_seen_at: day(2),
        valid_from: day(4),
        valid_to: day(6),
        removed_at: day(4),
      },
    ]);
    // forest#1 renamed on the 3rd, removed on the 5th. lake#1 never touched.
    await addRows(database(), "scenarios", [
      {
        scenario_id: 1,
        scenario_name: "after",
        first_seen_at: day(2),
        changed_at: day(5),
        removed_at: day(5),
      },
      { library_name: "lake", scenario_id: 1, scenario_name: "wet", first_seen_at: day(2), changed_at: day(2) },
    ]);
    await addRows(database(), "scenario_history", [
      { scenario_id: 1, scenario_name: "before", first_seen_at: day(2), valid_from: day(2), valid_to: day(3) },
      { scenario_id: 1, scenario_name: "after", first_seen_at: day(2), valid_from: day(3), valid_to: day(5) },
    ]);
  });

  test.each([
    ["first stored", "2026-01-02Z", [], ["forest#1 before", "lake#1 wet"]],
    ["renamed", "2026-01-03Z", ["forest#1 before", "lake#1 wet"], ["forest#1 after", "lake#1 wet"]],
    ["its library removed", "2026-01-04Z", ["forest#1 after", "lake#1 wet"], ["forest#1 after"]],
    ["removed itself", "2026-01-05Z", ["forest#1 after"], []],
    ["its library back", "2026-01-06Z", [], ["lake#1 wet"]],
  ])("a scenario %s", async (_, moment, before, after) => {
    const [justBefore, at, justAfter] = around(moment);
    expect(await scenariosAt(justBefore ?? "")).toEqual(before);
    expect(await scenariosAt(at ?? "")).toEqual(after);
    expect(await scenariosAt(justAfter ?? "")).toEqual(after);
  });

  test("libraries have the values and the counts of that moment", async () => {
    const at = (moment: string) =>
      database().query(
        `SELECT library_name, package_version, scenario_count, changed_at
         FROM simcat_report.libraries_as_of('${moment}) ORDER BY library_name`,
      );
    const row = (name: string, version: string | null, count: number, changed: number) => ({
      library_name: name,
      package_version: version,
      scenario_count: String(count),
      changed_at: day(changed),
    });
    expect(await at("2026-01-02Z'::timestamptz - interval '1 us'")).toEqual([]);
    expect(await at("2026-01-02Z'")).toEqual([row("forest", null, 1, 2), row("lake", "1.0", 1, 2)]);
    expect(await at("2026-01-04Z'::timestamptz - interval '1 us'")).toEqual([
      row("forest", null, 1, 2),
      row("lake", "1.0", 1, 2),
    ]);
    expect(await at("2026-01-04Z'")).toEqual([row("forest", null, 1, 2)]);
    expect(await at("2026-01-06Z'::timestamptz - interval '1 us'")).toEqual([row("forest", null, 0, 2)]);
    expect(await at("2026-01-06Z'")).toEqual([row("forest", null, 0, 2), row("lake", "2.0", 1, 6)]);
  });

  test("now and any future time equal the current views", async () => {
    for (const moment of ["now()", "'infinity'"]) {
      for (const view of ["libraries", "scenarios"]) {
        const then = await database().query(
          `SELECT * FROM simcat_report.${view}_as_of(${moment}) ORDER BY owner, library_name`,
        );
        expect(then).toEqual(
          await database().query(`SELECT * FROM simcat_report.${view} ORDER BY owner, library_name`),
        );
      }
    }
  });

  test.each(["NULL", "'-infinity'"])("of %s there is nothing", async (moment) => {
    expect(await database().query(`SELECT * FROM simcat_report.libraries_as_of(${moment})`)).toEqual([]);
    expect(await database().query(`SELECT * FROM simcat_report.scenarios_as_of(${moment})`)).toEqual([]);
  });
});

test.each(["libraries_as_of('2026-01-01Z')", "scenarios_as_of('2026-01-01Z')"])(
  "%s is part of the query that asks it, and goes by the key's index",
  async (call) => {
    // Else the planner reads every version before it looks for one library's.
    const client = await database().pool.connect();
    try {
      await client.query("BEGIN; SET LOCAL enable_seqscan = off; SET LOCAL enable_bitmapscan = off");
      const { rows } = await client.query(
        `EXPLAIN SELECT * FROM simcat_report.${call} WHERE owner = 'ann' AND library_name = 'forest'`,
      );
      const plan = rows.map((row) => row["QUERY PLAN"]).join("\n");
      expect(plan).not.toContain("Function Scan");
      expect(plan).toMatch(/Index Cond: \(\(owner = 'ann'::text.*\) AND \(library_name = 'forest'::text/);
    } finally {
      await client.query("ROLLBACK");
      client.release();
    }
  },
);

describe("against an oracle, over random histories", () => {
  /** Microseconds since the first of January; every number a test uses is even, so that those between are boundaries' sides. */
  const moment = fc.integer({ min: 0, max: 40 }).map((n) => n * 2);
  /** From each moment on, the value that a thing has; null while it is removed. The first is never a removal. */
  const life = fc
    .tuple(
      fc.uniqueArray(moment, { minLength: 1, maxLength: 6 }),
      fc.array(fc.option(fc.constantFrom("a", "b", "c"), { freq: 3 }), { minLength: 6, maxLength: 6 }),
    )
    .map(([moments, values]) =>
      moments
        .sort((x, y) => x - y)
        .map((from, at) => ({ from, value: at === 0 ? (values[at] ?? "a") : (values[at] ?? null) })),
    );
  type Life = readonly { readonly from: number; readonly value: string | null }[];

  const valueAt = (one: Life, at: number) => one.findLast(({ from }) => from <= at)?.value ?? null;

  const START = Date.UTC(2026, 0, 1);
  const instant = (us: number) =>
    `${new Date(START + Math.floor(us / 1000)).toISOString().slice(0, -1)}${String(us % 1000).padStart(3, "0")}Z`;

  /** A thing's life as simcat stores it: the newest version, and those before it. */
  function toRows(key: object, one: Life, column: string) {
    let value = "a";
    let removedAt: string | null = null;
    const versions = one.map((step, at) => {
      removedAt = step.value === null ? (removedAt ?? instant(step.from)) : null;
      value = step.value ?? value;
      const from = instant(step.from);
      const next = one[at + 1];
      const version = {
        ...key,
        [column]: value,
        removed_at: removedAt,
        first_seen_at: instant(one[0]?.from ?? 0),
        changed_at: from,
      };
      return { version, history: next && { ...version, valid_from: from, valid_to: instant(next.from) } };
    });
    return {
      current: versions.slice(-1).map(({ version }) => version),
      history: versions.flatMap(({ history }) => (history ? [history] : [])),
    };
  }

  const organization = fc.array(fc.record({ life, scenarios: fc.array(life, { maxLength: 4 }) }), {
    minLength: 1,
    maxLength: 4,
  });

  test("libraries_as_of and scenarios_as_of are right at every boundary and a microsecond around it", async () => {
    await fc.assert(
      fc.asyncProperty(organization, async (libraries) => {
        await emptyTables(database());
        const libraryRows = libraries.map((one, at) => toRows({ library_name: `L${at}` }, one.life, "package_version"));
        const scenarioRows = libraries.flatMap((one, at) =>
          one.scenarios.map((scenario, n) =>
            toRows({ library_name: `L${at}`, scenario_id: n + 1 }, scenario, "scenario_name"),
          ),
        );
        await addRows(
          database(),
          "libraries",
          libraryRows.flatMap(({ current }) => current),
        );
        await addRows(
          database(),
          "library_history",
          libraryRows.flatMap(({ history }) => history),
        );
        await addRows(
          database(),
          "scenarios",
          scenarioRows.flatMap(({ current }) => current),
        );
        await addRows(
          database(),
          "scenario_history",
          scenarioRows.flatMap(({ history }) => history),
        );

        const boundaries = libraries.flatMap((one) => [one.life, ...one.scenarios].flat().map(({ from }) => from));
        const moments = [...new Set(boundaries.flatMap((from) => [from - 1, from, from + 1]))]
          .filter((us) => us >= 0)
          .sort((a, b) => a - b);
        const expected = moments.map((at) => {
          const live = libraries.flatMap((one, n) => {
            const value = valueAt(one.life, at);
            return value === null ? [] : [{ one, name: `L${n}`, value }];
          });
          return {
            libraries: live.map(({ one, name, value }) => {
              const count = one.scenarios.filter((scenario) => valueAt(scenario, at) !== null).length;
              return `${name} ${value} ${count}`;
            }),
            scenarios: live.flatMap(({ one, name }) =>
              one.scenarios.flatMap((scenario, n) => {
                const value = valueAt(scenario, at);
                return value === null ? [] : [`${name}#${n + 1} ${value}`];
              }),
            ),
          };
        });
        const found = await database().query(
          `SELECT
             (SELECT coalesce(jsonb_agg(library_name || ' ' || package_version || ' ' || scenario_count ORDER BY library_name), '[]')
              FROM simcat_report.libraries_as_of(m.at)) AS libraries,
             (SELECT coalesce(jsonb_agg(library_name || '#' || scenario_id || ' ' || scenario_name
                ORDER BY library_name, scenario_id), '[]')
              FROM simcat_report.scenarios_as_of(m.at)) AS scenarios
           FROM unnest($1::timestamptz[]) WITH ORDINALITY AS m(at, n) ORDER BY n`,
          [moments.map(instant)],
        );
        expect(found).toEqual(expected);
      }),
      { numRuns: 60 },
    );
  });
});
