import { beforeEach, describe, expect, test } from "vitest";
import { inUndone } from "../support/database.ts";
import { day, lifeOf, useStoredRows } from "./stored-rows.ts";

const BEGAN = new Date("2026-01-01T12:00:00Z");
const { add, database, query } = useStoredRows(BEGAN);

beforeEach(async () => {
  // "forest" since the 2nd, in its second version since the 6th, with a scenario of the same age.
  await add(
    lifeOf("library", { library_name: "forest" }, [
      [day(2), {}],
      [day(6), {}],
    ]),
  );
  await add(lifeOf("scenario", { scenario_id: 1 }, [[day(2), {}]]));
});

const prune = (id: number, cutoff: Date) => ({ id, pruned_at: day(20), cutoff });

/** The rows of a query and the notices that it raised, asked as a role that may read only the views. */
async function askAsReader(sql: string): Promise<{ rows: Record<string, unknown>[]; notices: string[] }> {
  const reader = `CREATE ROLE simcat_test_reader; GRANT USAGE ON SCHEMA simcat_report TO simcat_test_reader;
    GRANT SELECT ON ALL TABLES IN SCHEMA simcat_report TO simcat_test_reader; SET LOCAL ROLE simcat_test_reader;
    SET LOCAL timezone = 'UTC'`;
  return inUndone(database(), reader, async (client) => {
    const notices: string[] = [];
    const hear = ({ message = "" }: { message?: string | undefined }) => void notices.push(message);
    client.on("notice", hear);
    const { rows } = await client.query(sql).finally(() => client.off("notice", hear));
    return { rows, notices };
  });
}

const NOTICE = (moment: string) => `no rows for ${moment}: the history is complete since 2026-01-05 00:00:00+00`;

describe.each(["libraries_as_of", "scenarios_as_of"])("%s after a prune (fault 125)", (name) => {
  const call = (moment: string) => `SELECT library_name FROM simcat_report.${name}(${moment})`;
  const forest = { rows: [{ library_name: "forest" }], notices: [] };

  test("answers from the newest cutoff on, without a prune since the history began, with a notice before", async () => {
    await add({ prunes: [prune(1, day(3)), prune(2, day(5)), prune(3, day(4))] });
    expect(await askAsReader(call("'2026-01-05Z'"))).toEqual(forest);
    expect(await askAsReader(call("'2026-01-07Z'"))).toEqual(forest);
    expect(await askAsReader(call("'2026-01-04 23:59:59.999999Z'"))).toEqual({
      rows: [],
      notices: [NOTICE("2026-01-04 23:59:59.999999+00")],
    });
    expect((await askAsReader(call("'-infinity'"))).notices).toHaveLength(1);
    expect(await askAsReader(call("NULL"))).toEqual({ rows: [], notices: [] });
    await query("DELETE FROM simcat.prunes");
    expect(await askAsReader(call("'2026-01-02Z'"))).toEqual(forest);
    expect(await askAsReader(call("'2026-01-01Z'"))).toEqual({
      rows: [],
      notices: ["no rows for 2026-01-01 00:00:00+00: the history is complete since 2026-01-01 12:00:00+00"],
    });
    await query("DELETE FROM simcat.sync_runs");
    expect(await askAsReader(call("'2026-01-07Z'"))).toEqual({
      rows: [],
      notices: ["no rows for 2026-01-07 00:00:00+00: no run has seen the whole organization yet"],
    });
    expect(await askAsReader(call("now()"))).toEqual(forest);
  });

  test("checks once per call, however many rows there are and wherever the time comes from", async () => {
    await add({ prunes: [prune(1, day(5))] });
    await add({ libraries: Array.from({ length: 50 }, (_, n) => ({ library_name: `L${n}` })) });
    await query("ANALYZE simcat.libraries, simcat.library_history, simcat.scenarios");
    const moments = "unnest(ARRAY['2026-01-03Z', '2026-01-04Z', '2026-01-06Z']::timestamptz[]) AS m(at)";
    const { rows, notices } = await askAsReader(
      `SELECT m.at, count(l.library_name)::int AS found FROM ${moments}
       LEFT JOIN LATERAL simcat_report.${name}(m.at) AS l ON l.library_name = 'forest' GROUP BY m.at ORDER BY m.at`,
    );
    expect(rows).toEqual([
      { at: day(3), found: 0 },
      { at: day(4), found: 0 },
      { at: day(6), found: 1 },
    ]);
    expect(notices).toEqual([NOTICE("2026-01-03 00:00:00+00"), NOTICE("2026-01-04 00:00:00+00")]);
    expect((await askAsReader(call("(SELECT '2026-01-03Z'::timestamptz)"))).notices).toHaveLength(1);
    expect((await askAsReader(call("now() - interval '100 years'"))).notices).toHaveLength(1);
  });
});

describe("history_complete_since", () => {
  beforeEach(() => query("DELETE FROM simcat.sync_runs"));
  const since = async (column = "history_complete_since") => {
    const [row] = await query<{ since: Date | null }>(
      `SELECT ${column} AS since FROM simcat_report.data_complete_as_of`,
    );
    return row?.since;
  };
  const run = (n: number, rest: object = {}) => ({ id: n, started_at: day(n - 1), finished_at: day(n), ...rest });

  test("is the end of the first run that saw everything, and NULL before it", async () => {
    await add({
      sync_runs: [run(2, { status: "interrupted" }), run(3, { scope: { owners: ["ann"], libraries: [] } })],
      prunes: [prune(1, day(2))],
    });
    expect(await since()).toBeNull();
    await add({ sync_runs: [run(4, { status: "partial" }), run(6)] });
    expect(await since()).toEqual(day(4));
  });

  test("is the newest cutoff if that is later", async () => {
    await add({ sync_runs: [run(4)], prunes: [prune(1, day(9)), prune(2, day(8))] });
    expect(await since()).toEqual(day(9));
  });

  test("of the events is the newest cutoff of a prune that deleted events", async () => {
    await add({ sync_runs: [run(4)], prunes: [{ ...prune(1, day(5)), events: true }, prune(2, day(8))] });
    expect(await since("events_complete_since")).toEqual(day(5));
  });
});
