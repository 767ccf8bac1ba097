import { statement } from "../statement.ts";
import { libraryColumns, namesOf, prefixed, type StoredColumn, scenarioColumns, unnest } from "../store/columns.ts";

/**
 * Statements that compare stored rows (`s`) with the answers of the service (`r`). Postgres compares, because its jsonb
 * equality is exact for numbers of any length and ignores the spelling of JSON, and because it parsed the stored times.
 */

/** Values are cut to this many characters. */
const MAX_SHOWN_CHARS = 200;

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
      'stored', left(d.stored, ${MAX_SHOWN_CHARS}), 'service', left(d.service, ${MAX_SHOWN_CHARS}))), '[]')
    FROM (VALUES ${rows.join(",\n      ")}) AS d(name, differs, stored, service) WHERE d.differs)`;
}

const withoutKey = <Column extends StoredColumn<never>>(columns: readonly Column[]) =>
  columns.filter(({ change }) => change !== "key");

/** Compares one library's row with its list entry and metadata. No row if none is stored. */
export const COMPARE_LIBRARY = statement(`
SELECT s.removed_at IS NULL AS live, ${differences(withoutKey(libraryColumns))} AS columns
FROM ${unnest(libraryColumns)} AS r(${namesOf(libraryColumns).join(", ")})
CROSS JOIN LATERAL (SELECT * FROM simcat.libraries l
  WHERE l.owner = r.owner AND l.library_name = r.library_name OFFSET 0) AS s`);

const SCENARIO_VALUES = namesOf(withoutKey(scenarioColumns));

/**
 * Returns the scenarios of a library whose rows are missing, removed or different, in the order of the parameters; for the first
 * `$max_examples` also the differing columns. LATERAL and OFFSET 0 look up each row by its key: without statistics of a table
 * that was just filled, the planner would read the whole library for every part of a long list, which is ten times slower.
 */
export const COMPARE_SCENARIOS = statement(`
SELECT r.scenario_id AS id,
  CASE WHEN s.scenario_id IS NULL THEN 'missing' WHEN s.removed_at IS NOT NULL THEN 'removed' ELSE 'live' END AS state,
  CASE WHEN s.scenario_id IS NULL OR row_number() OVER (ORDER BY r.ord) > $max_examples THEN '[]'
    ELSE ${differences(withoutKey(scenarioColumns))} END AS columns
FROM ${unnest(scenarioColumns)} WITH ORDINALITY AS r(${namesOf(scenarioColumns).join(", ")}, ord)
LEFT JOIN LATERAL (SELECT * FROM simcat.scenarios s
  WHERE s.owner = $owner AND s.library_name = $library_name AND s.scenario_id = r.scenario_id OFFSET 0) AS s ON true
WHERE s.scenario_id IS NULL OR s.removed_at IS NOT NULL
  OR (${prefixed("s", SCENARIO_VALUES)}) IS DISTINCT FROM (${prefixed("r", SCENARIO_VALUES)})
ORDER BY r.ord`);

/** Live scenarios of a library that are not among `$ids`. A set operation, because the planner never turns it into a nested loop. */
export const SELECT_UNLISTED_SCENARIOS = statement(`
SELECT scenario_id AS id FROM simcat.scenarios
WHERE owner = $owner AND library_name = $library_name AND removed_at IS NULL
EXCEPT SELECT unnest($ids::int8[]) ORDER BY id`);

/** The stored JSON of these scenarios. */
export const SELECT_SCENARIO_SOURCES = statement(`
SELECT scenario_id AS id, raw::text FROM simcat.scenarios
WHERE owner = $owner AND library_name = $library_name AND scenario_id = ANY ($ids::int8[])`);
