import type { DriftField, LibraryContent, MetadataField, StoredFields } from "../../model.ts";
import type { Connection } from "../connect.ts";
import { int8Array, jsonbArray } from "./binary-arrays.ts";

const FIELDS: readonly DriftField[] = ["scenarioName", "isResult", "lastModified"];

const hasFields = FIELDS.map((field) => `raw ? '${field}' AS "${field}"`).join(", ");

const countField = (field: DriftField) => `
  count(*) FILTER (WHERE s."${field}") AS "${field} stored",
  count(*) FILTER (WHERE s."${field}" AND r.is_read) AS "${field} shared",
  count(*) FILTER (WHERE s."${field}" AND r."${field}") AS "${field} kept"`;

/**
 * $1 owner, $2 name; `arrays`: $3 ids, $4 sources; `staging`: $3 the stage. A FULL JOIN is the one join that never loops
 * over the whole library for each row, whatever the planner expects.
 */
const countFields = (read: string) => `
SELECT count(*) FILTER (WHERE s.is_stored) AS stored, count(*) FILTER (WHERE s.is_stored AND r.is_read) AS shared,
  ${FIELDS.map(countField).join(",")}
FROM (SELECT scenario_id, true AS is_read, ${hasFields} FROM ${read}) AS r
FULL JOIN (
  SELECT scenario_id, true AS is_stored, ${hasFields} FROM simcat.scenarios
  WHERE (owner, library_name) = ($1, $2) AND removed_at IS NULL
) AS s USING (scenario_id)`;

const COUNT_FIELDS = {
  arrays: countFields("unnest($3::int8[], $4::jsonb[]) AS u(scenario_id, raw)"),
  staging: countFields("(SELECT scenario_id, raw FROM simcat.scenario_staging WHERE stage = $3) AS u"),
} as const;

/** $1 owner, $2 name, $3 the fields that the received metadata lacks. */
const STORED_METADATA_FIELDS = `
SELECT f.field FROM simcat.libraries l CROSS JOIN unnest($3::text[]) AS f(field)
WHERE (l.owner, l.library_name) = ($1, $2) AND l.metadata ? f.field`;

/** Sends the statements of `readStoredFields` without a library. */
export async function readNoStoredFields(connection: Connection): Promise<void> {
  await connection.query(STORED_METADATA_FIELDS, ["", "", []]);
  await connection.query(COUNT_FIELDS.staging, ["", "", ""]);
  await connection.query(COUNT_FIELDS.arrays, ["", "", int8Array([]), jsonbArray([])]);
}

/** Compares the fields of a library's stored rows with those of its content. */
export async function readStoredFields(connection: Connection, content: LibraryContent): Promise<StoredFields> {
  const { owner, name } = content.listed.key;
  const absent = content.metadata?.absent ?? [];
  const metadata = await connection.query<{ field: MetadataField }>(STORED_METADATA_FIELDS, [owner, name, absent]);
  const { scenarios } = content;
  const { rows } = await (scenarios.kind === "staged"
    ? connection.query<Record<string, number>>(COUNT_FIELDS.staging, [owner, name, scenarios.stage])
    : connection.query<Record<string, number>>(COUNT_FIELDS.arrays, [
        owner,
        name,
        int8Array(scenarios.scenarios.map((one) => one.id)),
        jsonbArray(scenarios.scenarios.map((one) => one.source)),
      ]));
  const count = (column: string) => rows[0]?.[column] ?? 0;
  const countsOf = (field: DriftField) => ({
    stored: count(`${field} stored`),
    shared: count(`${field} shared`),
    kept: count(`${field} kept`),
  });
  return {
    metadata: metadata.rows.map(({ field }) => field),
    scenarios: {
      stored: count("stored"),
      shared: count("shared"),
      fields: {
        scenarioName: countsOf("scenarioName"),
        isResult: countsOf("isResult"),
        lastModified: countsOf("lastModified"),
      },
    },
  };
}
