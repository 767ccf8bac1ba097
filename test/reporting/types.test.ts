import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { day, useStoredRows } from "./stored-rows.ts";

const { add, query, queryLists } = useStoredRows();

interface Column {
  readonly view: string;
  readonly name: string;
  readonly type: string;
}

/** The types of columns that Arrow clients read without loss; .ci/check-arrow reads each view with several of them. */
const ARROW_TYPES = [
  "text",
  "jsonb",
  "bigint",
  "integer",
  "boolean",
  "double precision",
  "date",
  "timestamp with time zone",
];

const allColumns = () =>
  query<Column>(
    `SELECT table_name AS view, column_name AS name, data_type AS type FROM information_schema.columns
     WHERE table_schema = 'simcat_report' ORDER BY table_name, ordinal_position`,
  );

test("every column has an Arrow type, or another column in seconds or as a bigint (fault 129)", async () => {
  const columns = await allColumns();
  const typeOf = (view: string, name: string) =>
    columns.find((column) => column.view === view && column.name === name)?.type;
  const others = columns.filter(({ type }) => !ARROW_TYPES.includes(type));
  expect(others.map(({ view, name }) => `${view}.${name}`)).toEqual([
    "data_complete_as_of.age",
    "library_freshness.lag",
    "owner_storage.bytes",
    "run_history.duration",
  ]);
  for (const { view, name, type } of others) {
    if (type === "interval") expect(typeOf(view, `${name}_seconds`), `${view}.${name}`).toBe("double precision");
    else expect(typeOf(view, `total_${name}`), `${view}.${name}`).toBe("bigint");
  }
});

test("the columns in seconds equal the interval columns", async () => {
  await add({
    libraries: [{ library_name: "forest" }],
    library_sync: [{ library_name: "forest", content_read_at: day(2), last_success_at: day(2) }],
    sync_runs: [
      { id: 1, started_at: day(1), finished_at: day(2), libraries_read: 1 },
      { id: 2, started_at: day(3), status: "running" },
    ],
  });
  expect(await query("SELECT duration_seconds FROM simcat_report.run_history ORDER BY run_id")).toEqual([
    { duration_seconds: 86_400 },
    { duration_seconds: null },
  ]);
  expect(
    await query(
      `SELECT lag_seconds = extract(epoch FROM lag)::float8 AS lag, age_seconds = extract(epoch FROM age)::float8 AS age,
         lag_seconds > 0 AND age_seconds > 0 AS late
       FROM simcat_report.library_freshness, simcat_report.data_complete_as_of`,
    ),
  ).toEqual([{ lag: true, age: true, late: true }]);
});

/** The queries for Arrow clients in docs/reporting.md, by view. */
function documentedQueries() {
  const [, section = ""] = readFileSync("docs/reporting.md", "utf8").split("\n## Python, R and Arrow\n");
  const queries =
    section.split("\n## ")[0]?.matchAll(/^```sql\nSELECT (.*?)\nFROM simcat_report\.(\w+);\n```$/gms) ?? [];
  return new Map([...queries].map(([, list = "", view = ""]) => [view, list.split(/,\s+/)]));
}

test("the documented queries for Arrow clients have each column but the intervals and decimals (fault 129)", async () => {
  const columns = await allColumns();
  const unreadable = columns.filter(({ type }) => !ARROW_TYPES.includes(type)).map(({ view }) => view);
  const readable = columns.filter(({ view, type }) => unreadable.includes(view) && ARROW_TYPES.includes(type));
  expect([...documentedQueries()].flatMap(([view, names]) => names.map((name) => `${view}.${name}`))).toEqual(
    readable.map(({ view, name }) => `${view}.${name}`),
  );
});

test("scenarios has counts_as_result, unparsed_fields and library_complete_as_of", async () => {
  await add({
    libraries: [{ library_name: "forest" }],
    scenarios: [
      { scenario_id: 1, is_result: false, last_modified: "soon", last_modified_at: day(1) },
      { scenario_id: 2, is_result: true },
      { scenario_id: 3, parent_id: 4, last_modified: "soon" },
      { scenario_id: 4, last_modified: "" },
    ],
    library_sync: [{ library_name: "forest", content_read_at: day(2), last_success_at: day(2) }],
  });
  const columns = "scenario_id::int, counts_as_result, unparsed_fields, library_complete_as_of";
  expect(await queryLists(`SELECT ${columns} FROM simcat_report.scenarios ORDER BY 1`)).toEqual([
    [1, false, null, day(2)],
    [2, true, null, day(2)],
    [3, true, "last_modified", day(2)],
    [4, false, null, day(2)],
  ]);
  expect(await queryLists(`SELECT ${columns} FROM simcat_report.scenarios_as_of(now()) WHERE scenario_id = 3`)).toEqual(
    [[3, true, "last_modified", null]],
  );
});
