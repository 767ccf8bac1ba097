import type { LibraryKey, ListedLibrary, Metadata, Scenario, ScenarioId } from "../model.ts";
import type { Connection } from "./connect.ts";
import { type ReadSeconds, toColumns } from "./scenario-rows.ts";

/** A column whose value is not the service's. Of objects only the fields that differ; both cut to SHOWN characters. */
export interface ColumnDifference {
  readonly column: string;
  readonly stored: string | null;
  readonly service: string | null;
}

export type RowState = "missing" | "removed" | "live";

export interface ScenarioRow {
  readonly id: ScenarioId;
  readonly state: RowState;
  readonly columns: readonly ColumnDifference[];
}

/** Characters of a value that are kept of a difference. */
const SHOWN = 200;

/** Equality is Postgres's own, so that numbers of any length are compared exactly and the spelling of JSON does not count. */
const text = (column: string) => `s.${column}::text, r.${column}::text`;
const differingFields = (column: string) => {
  const areObjects = `jsonb_typeof(s.${column}) = 'object' AND jsonb_typeof(r.${column}) = 'object'`;
  const of = (
    a: string,
    b: string,
  ) => `CASE WHEN ${areObjects} THEN (SELECT coalesce(jsonb_object_agg(key, value), '{}')
    FROM jsonb_each(${a}.${column}) WHERE ${b}.${column} -> key IS DISTINCT FROM value) ELSE ${a}.${column} END::text`;
  return `${of("s", "r")}, ${of("r", "s")}`;
};

/** The columns of `s` (stored) that differ from those of `r` (the service's), as ColumnDifferences. */
const differences = (
  columns: Readonly<Record<string, { isCompared?: string; shown?: (column: string) => string }>>,
) => `
  (SELECT coalesce(jsonb_agg(jsonb_build_object(
      'column', d.name, 'stored', left(d.stored, ${SHOWN}), 'service', left(d.service, ${SHOWN}))), '[]')
    FROM (VALUES ${Object.entries(columns)
      .map(([name, { isCompared = "true", shown = text }]) => {
        const differs = `${isCompared} AND s.${name} IS DISTINCT FROM r.${name}`;
        return `('${name}', ${differs}, ${shown(name)})`;
      })
      .join(", ")}) AS d(name, differs, stored, service) WHERE d.differs)`;

/** What a rejected entry or a rejected object would have said is not known. */
const IF_LISTED = { isCompared: "r.listed IS NOT NULL" };
const IF_READ = { isCompared: "r.metadata IS NOT NULL" };

const LIBRARY = `
SELECT s.removed_at IS NULL AS live, ${differences({
  last_modified: IF_LISTED,
  last_modified_at: IF_LISTED,
  listed: { ...IF_LISTED, shown: differingFields },
  library_owner: IF_READ,
  file_size: IF_READ,
  file_size_bytes: IF_READ,
  package_name: IF_READ,
  package_version: IF_READ,
  description: IF_READ,
  metadata: { ...IF_READ, shown: differingFields },
})} AS columns
FROM simcat.libraries s, (SELECT $3::text AS last_modified, to_timestamp($4::float8) AS last_modified_at, $5::jsonb AS listed,
  $6::text AS library_owner, $7::text AS file_size, $8::int8 AS file_size_bytes, $9::text AS package_name,
  $10::text AS package_version, $11::text AS description, $12::jsonb AS metadata) AS r
WHERE s.owner = $1 AND s.library_name = $2`;

/** How the service's texts become typed columns. */
export interface ReadTexts {
  readonly seconds: ReadSeconds;
  readonly bytes: (text: string | null) => number | null;
}

