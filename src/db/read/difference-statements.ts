/**
 * Comparing rows with what the service says, in Postgres: its equality of jsonb takes numbers of any length exactly and
 * does not see how JSON is spelled, and its reading of times is the one that stored them.
 */

/** Characters of a value that are kept of a difference. */
const SHOWN = 200;

interface Comparison {
  /** When it is compared at all. */
  readonly isCompared?: string;
  /** The two values to show. */
  readonly shown?: (column: string) => string;
}

const asText = (column: string) => `s.${column}::text, r.${column}::text`;

/** Of two objects only the fields that differ. */
const asFields = (column: string) => {
  const areObjects = `jsonb_typeof(s.${column}) = 'object' AND jsonb_typeof(r.${column}) = 'object'`;
  const of = (
    a: string,
    b: string,
  ) => `CASE WHEN ${areObjects} THEN (SELECT coalesce(jsonb_object_agg(key, value), '{}')
    FROM jsonb_each(${a}.${column}) WHERE ${b}.${column} -> key IS DISTINCT FROM value) ELSE ${a}.${column} END::text`;
  return `${of("s", "r")}, ${of("r", "s")}`;
};

/** The columns of `s` (stored) that differ from those of `r` (the service's): [{column, stored, service}]. */
const differences = (columns: Readonly<Record<string, Comparison>>) => {
  const rows = Object.entries(columns).map(
    ([name, { isCompared = "true", shown = asText }]) =>
      `('${name}', ${isCompared} AND s.${name} IS DISTINCT FROM r.${name}, ${shown(name)})`,
  );
  return `(SELECT coalesce(jsonb_agg(jsonb_build_object(
      'column', d.name, 'stored', left(d.stored, ${SHOWN}), 'service', left(d.service, ${SHOWN}))), '[]')
    FROM (VALUES ${rows.join(", ")}) AS d(name, differs, stored, service) WHERE d.differs)`;
};

/** What a rejected list entry or a rejected object would have said, nobody knows. */
const IF_LISTED = { isCompared: "r.listed IS NOT NULL" };
const IF_READ = { isCompared: "r.metadata IS NOT NULL" };

/** One library: $1 and $2 its key, then what the service lists ($3 to $5) and says of it; no row where none is stored. */
export const COMPARE_LIBRARY = `
SELECT s.removed_at IS NULL AS live, ${differences({
  last_modified: IF_LISTED,
  last_modified_at: IF_LISTED,
  listed: { ...IF_LISTED, shown: asFields },
  library_owner: IF_READ,
  file_size: IF_READ,
  file_size_bytes: IF_READ,
  package_name: IF_READ,
  package_version: IF_READ,
  description: IF_READ,
  metadata: { ...IF_READ, shown: asFields },
})} AS columns
FROM simcat.libraries s, (SELECT $3::text AS last_modified, ($4::timestamptz[])[1] AS last_modified_at, $5::jsonb AS listed,
  $6::text AS library_owner, $7::text AS file_size, $8::int8 AS file_size_bytes, $9::text AS package_name,
  $10::text AS package_version, $11::text AS description, $12::jsonb AS metadata) AS r
WHERE s.owner = $1 AND s.library_name = $2`;

const COLUMNS = ["parent_id", "scenario_name", "is_result", "last_modified", "last_modified_at", "description"];
const columnsOf = (table: string) => [...COLUMNS, "raw"].map((column) => `${table}.${column}`).join(", ");

/**
 * Scenarios ($3 to $10) of the library $1, $2 whose rows are missing, removed, or other than these, in their order; what
 * differs is told of the first $11. LATERAL and OFFSET make it look up each by its key: a planner that knows nothing of a
 * table filled just now reads the whole library for every part of a long list, ten times slower.
 */
export const COMPARE_SCENARIOS = `
SELECT r.scenario_id AS id,
  CASE WHEN s.scenario_id IS NULL THEN 'missing' WHEN s.removed_at IS NOT NULL THEN 'removed' ELSE 'live' END AS state,
  CASE WHEN s.scenario_id IS NULL OR row_number() OVER (ORDER BY r.ord) > $11 THEN '[]' ELSE ${differences({
    ...Object.fromEntries(COLUMNS.map((column) => [column, {}])),
    raw: { shown: asFields },
  })} END AS columns
FROM (SELECT * FROM unnest($3::int8[], $4::int8[], $5::text[], $6::bool[], $7::text[], $8::timestamptz[], $9::text[], $10::jsonb[]) WITH ORDINALITY
    AS i(scenario_id, parent_id, scenario_name, is_result, last_modified, last_modified_at, description, raw, ord)) AS r
LEFT JOIN LATERAL (SELECT * FROM simcat.scenarios s
  WHERE s.owner = $1 AND s.library_name = $2 AND s.scenario_id = r.scenario_id OFFSET 0) AS s ON true
WHERE s.scenario_id IS NULL OR s.removed_at IS NOT NULL OR (${columnsOf("s")}) IS DISTINCT FROM (${columnsOf("r")})
ORDER BY r.ord`;

/** Live scenarios of the library $1, $2 that are not among $3. A set operation, since no planner takes it for a nested loop. */
export const SELECT_UNLISTED_SCENARIOS = `
SELECT scenario_id AS id FROM simcat.scenarios WHERE owner = $1 AND library_name = $2 AND removed_at IS NULL
EXCEPT SELECT unnest($3::int8[]) ORDER BY id`;
