import fc from "fast-check";
import { expect, test } from "vitest";
import { day, lifeOf, mergeRows, type Step, useStoredRows } from "./stored-rows.ts";

const { add, plan, pruneBefore, query, tablesRead } = useStoredRows(day(0));

/** Few days, so that many events of a library and its scenarios have the same time. */
const DAYS = 12;

/** From each day on, whether the item is there. */
const live = (from: number): Step => [day(from), {}];
const gone = (from: number): Step => [day(from), null];

/** Two equal steps are a change. The first version is always there. */
const lifeSince = (first: number): fc.Arbitrary<Step[]> =>
  fc
    .tuple(
      fc.uniqueArray(fc.integer({ min: first, max: DAYS }), { minLength: 1, maxLength: 8 }),
      fc.array(fc.boolean(), { minLength: 8, maxLength: 8 }),
    )
    .map(([days, states]) => {
      const steps = days
        .toSorted((a, b) => a - b)
        .map((from, at) => (at === 0 || states[at] ? live(from) : gone(from)));
      // A removed item is not removed again.
      return steps.filter(([, fields], at) => fields !== null || steps[at - 1]?.[1] !== null);
    });

/** No scenario is older than its library. */
const history = lifeSince(1).chain((library) => {
  const first = new Date(library[0]?.[0] ?? 0).getUTCDate();
  return fc.record({
    library: fc.constant(library),
    scenarios: fc.array(lifeSince(first), { minLength: 1, maxLength: 3 }),
  });
});

const FOREST = { library_name: "forest" };

/** Adds the library and its scenarios, whose ids begin at 1. */
const rowsOf = (library: readonly Step[], scenarios: readonly (readonly Step[])[], owner = "ann") =>
  mergeRows([
    lifeOf("library", { ...FOREST, owner }, library),
    ...scenarios.map((life, at) => lifeOf("scenario", { ...FOREST, owner, scenario_id: at + 1 }, life)),
  ]);

const SIGN = `CASE WHEN a.kind IN ('loaded', 'added', 'returned', 'returned_with_library') THEN 1
  WHEN a.kind IN ('removed', 'went_with_library') THEN -1 ELSE 0 END`;

/** Items whose events do not add up to whether they were live, at noon and at midnight of each day from this one on. */
const disagreements = (since: number) =>
  query<{ at: Date; owner: string; scenario_id: string | null; sum: number; live: boolean }>(
    `WITH moment AS (
       SELECT $1::timestamptz + n * interval '12 hours' AS at FROM generate_series(0, 2 * $2::int) AS n
     ), live AS (
       SELECT m.at, s.owner, s.scenario_id FROM moment m, simcat_report.scenarios_as_of(m.at) s
       UNION ALL
       SELECT m.at, l.owner, NULL FROM moment m, simcat_report.libraries_as_of(m.at) l
     ), start AS (
       SELECT owner, scenario_id FROM live WHERE at = $1::timestamptz
     ), event AS (
       SELECT a.owner, a.scenario_id, a.seen_at, ${SIGN} AS step FROM simcat_report.activity a WHERE a.seen_at > $1::timestamptz
       UNION ALL
       SELECT owner, scenario_id, $1::timestamptz, 1 FROM start
     ), item AS (
       SELECT DISTINCT owner, scenario_id FROM event
     ), summed AS (
       SELECT m.at, i.owner, i.scenario_id, coalesce(sum(e.step), 0)::int AS sum
       FROM moment m CROSS JOIN item i
       LEFT JOIN event e ON e.owner = i.owner AND e.scenario_id IS NOT DISTINCT FROM i.scenario_id AND e.seen_at <= m.at
       GROUP BY 1, 2, 3
     )
     SELECT s.*, v.owner IS NOT NULL AS live
     FROM summed s LEFT JOIN live v ON v.at = s.at AND v.owner = s.owner AND v.scenario_id IS NOT DISTINCT FROM s.scenario_id
     WHERE s.sum <> (v.owner IS NOT NULL)::int
     ORDER BY s.owner, s.scenario_id, s.at LIMIT 3`,
    [day(since), DAYS - since + 1],
  );

const liveByActivity = async () => {
  const [row] = await query<{ libraries: number; scenarios: number }>(
    `SELECT coalesce(sum(${SIGN}) FILTER (WHERE entity = 'library'), 0)::int AS libraries,
       coalesce(sum(${SIGN}) FILTER (WHERE entity = 'scenario'), 0)::int AS scenarios FROM simcat_report.activity a`,
  );
  return row;
};

