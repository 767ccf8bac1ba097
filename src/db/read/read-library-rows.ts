import type { LibraryKey, ListedLibrary, Metadata, Scenario, ScenarioId } from "../../model.ts";
import type { Connection } from "../connect.ts";
import { int8Array, timestamptzArray } from "../store/binary-arrays.ts";
import { type ReadMicroseconds, toColumns } from "../store/scenario-rows.ts";
import { COMPARE_LIBRARY, COMPARE_SCENARIOS, SELECT_UNLISTED_SCENARIOS } from "./difference-statements.ts";

/** A column that holds something else than what the service says; both as text, cut short. */
export interface ColumnDifference {
  readonly column: string;
  readonly stored: string | null;
  readonly service: string | null;
}

type RowState = "missing" | "removed" | "live";

export interface ComparedRow {
  readonly state: RowState;
  readonly columns: readonly ColumnDifference[];
}

export interface ComparedScenario extends ComparedRow {
  readonly id: ScenarioId;
}

/** How the service's texts become typed columns. */
export interface ReadTexts {
  readonly microseconds: ReadMicroseconds;
  readonly bytes: (text: string | null) => number | null;
}

/** Reads a library's own row beside what the service lists and says of it. A part that was rejected (null) is not compared. */
export async function compareLibraryRow(
  connection: Connection,
  { key, lastModified, source }: ListedLibrary,
  metadata: Metadata | null,
  { microseconds, bytes }: ReadTexts,
): Promise<ComparedRow> {
  const { rows } = await connection.query<{ live: boolean; columns: ColumnDifference[] }>(COMPARE_LIBRARY, [
    ...[key.owner, key.name],
    ...[lastModified, timestamptzArray([microseconds(lastModified)]), source],
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

/** Those of a library's scenarios whose rows are not as the service has them; of the first `told` also what differs. */
export async function compareScenarioRows(
  connection: Connection,
  { owner, name }: LibraryKey,
  scenarios: readonly Scenario[],
  { microseconds }: ReadTexts,
  told: number,
): Promise<ComparedScenario[]> {
  if (scenarios.length === 0) return [];
  const values = [owner, name, ...toColumns(scenarios, microseconds), told];
  return (await connection.query<ComparedScenario>(COMPARE_SCENARIOS, values)).rows;
}

/** Live scenarios of a library that the service's list lacks. */
export async function readUnlistedScenarios(
  connection: Connection,
  { owner, name }: LibraryKey,
  listed: Iterable<ScenarioId>,
): Promise<ScenarioId[]> {
  const values = [owner, name, Array.from(listed, String)];
  const { rows } = await connection.query<{ id: ScenarioId }>(SELECT_UNLISTED_SCENARIOS, values);
  return rows.map(({ id }) => id);
}

/** What is stored of these scenarios, as JSON texts. */
export async function readScenarioSources(
  connection: Connection,
  { owner, name }: LibraryKey,
  ids: readonly ScenarioId[],
): Promise<Map<ScenarioId, string>> {
  const { rows } = await connection.query<{ id: ScenarioId; raw: string }>(
    `SELECT scenario_id AS id, raw::text FROM simcat.scenarios
     WHERE owner = $1 AND library_name = $2 AND scenario_id = ANY ($3::int8[])`,
    [owner, name, int8Array(ids)],
  );
  return new Map(rows.map(({ id, raw }) => [id, raw]));
}
