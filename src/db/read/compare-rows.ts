import type { LibraryKey, Scenario, ScenarioId } from "../../model.ts";
import type { Connection } from "../connect.ts";
import type { LibraryAnswers, TextParsers } from "../content-fields.ts";
import { int8Array } from "../store/binary-arrays.ts";
import { libraryColumns, scenarioColumns, toArrays } from "../store/columns.ts";
import {
  COMPARE_LIBRARY,
  COMPARE_SCENARIOS,
  SELECT_SCENARIO_SOURCES,
  SELECT_UNLISTED_SCENARIOS,
} from "./difference-statements.ts";

/** A column whose stored value differs from the service's. Both values are texts, cut to 200 characters. */
export interface ColumnDifference {
  readonly column: string;
  readonly stored: string | null;
  readonly service: string | null;
}

type RowState = "missing" | "removed" | "live";

interface ComparedRow {
  readonly state: RowState;
  readonly columns: readonly ColumnDifference[];
}

export interface ComparedScenario extends ComparedRow {
  readonly id: ScenarioId;
}

/** Compares a library's own row with its list entry and its metadata. A part that was rejected (null) is not compared. */
export async function compareLibraryRow(
  connection: Connection,
  library: LibraryAnswers,
  parse: TextParsers,
): Promise<ComparedRow> {
  const { rows } = await connection.query<{ live: boolean; columns: ColumnDifference[] }>(
    COMPARE_LIBRARY(toArrays(libraryColumns, [library], parse)),
  );
  const [row] = rows;
  if (row === undefined) return { state: "missing", columns: [] };
  return { state: row.live ? "live" : "removed", columns: row.columns };
}

/** Returns the scenarios whose rows differ from these; for the first `maxExamples` also the differing columns. */
export async function compareScenarioRows(
  connection: Connection,
  { owner, name }: LibraryKey,
  scenarios: readonly Scenario[],
  parse: TextParsers,
  maxExamples: number,
): Promise<ComparedScenario[]> {
  if (scenarios.length === 0) return [];
  const arrays = toArrays(scenarioColumns, scenarios, parse);
  const { rows } = await connection.query<ComparedScenario>(
    COMPARE_SCENARIOS({ ...arrays, owner, library_name: name, max_examples: maxExamples }),
  );
  return rows;
}

/** Returns the live scenarios of a library that are not in the service's list. */
export async function readUnlistedScenarios(
  connection: Connection,
  { owner, name }: LibraryKey,
  listed: Iterable<ScenarioId>,
): Promise<ScenarioId[]> {
  const { rows } = await connection.query<{ id: ScenarioId }>(
    SELECT_UNLISTED_SCENARIOS({ owner, library_name: name, ids: int8Array([...listed]) }),
  );
  return rows.map(({ id }) => id);
}

/** Returns the stored JSON texts of these scenarios. */
export async function readScenarioSources(
  connection: Connection,
  { owner, name }: LibraryKey,
  ids: readonly ScenarioId[],
): Promise<Map<ScenarioId, string>> {
  const { rows } = await connection.query<{ id: ScenarioId; raw: string }>(
    SELECT_SCENARIO_SOURCES({ owner, library_name: name, ids: int8Array(ids) }),
  );
  return new Map(rows.map(({ id, raw }) => [id, raw]));
}
