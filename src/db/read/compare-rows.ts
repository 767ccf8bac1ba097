import { cutToDifference } from "../../format.ts";
import type { LibraryKey, Scenario, ScenarioId } from "../../model.ts";
import type { TextParsers } from "../../parse-values.ts";
import type { Connection } from "../connect.ts";
import type { LibraryAnswers } from "../content-fields.ts";
import { int8Array, statement } from "../statement.ts";
import {
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
  /** `missing`: no row is stored. `removed`: it is marked as removed. `content`: it is live; `columns` differ. */
  readonly kind: "missing" | "removed" | "content";
  readonly columns: readonly ColumnDifference[];
}

export interface ComparedScenario extends ComparedRow {
  readonly id: ScenarioId;
}

const SHOWN_CHARS = 200;
/** Postgres cuts values to this many characters; a difference beyond them is not shown. */
const COMPARED_CHARS = 100_000;
/** This many scenarios of a library are reported with their columns, for each kind of difference. */
export const MAX_EXAMPLES = 3;

/** An SQL condition: the column of `r` is known. A rejected list entry or metadata object (its JSON is NULL) says nothing. */
const IS_KNOWN = { listing: "r.listed IS NOT NULL", metadata: "r.metadata IS NOT NULL", scenario: "true" } as const;

/**
 * Returns the rows of `table` that are missing, removed or different, in the order of the parameters; for the first examples also
 * the differing columns as JSON: `[{"column", "stored", "service"}]`. LATERAL and OFFSET 0 look up each row by its key: without
 * statistics of a table that was just filled, the planner would read the whole library for every part of a long list, which is
 * ten times slower.
 */
function compareStatement<Item>(
  source: ReadSource,
  table: "libraries" | "scenarios",
  all: readonly StoredColumn<Item>[],
  id: string,
  isSameRow: string,
) {
  // The views show a `parent_id` of 0 as none. The comparison of `raw` includes it.
  const columns = all.filter(({ change, zeroIsNull }) => change !== "key" && (source === "tables" || !zeroIsNull));
  const values = columns.map(
    ({ name, origin }) =>
      `('${name}', ${IS_KNOWN[origin]} AND s.${name} IS DISTINCT FROM r.${name}, s.${name}::text, r.${name}::text)`,
  );
  return statement(`
SELECT ${id} AS id, CASE WHEN s.owner IS NULL THEN 'missing' WHEN s.removed_at IS NOT NULL THEN 'removed' ELSE 'content' END AS kind,
  CASE WHEN s.owner IS NULL OR row_number() OVER (PARTITION BY s.owner IS NULL, s.removed_at IS NULL ORDER BY r.ord) > ${MAX_EXAMPLES} THEN '[]'
    ELSE (SELECT coalesce(jsonb_agg(jsonb_build_object('column', d.name,
      'stored', left(d.stored, ${COMPARED_CHARS}), 'service', left(d.service, ${COMPARED_CHARS}))), '[]')
    FROM (VALUES ${values.join(",\n      ")}) AS d(name, differs, stored, service) WHERE d.differs) END AS columns
FROM ${unnest(all)} WITH ORDINALITY AS r(${namesOf(all).join(", ")}, ord)
LEFT JOIN LATERAL (SELECT * FROM ${STORED_ROWS[source][table]} s WHERE ${isSameRow} OFFSET 0) AS s ON true
WHERE s.owner IS NULL OR s.removed_at IS NOT NULL
  OR (${prefixed("s", namesOf(columns))}) IS DISTINCT FROM (${prefixed("r", namesOf(columns))})
ORDER BY r.ord`);
}

const compareLibrary = (source: ReadSource) =>
  compareStatement(
    source,
    "libraries",
    libraryColumns,
    "NULL",
    "(s.owner, s.library_name) = (r.owner, r.library_name)",
  );
const compareScenarios = (source: ReadSource) =>
  compareStatement(
    source,
    "scenarios",
    scenarioColumns,
    "r.scenario_id",
    "(s.owner, s.library_name, s.scenario_id) = ($owner, $library_name, r.scenario_id)",
  );

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
  return row === undefined ? { kind: "content", columns: [] } : cutValues(row);
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
): Promise<(readonly [ScenarioId, string])[]> {
  const { rows } = await connection.query<{ id: ScenarioId; raw: string }>(
    `SELECT scenario_id AS id, raw::text FROM ${STORED_ROWS[source].scenarios} s
     WHERE owner = $1 AND library_name = $2 AND scenario_id = ANY ($3::int8[])`,
    [key.owner, key.name, int8Array(ids)],
  );
  return rows.map(({ id, raw }) => [id, raw]);
}