test("events add up to whether each item was live, and after a prune from the state at any time since (fault 127)", async () => {
  const seed = Date.now();
  const histories = fc.sample(history, { numRuns: 150, seed });
  await add(mergeRows(histories.map((one, at) => rowsOf(one.library, one.scenarios, `o${at}`))));
  expect(await disagreements(0), `seed ${seed}`).toEqual([]);
  const [live] = await query(
    `SELECT (SELECT count(*)::int FROM simcat_report.libraries) AS libraries,
       (SELECT count(*)::int FROM simcat_report.scenarios) AS scenarios`,
  );
  expect(await liveByActivity(), `seed ${seed}`).toEqual(live);

  const before = await query("SELECT 1 FROM simcat_report.activity WHERE seen_at > $1", [day(6.5)]);
  await pruneBefore(day(6.5));
  expect(await disagreements(7), `seed ${seed}`).toEqual([]);
  const after = await query<{ old: boolean }>("SELECT seen_at < $1 AS old FROM simcat_report.activity", [day(6.5)]);
  expect(before.length).toBeGreaterThan(100);
  expect(after).toEqual(before.map(() => ({ old: false })));
});

test("a query about libraries does not read scenarios", async () => {
  const read = await tablesRead("SELECT * FROM simcat_report.activity WHERE entity = 'library'");
  expect(read).toEqual(["events", "prunes"]);
});

const events = async (where = "true") => {
  const rows = await query<{ event: string }>(
    `SELECT to_char(seen_at AT TIME ZONE 'UTC', 'DD') || ' ' || kind || ' ' || entity || coalesce(' ' || scenario_id, '')
       || ' run ' || run_id AS event
     FROM simcat_report.activity WHERE ${where} ORDER BY seen_at, entity, scenario_id, kind`,
  );
  return rows.map(({ event }) => event);
};

test("a scenario that is missing when its library returns is removed once, and one that returns with it is back once", async () => {
  await add(
    rowsOf(
      [live(1), gone(3), live(5)],
      [
        [live(1), gone(5)],
        [live(1), gone(2), live(5)],
        [live(1), gone(3)],
        [live(5)],
        [live(1), live(4)],
        [live(1), live(5)],
      ],
    ),
  );
  expect(await events("seen_at > '2026-01-01Z'")).toEqual([
    "02 removed scenario 2 run 2",
    "03 removed library run 3",
    "03 went_with_library scenario 1 run 3",
    "03 removed scenario 3 run 3",
    "03 went_with_library scenario 5 run 3",
    "03 went_with_library scenario 6 run 3",
    "05 returned library run 5",
    "05 returned scenario 2 run 5",
    "05 added scenario 4 run 5",
    "05 returned_with_library scenario 5 run 5",
    "05 changed scenario 6 run 5",
    "05 returned_with_library scenario 6 run 5",
  ]);
});

test("an event has the date and the kind of its version, and one that is gone those of the last version", async () => {
  const dated = (n: number) => ({ last_modified: `day ${n}`, last_modified_at: day(n) });
  await add(
    rowsOf(
      [[day(1), dated(11)], gone(4)],
      [
        [
          [day(1), { parent_id: 7, ...dated(12) }],
          [day(2), { is_result: false, ...dated(13) }],
        ],
      ],
    ),
  );
  expect(
    await query(
      `SELECT kind, scenario_id, is_result, to_char(service_date AT TIME ZONE 'UTC', 'DD') AS dated
       FROM simcat_report.activity ORDER BY seen_at, scenario_id NULLS FIRST`,
    ),
  ).toEqual([
    { kind: "added", scenario_id: null, is_result: null, dated: "11" },
    { kind: "added", scenario_id: "1", is_result: true, dated: "12" },
    { kind: "changed", scenario_id: "1", is_result: false, dated: "13" },
    { kind: "removed", scenario_id: null, is_result: null, dated: "11" },
    { kind: "went_with_library", scenario_id: "1", is_result: false, dated: "13" },
  ]);
});

test("the newest events, and those of a kind, are read in the order of an index (fault 130)", async () => {
  await query(`
    INSERT INTO simcat.events (seen_at, run_id, kind, owner, library_name, scenario_id, bytes, scenarios, results)
    SELECT now() - n * interval '1 second', 1, 'added', 'ann', 'lib ' || n % 100, n, 0, 1, 0 FROM generate_series(1, 20000) AS n;
    ANALYZE simcat.events`);
  for (const where of ["true", "kind = 'added'", "entity = 'scenario'"]) {
    const newest = `SELECT * FROM simcat_report.activity WHERE ${where} ORDER BY seen_at DESC LIMIT 100`;
    const lines = await plan(newest, "(ANALYZE, COSTS OFF, TIMING OFF)");
    expect(lines.find((line) => line.includes("events_seen_at_index"))).toMatch(/Backward.*rows=100/);
    expect(lines.filter((line) => line.includes("Sort"))).toEqual([]);
  }
});
