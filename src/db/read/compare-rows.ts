import { cutToDifference } from "../../format.ts";
import type { LibraryKey, Scenario, ScenarioId, TextParsers } from "../../model.ts";
import type { Connection } from "../connect.ts";
import type { LibraryAnswers } from "../content-fields.ts";
import { statement } from "../statement.ts";
import {
  int8Array,
  libraryColumns,
  namesOf,
  prefixed,
  type StoredColumn,
  scenarioColumns,
  toArrays,
  unnest,
} from "../store/columns.ts";
import { type ReadSource, STORED_ROWS } from "./read-source.ts";

/**
 * Compares stored rows (`s`) with the answers of the service (`r`). Postgres compares, because its jsonb equality is exact for
 * numbers of any length and ignores the spelling of JSON, and because it parsed the stored times.
 */

/** A column whose stored value differs from the service's. Both are texts, cut to 200 characters around the difference. */
export interface ColumnDifference {
  readonly column: string;
  readonly stored: string | null;
  readonly service: string | null;
}

export interface ComparedRow {
  readonly state: "missing" | "removed" | "live";
  readonly columns: readonly ColumnDifference[];
}

export interface ComparedScenario extends ComparedRow {
  readonly id: ScenarioId;
}

const SHOWN_CHARS = 200;
/** Postgres cuts values to this many characters; a difference beyond them is not shown. */
const COMPARED_CHARS = 100_000;
/** Of each kind of difference of a library, this many scenarios are reported with their columns. */
export const MAX_EXAMPLES = 3;

type Compared = Pick<StoredColumn<never>, "name" | "origin" | "type">;

/** An SQL condition: the column of `r` is known. A rejected list entry or metadata object (its JSON is NULL) says nothing. */
const IS_KNOWN = { listing: "r.listed IS NOT NULL", metadata: "r.metadata IS NOT NULL", scenario: "true" } as const;

/** The stored value and the service's, as texts. Of two JSON objects only the fields that differ. */
function shownValues({ name, type }: Compared): string {
  if (type.name !== "jsonb") return `s.${name}::text, r.${name}::text`;
  const areObjects = `jsonb_typeof(s.${name}) = 'object' AND jsonb_typeof(r.${name}) = 'object'`;
  const differingFields = (a: string, b: string) =>
    `CASE WHEN ${areObjects} THEN (SELECT coalesce(jsonb_object_agg(key, value), '{}')
      FROM jsonb_each(${a}.${name}) WHERE ${b}.${name} -> key IS DISTINCT FROM value) ELSE ${a}.${name} END::text`;
  return `${differingFields("s", "r")}, ${differingFields("r", "s")}`;
}

/** JSON array of the columns that differ: `[{"column", "stored", "service"}]`. */
function differences(columns: readonly Compared[]): string {
  const rows = columns.map(
    (column) =>
      `('${column.name}', ${IS_KNOWN[column.origin]} AND s.${column.name} IS DISTINCT FROM r.${column.name}, ${shownValues(column)})`,
  );
  return `(SELECT coalesce(jsonb_agg(jsonb_build_object('column', d.name,
      'stored', left(d.stored, ${COMPARED_CHARS}), 'service', left(d.service, ${COMPARED_CHARS}))), '[]')
    FROM (VALUES ${rows.join(",\n      ")}) AS d(name, differs, stored, service) WHERE d.differs)`;
}

const withoutKey = <Column extends StoredColumn<never>>(columns: readonly Column[]) =>
  columns.filter(({ change }) => change !== "key");

/** Compares one library's row with its list entry and metadata. No row if none is stored. */
const compareLibrary = (source: ReadSource) =>
  statement(`
SELECT CASE WHEN s.removed_at IS NULL THEN 'live' ELSE 'removed' END AS state, ${differences(withoutKey(libraryColumns))} AS columns
FROM ${unnest(libraryColumns)} AS r(${namesOf(libraryColumns).join(", ")})
CROSS JOIN LATERAL (SELECT * FROM ${STORED_ROWS[source].libraries} l
  WHERE l.owner = r.owner AND l.library_name = r.library_name OFFSET 0) AS s`);

/**
 * Returns the scenarios of a library whose rows are missing, removed or different, in the order of the parameters; for the first
 * examples also the differing columns. LATERAL and OFFSET 0 look up each row by its key: without statistics of a table
 * that was just filled, the planner would read the whole library for every part of a long list, which is ten times slower.
 */