/** Compares a library's own row with what the service lists and says of it. A rejected part (null) is not compared. */
export async function compareLibraryRow(
  connection: Connection,
  listed: ListedLibrary,
  metadata: Metadata | null,
  { seconds, bytes }: ReadTexts,
): Promise<{ state: RowState; columns: readonly ColumnDifference[] }> {
  const { rows } = await connection.query<{ live: boolean; columns: ColumnDifference[] }>(LIBRARY, [
    listed.key.owner,
    listed.key.name,
    listed.lastModified,
    seconds(listed.lastModified),
    listed.source,
    metadata?.libraryOwner,
    metadata?.fileSize,
    bytes(metadata?.fileSize ?? null),
    metadata?.packageName,
    metadata?.packageVersion,
    metadata?.description,
    metadata?.source,
  ]);
  const [row] = rows;
  if (row === undefined) return { state: "missing", columns: [] };
  return { state: row.live ? "live" : "removed", columns: row.columns };
}

const SCENARIO_COLUMNS = [
  "parent_id",
  "scenario_name",
  "is_result",
  "last_modified",
  "last_modified_at",
  "description",
];
const columnsOf = (table: string) => [...SCENARIO_COLUMNS, "raw"].map((column) => `${table}.${column}`).join(", ");

const SCENARIOS = `
SELECT r.scenario_id AS id,
  CASE WHEN s.scenario_id IS NULL THEN 'missing' WHEN s.removed_at IS NOT NULL THEN 'removed' ELSE 'live' END AS state,
  CASE WHEN s.scenario_id IS NULL THEN '[]' ELSE ${differences({
    ...Object.fromEntries(SCENARIO_COLUMNS.map((column) => [column, {}])),
    raw: { shown: differingFields },
  })} END AS columns
FROM (SELECT *, to_timestamp(last_modified_s) AS last_modified_at
  FROM unnest($3::int8[], $4::int8[], $5::text[], $6::bool[], $7::text[], $8::float8[], $9::text[], $10::jsonb[])
    AS i(scenario_id, parent_id, scenario_name, is_result, last_modified, last_modified_s, description, raw)) AS r
LEFT JOIN simcat.scenarios s ON s.owner = $1 AND s.library_name = $2 AND s.scenario_id = r.scenario_id
WHERE s.scenario_id IS NULL OR s.removed_at IS NOT NULL OR (${columnsOf("s")}) IS DISTINCT FROM (${columnsOf("r")})`;

/** Those of a library's scenarios whose rows are not as the service has them. */
export async function compareScenarioRows(
  connection: Connection,
  { owner, name }: LibraryKey,
  scenarios: readonly Scenario[],
  { seconds }: ReadTexts,
): Promise<ScenarioRow[]> {
  if (scenarios.length === 0) return [];
  const columns = toColumns(scenarios, seconds);
  return (await connection.query<ScenarioRow>(SCENARIOS, [owner, name, ...columns])).rows;
}

/** Live scenarios of a library that the service's list lacks. */
export async function readUnlistedScenarios(
  connection: Connection,
  { owner, name }: LibraryKey,
  listed: Iterable<ScenarioId>,
): Promise<ScenarioId[]> {
  const { rows } = await connection.query<{ id: ScenarioId }>(
    `SELECT s.scenario_id AS id FROM simcat.scenarios s
     LEFT JOIN unnest($3::int8[]) AS r(scenario_id) ON r.scenario_id = s.scenario_id
     WHERE s.owner = $1 AND s.library_name = $2 AND s.removed_at IS NULL AND r.scenario_id IS NULL
     ORDER BY s.scenario_id`,
    [owner, name, Array.from(listed, String)],
  );
  return rows.map(({ id }) => id);
}

/** What is stored of a scenario, as JSON text; null when nothing is. */
export async function readRaw(
  connection: Connection,
  { owner, name }: LibraryKey,
  id: ScenarioId,
): Promise<string | null> {
  const { rows } = await connection.query<{ raw: string }>(
    "SELECT raw::text FROM simcat.scenarios WHERE owner = $1 AND library_name = $2 AND scenario_id = $3",
    [owner, name, id.toString()],
  );
  return rows[0]?.raw ?? null;
}
