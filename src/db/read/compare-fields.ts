import {
  DRIFT_FIELDS,
  type DriftField,
  type FieldComparison,
  type FieldCounts,
  type LibraryContent,
  type LibraryKey,
  type MetadataField,
} from "../../model.ts";
import type { Connection } from "../connect.ts";
import { int8Array, jsonbArray, statement } from "../statement.ts";

const HAS = `ARRAY[${DRIFT_FIELDS.map((field) => `raw ? '${field}'`).join(", ")}] AS has`;

/**
 * Compares which fields the live stored scenarios of a library have with those that were read. A FULL JOIN never loops over the
 * whole library for each row, whatever the planner expects.
 */
const countFields = (read: string) =>
  statement(`
SELECT f.field, count(s.has) AS stored, count(s.has) FILTER (WHERE r.has IS NOT NULL) AS common,
  count(*) FILTER (WHERE s.has[f.n]) AS having, count(*) FILTER (WHERE s.has[f.n] AND r.has IS NOT NULL) AS shared,
  count(*) FILTER (WHERE s.has[f.n] AND r.has[f.n]) AS kept
FROM (SELECT scenario_id, ${HAS} FROM ${read}) AS r
FULL JOIN (
  SELECT scenario_id, ${HAS} FROM simcat.scenarios WHERE (owner, library_name) = ($owner, $library_name) AND removed_at IS NULL
) AS s USING (scenario_id)
RIGHT JOIN unnest($fields::text[]) WITH ORDINALITY AS f(field, n) ON true
GROUP BY f.field`);

/** By the location of the scenarios. */
const COUNT_FIELDS = {
  memory: countFields("unnest($ids::int8[], $sources::jsonb[]) AS u(scenario_id, raw)"),
  staged: countFields("(SELECT scenario_id, raw FROM simcat.scenario_staging WHERE stage = $stage) AS u"),
};

/** The fields among `$absent` that have a value in the stored metadata of a library. */
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
  const ofMetadata = SELECT_METADATA_FIELDS({ ...key, absent });
  const { rows } = await connection.query<{ field: MetadataField }>(ofMetadata);
  const fields = rows.map(({ field }) => field);
  if (lacked.length === 0) return { metadata: fields, scenarios: [] };
  const read =
    scenarios.kind === "staged"
      ? { stage: scenarios.stage }
      : {
          ids: int8Array(scenarios.scenarios.map(({ id }) => id)),
          sources: jsonbArray(scenarios.scenarios.map(({ source }) => source)),
        };
  const ofScenarios = COUNT_FIELDS[scenarios.kind]({ ...key, ...read, fields: DRIFT_FIELDS });
  const counts = (await connection.query<FieldCounts>(ofScenarios)).rows;
  return { metadata: fields, scenarios: counts.filter(({ field }) => lacked.includes(field)) };
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
WHERE l.removed_at IS NULL
  AND ${of === "metadata" ? `l.metadata->>'${field}' IS NOT NULL` : hasScenario}
ORDER BY (y.listed_text = y.bookmark AND y.reread_reason IS NULL) IS TRUE DESC, (y.result_count > 0) IS TRUE DESC,
  y.scenario_count, owner, library_name
LIMIT ${limit}`);
  return rows;
}