function compareScenarios(source: ReadSource) {
  // The views show a `parent_id` of 0 as none. The comparison of `raw` includes it.
  const columns = withoutKey(scenarioColumns).filter(({ zeroIsNull }) => source === "tables" || !zeroIsNull);
  return statement(`
SELECT r.scenario_id AS id,
  CASE WHEN s.scenario_id IS NULL THEN 'missing' WHEN s.removed_at IS NOT NULL THEN 'removed' ELSE 'live' END AS state,
  CASE WHEN s.scenario_id IS NULL OR row_number() OVER (PARTITION BY s.scenario_id IS NULL, s.removed_at IS NULL ORDER BY r.ord) > ${MAX_EXAMPLES} THEN '[]'
    ELSE ${differences(columns)} END AS columns
FROM ${unnest(scenarioColumns)} WITH ORDINALITY AS r(${namesOf(scenarioColumns).join(", ")}, ord)
LEFT JOIN LATERAL (SELECT * FROM ${STORED_ROWS[source].scenarios} s
  WHERE s.owner = $owner AND s.library_name = $library_name AND s.scenario_id = r.scenario_id OFFSET 0) AS s ON true
WHERE s.scenario_id IS NULL OR s.removed_at IS NOT NULL
  OR (${prefixed("s", namesOf(columns))}) IS DISTINCT FROM (${prefixed("r", namesOf(columns))})
ORDER BY r.ord`);
}

export const COMPARE_LIBRARY = { tables: compareLibrary("tables"), views: compareLibrary("views") };
export const COMPARE_SCENARIOS = { tables: compareScenarios("tables"), views: compareScenarios("views") };

/** Compares a library's own row with its list entry and its metadata. A part that was rejected (null) is not compared. */
export async function compareLibraryRow(
  connection: Connection,
  source: ReadSource,
  library: LibraryAnswers,
  parsers: TextParsers,
): Promise<ComparedRow> {
  const bound = COMPARE_LIBRARY[source](toArrays(libraryColumns, [library], parsers));
  const [row] = (await connection.query<ComparedRow>(bound)).rows;
  return row === undefined ? { state: "missing", columns: [] } : cutValues(row);
}

/** The rows of one library's scenarios. */
interface ScenarioRows {
  readonly connection: Connection;
  readonly source: ReadSource;
  readonly key: LibraryKey;
}

/** Returns the scenarios whose rows differ from these; for the first examples also the differing columns. */
export async function compareScenarioRows(
  { connection, source, key }: ScenarioRows,
  scenarios: readonly Scenario[],
  parsers: TextParsers,
): Promise<ComparedScenario[]> {
  if (scenarios.length === 0) return [];
  const parameters = { ...toArrays(scenarioColumns, scenarios, parsers), owner: key.owner, library_name: key.name };
  return (await connection.query<ComparedScenario>(COMPARE_SCENARIOS[source](parameters))).rows.map(cutValues);
}

function cutValues<Row extends ComparedRow>(row: Row): Row {
  const columns = row.columns.map(({ column, stored, service }) => {
    const [first, second] = cutToDifference(stored ?? "", service ?? "", SHOWN_CHARS);
    return { column, stored: stored && first, service: service && second };
  });
  return { ...row, columns };
}

/** Returns the live scenarios of a library that are not in the service's list. */
export async function readUnlistedScenarios(
  { connection, source, key }: ScenarioRows,
  listed: Iterable<ScenarioId>,
): Promise<ScenarioId[]> {
  // A set operation, because the planner never turns it into a nested loop.
  const { rows } = await connection.query<{ id: ScenarioId }>(
    `SELECT scenario_id AS id FROM ${STORED_ROWS[source].scenarios} s
     WHERE owner = $1 AND library_name = $2 AND removed_at IS NULL
     EXCEPT SELECT unnest($3::int8[]) ORDER BY id`,
    [key.owner, key.name, int8Array([...listed])],
  );
  return rows.map(({ id }) => id);
}

/** Returns the stored JSON texts of these scenarios. */
export async function readScenarioSources(
  { connection, source, key }: ScenarioRows,
  ids: readonly ScenarioId[],
): Promise<Map<ScenarioId, string>> {
  const { rows } = await connection.query<{ id: ScenarioId; raw: string }>(
    `SELECT scenario_id AS id, raw::text FROM ${STORED_ROWS[source].scenarios} s
     WHERE owner = $1 AND library_name = $2 AND scenario_id = ANY ($3::int8[])`,
    [key.owner, key.name, int8Array(ids)],
  );
  return new Map(rows.map(({ id, raw }) => [id, raw]));
}
