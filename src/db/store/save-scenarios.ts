import { DatabaseError } from "../../errors.ts";
import type { LibraryContent, Withheld } from "../../model.ts";
import type { Connection } from "../connect.ts";
import type { TextParsers } from "../content-fields.ts";
import { byPosition, int4Array, keyArrays, scenarioColumns, toArrays } from "./columns.ts";
import { removeMissingScenarios, type ScenarioGuard } from "./missing-scenarios.ts";
import { INSERT_SCENARIOS, MERGE_SCENARIOS, type MergedCounts, type ScenarioBatch } from "./scenario-statements.ts";

/** The facts and rules that storing needs beyond the content. */
export interface SaveContext {
  readonly runId: number;
  readonly parsers: TextParsers;
  readonly guard: ScenarioGuard;
}

export interface ScenarioCounts extends Pick<MergedCounts, "inserted" | "updated" | "unchanged"> {
  readonly removed: number;
  readonly withheld: Withheld | null;
  /** Scenarios of the library that are not marked as removed now, and how many of them are results. */
  readonly scenarioCount: number;
  readonly resultCount: number;
}

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
    const merge = first.kind === "new" ? INSERT_SCENARIOS : MERGE_SCENARIOS;
    const { rows } = await connection.query<MergedCounts>(merge[batch.location](batch.parameters));
    if (isStaged(first)) assertStagingComplete(first, rows);
    const removals = await removeMissingScenarios(connection, batch, rows, context.guard);
    for (const [[library, merged], { removedResults, ...removal }] of byPosition(byPosition(group, rows), removals)) {
      const { inserted, updated, unchanged, scenarios, results } = merged;
      const left = { scenarioCount: scenarios - removal.removed, resultCount: results - removedResults };
      counts.set(library, { inserted, updated, unchanged, ...removal, ...left });
    }
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

/** A crash of the server empties the unlogged staging table; the list must not be taken for an empty or shorter one. */
function assertStagingComplete(library: LibraryContent, merged: readonly MergedCounts[]): void {
  const found = merged.reduce((sum, { inserted, updated, unchanged }) => sum + inserted + updated + unchanged, 0);
  const expected = library.scenarios.count;
  if (found === expected) return;
  throw new DatabaseError(
    `storing a long scenario list failed: the staging table holds ${found} of its ${expected} scenarios, probably because the server was restarted; run it again`,
  );
}
