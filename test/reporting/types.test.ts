import { readFileSync } from "node:fs";
import {
  Bool,
  DataType,
  DateDay,
  Float64,
  Int32,
  Int64,
  makeData,
  makeVector,
  Table,
  TimestampMicrosecond,
  tableFromIPC,
  tableToIPC,
  Utf8,
  type Vector,
  vectorFromArray,
} from "apache-arrow";
import pg from "pg";
import { beforeAll, expect, test } from "vitest";
import { useTestDatabase } from "../support/database.ts";
import { addRows, day } from "./stored-rows.ts";

const database = useTestDatabase();

interface Column {
  readonly view: string;
  readonly name: string;
  readonly type: string;
}

/** The Arrow type of each type that a view may have. */
const ARROW_TYPES: Readonly<Record<string, DataType>> = {
  text: new Utf8(),
  jsonb: new Utf8(),
  bigint: new Int64(),
  integer: new Int32(),
  boolean: new Bool(),
  "double precision": new Float64(),
  date: new DateDay(),
  "timestamp with time zone": new TimestampMicrosecond("UTC"),
};
const OTHER_TYPES = ["interval", "numeric"];

const LARGE = "9007199254740993";

const allColumns = () =>
  database().query<Column>(
    `SELECT table_name AS view, column_name AS name, data_type AS type FROM information_schema.columns
     WHERE table_schema = 'simcat_report' ORDER BY table_name, ordinal_position`,
  );

beforeAll(async () => {
  const dated = { last_modified: "soon", last_modified_at: "2025-12-24T01:02:03.123456Z" };
  await addRows(database(), "libraries", [
    { library_name: "forest", ...dated, file_size: "large", file_size_bytes: LARGE, metadata: { a: [1.5, null] } },
    { library_name: "lake", file_size_bytes: "9223372036854775807" },
    { library_name: "gone", ...dated, removed_at: day(3), changed_at: day(3) },
  ]);
  await addRows(database(), "scenarios", [
    { scenario_id: LARGE, scenario_name: "Ÿ 森林", is_result: false, ...dated },
    { scenario_id: 2, parent_id: LARGE, is_result: true, changed_at: day(2), description: "" },
    { scenario_id: 3, parent_id: 4, last_modified: "soon" },
    { scenario_id: 4, last_modified: "" },
  ]);
  await addRows(database(), "scenario_history", [{ scenario_id: 2, valid_from: day(1), valid_to: day(2) }]);
  await addRows(database(), "library_history", [{ library_name: "gone", valid_from: day(1), valid_to: day(3) }]);
  await addRows(database(), "library_sync", [
    { library_name: "forest", content_read_at: day(2), last_success_at: day(2), scenario_count: 3, result_count: 2 },
  ]);
  await addRows(database(), "sync_runs", [
    { id: 1, started_at: day(1), finished_at: day(2), scope: { owner: ["ann"] }, bytes: LARGE },
    { id: 2, started_at: day(3), status: "running" },
  ]);
});

test("every interval column has a column in seconds, every decimal column a bigint column (fault 129)", async () => {
  const columns = await allColumns();
  const typeOf = (view: string, name: string) =>
    columns.find((column) => column.view === view && column.name === name)?.type;
  const others = columns.filter(({ type }) => OTHER_TYPES.includes(type));
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
  expect(
    await database().query(
      `SELECT duration_seconds, extract(epoch FROM duration)::float8 AS duration FROM simcat_report.run_history ORDER BY run_id`,
    ),
  ).toEqual([
    { duration_seconds: 86_400, duration: 86_400 },
    { duration_seconds: null, duration: null },
  ]);
  expect(
    await database().query(
      "SELECT lag_seconds = extract(epoch FROM lag)::float8 AS same, lag_seconds > 0 AS late FROM simcat_report.library_freshness",
    ),
  ).toEqual([{ same: true, late: true }]);
});

/** The values as strings or null, in the form that the Arrow vector is compared in. */
const comparable = ({ name, type }: Column) => {
  const value = pg.escapeIdentifier(name);
  if (type === "timestamp with time zone") return `(extract(epoch FROM ${value}) * 1000000)::bigint::text AS ${value}`;
  if (type === "date") return `extract(epoch FROM ${value})::bigint::text AS ${value}`;
  return `${value}::text AS ${value}`;
};

