import type {
  DriftField,
  FieldComparison,
  LibraryContent,
  LibraryKey,
  MetadataField,
  ScenarioSet,
} from "../../model.ts";
import type { Connection } from "../connect.ts";
import { type StatementParameters, statement } from "../statement.ts";
import { int8Array, jsonbArray } from "../store/columns.ts";
import type { ScenarioLocation } from "../store/scenario-statements.ts";

const READ_SCENARIOS: Readonly<Record<ScenarioLocation, string>> = {
  arrays: "unnest($ids::int8[], $sources::jsonb[]) AS u(scenario_id, raw)",
  staging: "(SELECT scenario_id, raw FROM simcat.scenario_staging WHERE stage = $stage) AS u",
};

/**
 * Compares which of these fields the live stored scenarios of a library have with those that were read. A FULL JOIN never loops
 * over the whole library for each row, whatever the planner expects.
 */
function countFields(location: ScenarioLocation, fields: readonly DriftField[]) {
  const hasFields = fields.map((field) => `, raw ? '${field}' AS "${field}"`).join("");
  const counts = fields.map(
    (field) => `,
  count(*) FILTER (WHERE s."${field}") AS "${field} stored",
  count(*) FILTER (WHERE s."${field}" AND r.is_read) AS "${field} shared",
  count(*) FILTER (WHERE s."${field}" AND r."${field}") AS "${field} kept"`,
  );
  return statement(`
SELECT count(*) FILTER (WHERE s.is_stored) AS stored, count(*) FILTER (WHERE s.is_stored AND r.is_read) AS shared${counts.join("")}
FROM (SELECT scenario_id, true AS is_read${hasFields} FROM ${READ_SCENARIOS[location]}) AS r
FULL JOIN (
  SELECT scenario_id, true AS is_stored${hasFields} FROM simcat.scenarios
  WHERE (owner, library_name) = ($owner, $library_name) AND removed_at IS NULL
) AS s USING (scenario_id)`);
}

/** Those of the fields `$absent` of which the stored metadata of a library has a value. */
const SELECT_METADATA_FIELDS = statement(`
SELECT f.field FROM simcat.libraries l CROSS JOIN unnest($absent::text[]) AS f(field)
WHERE (l.owner, l.library_name) = ($owner, $library_name) AND l.metadata->>f.field IS NOT NULL`);

/** Compares the stored rows of a library with its content: in the fields that its metadata lacks, and in `lacked`. */
export async function compareFields(
  connection: Connection,
  { listed, metadata, scenarios }: LibraryContent,
  lacked: readonly DriftField[],
): Promise<FieldComparison> {
  const key = { owner: listed.key.owner, library_name: listed.key.name };
  const absent = metadata?.absent ?? [];
  const fields = absent.length === 0 ? [] : await readMetadataFields(connection, { ...key, absent });
  return {
    metadata: fields,
    scenarios: lacked.length === 0 ? null : await countStoredFields(connection, key, scenarios, lacked),
  };
}

async function readMetadataFields(connection: Connection, parameters: StatementParameters): Promise<MetadataField[]> {
  const { rows } = await connection.query<{ field: MetadataField }>(SELECT_METADATA_FIELDS(parameters));
  return rows.map(({ field }) => field);
}

async function countStoredFields(
  connection: Connection,
  key: StatementParameters,
  scenarios: ScenarioSet,
  fields: readonly DriftField[],
): Promise<FieldComparison["scenarios"]> {
  const location = scenarios.kind === "staged" ? "staging" : "arrays";
  const read =
    scenarios.kind === "staged"
      ? { stage: scenarios.stage }
      : {
          ids: int8Array(scenarios.scenarios.map(({ id }) => id)),
          sources: jsonbArray(scenarios.scenarios.map((scenario) => scenario.source)),
        };
  const { rows } = await connection.query<Record<string, number>>(countFields(location, fields)({ ...key, ...read }));
  const count = (column: string): number => {
    const value = rows[0]?.[column];
    if (value === undefined) throw new Error(`the comparison of fields returned no column ${column}`);
    return value;
  };
  return {
    stored: count("stored"),
    shared: count("shared"),
    fields: fields.map((field) => ({
      field,
      stored: count(`${field} stored`),
      shared: count(`${field} shared`),
      kept: count(`${field} kept`),
    })),
  };
}

/**
 * Live libraries whose stored rows have a value of the field; a stored null proves nothing, because the service may omit it. Those
 * without a new date are first, then those with results (the service may omit a false isResult), then the smallest. OFFSET 0
 * keeps the planner from reading all scenarios.
 */
export async function findPeers(
  connection: Connection,
  { of, field }: { readonly of: "metadata" | "scenarios"; readonly field: DriftField | MetadataField },
  limit: number,
): Promise<LibraryKey[]> {
  const hasScenario = `EXISTS (
  SELECT FROM simcat.scenarios s WHERE (s.owner, s.library_name) = (l.owner, l.library_name) AND s.removed_at IS NULL
    AND s.raw->>'${field}' IS NOT NULL OFFSET 0)`;
  const { rows } = await connection.query<{ owner: string; name: string }>(`
SELECT l.owner, l.library_name AS name
FROM simcat.libraries l JOIN simcat.library_sync y USING (owner, library_name)
WHERE l.removed_at IS NULL AND y.removal_held_at IS NULL
  AND ${of === "metadata" ? `l.metadata->>'${field}' IS NOT NULL` : hasScenario}
ORDER BY (y.listed_text = y.bookmark AND y.reread_reason IS NULL) IS TRUE DESC, (y.result_count > 0) IS TRUE DESC,
  y.scenario_count, owner, library_name
LIMIT ${limit}`);
  return rows;
}
