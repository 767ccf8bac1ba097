import { cutToDifference } from "../../format.ts";
import type { LibraryKey, Scenario, ScenarioId } from "../../model.ts";
import type { TextParsers } from "../../parse-values.ts";
import type { Connection, Pool } from "../connect.ts";
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
import { readSnapshot } from "../transaction.ts";
import { type ReadSource, STORED_ROWS } from "./read-source.ts";

/** A column whose stored value differs from the service's. Both are texts, cut to 200 characters around the difference. */
export interface ColumnDifference {
  readonly column: string;
  readonly stored: string | null;
  readonly service: string | null;
}

/** `missing`: no row is stored. `removed`: it is marked as removed. `content`: `columns` differ. `unlisted`: only the database has it. */
export type DifferenceKind = "missing" | "removed" | "content" | "unlisted";

export interface RowDifference {
  /** Null for the library's own row. */
  readonly id: ScenarioId | null;
  readonly kind: DifferenceKind;
  readonly columns: readonly ColumnDifference[];
}

const SHOWN_CHARS = 200;
/** Postgres cuts values to this many characters; a difference beyond them is not shown. */
const COMPARED_CHARS = 100_000;
/** This many scenarios of a library are returned with their columns, for each kind of difference. */
export const MAX_EXAMPLES = 3;

/** An SQL condition: the column of `r` is known. A rejected list entry or metadata object (its JSON is NULL) says nothing. */
const IS_KNOWN = { listing: "r.listed IS NOT NULL", metadata: "r.metadata IS NOT NULL", scenario: "true" } as const;

/**
 * Returns the rows of `table` that are missing, removed or different, in the order of the parameters; for the first examples also the
 * differing columns as JSON. Postgres compares stored rows (`s`) with the service's (`r`), because its jsonb equality is exact for numbers
 * of any length and ignores the spelling of JSON, and because it parsed the stored times. LATERAL and OFFSET 0 look up each row by its
 * key: without statistics of a table that was just filled, the planner would read the whole library for every part of a long list.
 */
function compareStatement<Item>(
  source: ReadSource,
  table: "libraries" | "scenarios",
  all: readonly StoredColumn<Item>[],
) {
  const [id, isSameRow] =
    table === "libraries"
      ? ["NULL", "(s.owner, s.library_name) = (r.owner, r.library_name)"]
      : ["r.scenario_id", "(s.owner, s.library_name, s.scenario_id) = ($owner, $library_name, r.scenario_id)"];
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

/** Finds the live scenarios that a list lacks. A set operation, because the planner never turns it into a nested loop. */
const unlistedStatement = (source: ReadSource) =>
  statement(`SELECT id, 'unlisted' AS kind, '[]'::jsonb AS columns FROM (
  SELECT scenario_id AS id FROM ${STORED_ROWS[source].scenarios} s
  WHERE owner = $owner AND library_name = $library_name AND removed_at IS NULL
  EXCEPT SELECT unnest($ids::int8[])) AS unlisted ORDER BY id`);

const compareStatements = (source: ReadSource) => ({
  libraries: compareStatement(source, "libraries", libraryColumns),
  scenarios: compareStatement(source, "scenarios", scenarioColumns),
  unlisted: unlistedStatement(source),
});
export const COMPARE = { tables: compareStatements("tables"), views: compareStatements("views") };

/** The rows of one library. */
export interface StoredRows {
  readonly pool: Pool;
  readonly source: ReadSource;
  readonly parsers: TextParsers;
  readonly key: LibraryKey;
  readonly signal: AbortSignal;
}

/**
 * Finds the rows that differ from these scenarios, on one snapshot. With `end`, which the last scenarios have, also the library's own
 * row if it differs from the list entry and the metadata, and stored scenarios that are not listed, unless `listed` is null.
 */
export async function findDifferences(
  { pool, source, parsers, key, signal }: StoredRows,
  scenarios: readonly Scenario[],
  end?: { readonly library: LibraryAnswers; readonly listed: Iterable<ScenarioId> | null },
) {
  const compare = COMPARE[source];
  const of = { owner: key.owner, library_name: key.name };
  const statements = [compare.scenarios({ ...toArrays(scenarioColumns, scenarios, parsers), ...of })];
  if (end) statements.push(compare.libraries(toArrays(libraryColumns, [end.library], parsers)));
  if (end?.listed) statements.push(compare.unlisted({ ids: int8Array([...end.listed]), ...of }));
  const read = async (connection: Connection) => {
    const found: RowDifference[] = [];
    for (const one of statements) found.push(...(await connection.query<RowDifference>(one)).rows.map(cutValues));
    return found;
  };
  return readSnapshot(pool, "reading a library's rows", read, signal);
}

function cutValues({ columns, ...row }: RowDifference): RowDifference {
  const cut = columns.map(({ column, stored, service }) => {
    const [first, second] = cutToDifference(stored ?? "", service ?? "", SHOWN_CHARS);
    return { column, stored: stored && first, service: service && second };
  });
  return { ...row, columns: cut };
}

/** Returns the stored JSON texts of these scenarios. */
export async function readScenarioSources({ pool, source, key, signal }: StoredRows, ids: readonly ScenarioId[]) {
  const text = `SELECT scenario_id AS id, raw::text FROM ${STORED_ROWS[source].scenarios} s
    WHERE owner = $1 AND library_name = $2 AND scenario_id = ANY ($3::int8[])`;
  const read = (connection: Connection) =>
    connection.query<{ id: ScenarioId; raw: string }>(text, [key.owner, key.name, int8Array(ids)]);
  const { rows } = await readSnapshot(pool, "reading a library's rows", read, signal);
  return rows.map(({ id, raw }) => [id, raw] as const);
}