function toVector(values: readonly (string | null)[], column: Column): Vector {
  const type = ARROW_TYPES[column.type];
  if (type === undefined) throw new Error(`${column.view}.${column.name} has the type ${column.type}`);
  const parsed = <T>(parse: (text: string) => T) => values.map((text) => (text === null ? null : parse(text)));
  if (type instanceof Int64) return vectorFromArray(parsed(BigInt), type);
  if (type instanceof TimestampMicrosecond) {
    // vectorFromArray takes milliseconds, which would lose the microseconds.
    const [data] = vectorFromArray(parsed(BigInt), new Int64()).data;
    if (data === undefined) return makeVector(makeData({ type }));
    const { values: micros, length, nullCount, nullBitmap } = data;
    return makeVector(makeData({ type, data: micros, length, nullCount, nullBitmap }));
  }
  if (type instanceof Int32 || type instanceof Float64) return vectorFromArray(parsed(Number), type);
  if (type instanceof Bool)
    return vectorFromArray(
      parsed((text) => text === "true"),
      type,
    );
  if (type instanceof DateDay)
    return vectorFromArray(
      parsed((text) => new Date(Number(text) * 1000)),
      type,
    );
  return vectorFromArray(values, type);
}

function toTexts(vector: Vector | null): (string | null)[] {
  if (vector === null) throw new Error("the table lacks a column");
  return Array.from({ length: vector.length }, (_, row) => {
    if (!vector.isValid(row)) return null;
    if (DataType.isTimestamp(vector.type)) return String(vector.data[0]?.values[row]);
    return DataType.isDate(vector.type) ? String(Number(vector.get(row)) / 1000) : String(vector.get(row));
  });
}

/** The queries for Arrow clients in docs/reporting.md, by view. */
function documentedQueries() {
  const [, section = ""] = readFileSync("docs/reporting.md", "utf8").split("\n## Python, R and Arrow\n");
  const queries =
    section.split("\n## ")[0]?.matchAll(/^```sql\nSELECT (.*?)\nFROM simcat_report\.(\w+);\n```$/gms) ?? [];
  return new Map([...queries].map(([, list = "", view = ""]) => [view, list.split(/,\s+/)]));
}

test("the documented queries for Arrow clients have each column but the intervals and decimals (fault 129)", async () => {
  const columns = await allColumns();
  const unreadable = columns.filter(({ type }) => OTHER_TYPES.includes(type)).map(({ view }) => view);
  const readable = columns.filter(({ view, type }) => unreadable.includes(view) && !OTHER_TYPES.includes(type));
  expect([...documentedQueries()].flatMap(([view, names]) => names.map((name) => `${view}.${name}`))).toEqual(
    readable.map(({ view, name }) => `${view}.${name}`),
  );
});

test("every view can be read into Arrow without loss, four of them by their documented query", async () => {
  const columns = await allColumns();
  const documented = documentedQueries();
  const rowCounts: Record<string, number> = {};
  for (const view of new Set(columns.map((column) => column.view))) {
    const names = documented.get(view);
    const own = columns.filter((column) => column.view === view && (names?.includes(column.name) ?? true));
    const rows = await database().query<Record<string, string | null>>(
      `SELECT ${own.map(comparable).join(", ")} FROM (SELECT ${names?.join(", ") ?? "*"} FROM simcat_report.${view}) AS read`,
    );
    const texts = (name: string) => rows.map((row) => row[name] ?? null);
    const vectors = own.map((column) => [column.name, toVector(texts(column.name), column)] as const);
    const read = tableFromIPC(tableToIPC(new Table(Object.fromEntries(vectors))));
    for (const column of own) {
      const { name, type } = column;
      expect(String(read.getChild(name)?.type), `${view}.${name}`).toBe(String(ARROW_TYPES[type]));
      expect(toTexts(read.getChild(name)), `${view}.${name}`).toEqual(texts(name));
    }
    rowCounts[view] = rows.length;
  }
  expect(rowCounts).toMatchObject({ libraries: 2, scenarios: 4, run_history: 2, scenario_versions: 5, removed: 1 });
});

test("scenarios has counts_as_result, unparsed_fields and library_complete_as_of", async () => {
  expect(
    await database().query(
      `SELECT scenario_id, counts_as_result, unparsed_fields, library_complete_as_of
       FROM simcat_report.scenarios ORDER BY scenario_id`,
    ),
  ).toEqual([
    { scenario_id: "2", counts_as_result: true, unparsed_fields: null, library_complete_as_of: day(2) },
    { scenario_id: "3", counts_as_result: true, unparsed_fields: "last_modified", library_complete_as_of: day(2) },
    { scenario_id: "4", counts_as_result: false, unparsed_fields: null, library_complete_as_of: day(2) },
    { scenario_id: LARGE, counts_as_result: false, unparsed_fields: null, library_complete_as_of: day(2) },
  ]);
  expect(
    await database().query(
      `SELECT counts_as_result, unparsed_fields, library_complete_as_of
       FROM simcat_report.scenarios_as_of(now()) WHERE scenario_id = 3`,
    ),
  ).toEqual([{ counts_as_result: true, unparsed_fields: "last_modified", library_complete_as_of: null }]);
});
