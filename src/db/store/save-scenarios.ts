import { DatabaseError } from "../../errors.ts";
import type { LibraryContent, Withheld } from "../../model.ts";
import type { Connection } from "../connect.ts";
import type { TextParsers } from "../content-fields.ts";
import { int4Array, keyArrays, scenarioColumns, toArrays } from "./columns.ts";
import {
  type MissingCounts,
  NONE_REMOVED,
  removeMissingScenarios,
  type ScenarioGuard,
} from "./remove-missing-scenarios.ts";
import { INSERT_SCENARIOS, MERGE_SCENARIOS, type ScenarioBatch } from "./scenario-statements.ts";

/** The facts and rules that storing needs beyond the content. */
export interface SaveContext {
  readonly runId: number;
  readonly parsers: TextParsers;
  readonly guard: ScenarioGuard;
}

export interface ScenarioCounts {
  readonly inserted: number;
  readonly updated: number;
  readonly unchanged: number;
  readonly removed: number;
  readonly withheld: Withheld | null;
  /** Scenarios of the library that are not marked as removed now, and how many of them are results. */
  readonly scenarioCount: number;
  readonly resultCount: number;
}

/** One library's list, merged with its stored scenarios. */
interface MergedCounts extends Pick<ScenarioCounts, "inserted" | "updated" | "unchanged">, MissingCounts {
  /** Live scenarios after the merge, before any is marked as removed. */
  readonly scenarios: number;
  readonly results: number;
}

/** The statements return no row for a library that has no scenario, stored or listed. */
const NO_SCENARIOS: MergedCounts = {
  inserted: 0,
  updated: 0,
  unchanged: 0,
  live: 0,
  missing: 0,
  scenarios: 0,
  results: 0,
};

/** Stores the scenarios of these libraries, and marks those as removed that their lists lack. */
export async function saveScenarios(
  connection: Connection,
  libraries: readonly LibraryContent[],
  context: SaveContext,
): Promise<Map<LibraryContent, ScenarioCounts>> {
  const isStaged = (library: LibraryContent) => library.scenarios.kind === "staged";
  const inMemory = libraries.filter((library) => !isStaged(library));
  const groups = [
    inMemory.filter((library) => library.kind === "new"),
    inMemory.filter((library) => library.kind !== "new"),
    ...libraries.filter(isStaged).map((library) => [library]),
  ];
  const counts = new Map<LibraryContent, ScenarioCounts>();
  for (const group of groups) {
    const [first] = group;
    if (first === undefined) continue;
    const batch = toScenarioBatch(group, context);
    const saved =
      first.kind === "new" ? await insertNew(connection, batch) : await mergeStored(connection, batch, context.guard);
    if (isStaged(first)) assertStagingComplete(first, saved.get(first));
    for (const [library, found] of saved) counts.set(library, found);
  }
  return counts;
}

/** A batch is either one library with a staged list, or libraries whose lists are in memory. */
function toScenarioBatch(libraries: readonly LibraryContent[], { runId, parsers }: SaveContext): ScenarioBatch {
  const keys = { ...keyArrays(libraries.map(({ listed }) => listed.key)), run_id: runId };
  const first = libraries[0]?.scenarios;
  if (first?.kind === "staged") {
    return { libraries, location: "staging", parameters: { ...keys, stage: first.stage } };
  }
  const lists = libraries.map(({ scenarios }) => (scenarios.kind === "memory" ? scenarios.scenarios : []));
  const ord = int4Array(lists.flatMap((list, index) => list.map(() => index + 1)));
  const arrays = toArrays(scenarioColumns, lists.flat(), parsers);
  return { libraries, location: "arrays", parameters: { ...keys, ord, ...arrays } };
}

async function insertNew(
  connection: Connection,
  { libraries, location, parameters }: ScenarioBatch,
): Promise<Map<LibraryContent, ScenarioCounts>> {
  const { rows } = await connection.query<{ ord: number; inserted: number; results: number }>(
    INSERT_SCENARIOS[location](parameters),
  );
  const found = new Map(rows.map((row) => [row.ord, row]));
  return new Map(
    libraries.map((library, index) => {
      const { inserted, results } = found.get(index + 1) ?? NO_SCENARIOS;
      const counts = { inserted, updated: 0, unchanged: 0, removed: 0, withheld: null };
      return [library, { ...counts, scenarioCount: inserted, resultCount: results }];
    }),
  );
}

async function mergeStored(
  connection: Connection,
  batch: ScenarioBatch,
  guard: ScenarioGuard,
): Promise<Map<LibraryContent, ScenarioCounts>> {
  const { rows } = await connection.query<MergedCounts & { ord: number }>(
    MERGE_SCENARIOS[batch.location](batch.parameters),
  );
  const found = new Map(rows.map((row) => [row.ord, row]));
  const merged = batch.libraries.map((_, index) => found.get(index + 1) ?? NO_SCENARIOS);
  const removals = await removeMissingScenarios(connection, batch, merged, guard);
  return new Map(
    batch.libraries.map((library, index) => {
      const { inserted, updated, unchanged, scenarios, results } = merged[index] ?? NO_SCENARIOS;
      const { removed, removedResults, withheld } = removals[index] ?? NONE_REMOVED;
      const counts = { inserted, updated, unchanged, removed, withheld };
      return [library, { ...counts, scenarioCount: scenarios - removed, resultCount: results - removedResults }];
    }),
  );
}

/** A crash of the server empties the unlogged staging table; the list must not be taken for an empty or shorter one. */
function assertStagingComplete(library: LibraryContent, counts: ScenarioCounts | undefined): void {
  const found = counts === undefined ? 0 : counts.inserted + counts.updated + counts.unchanged;
  const expected = library.scenarios.count;
  if (found === expected) return;
  throw new DatabaseError(
    `storing a long scenario list failed: the staging table holds ${found} of its ${expected} scenarios, probably because the server was restarted; run it again`,
  );
}
