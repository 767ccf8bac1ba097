import { DatabaseError } from "../../errors.ts";
import { formatCount } from "../../format.ts";
import type { LibraryContent, SavedScenarios, Withheld } from "../../model.ts";
import type { TextParsers } from "../../parse-values.ts";
import type { Connection } from "../connect.ts";
import { byPosition, int8Array, keyArrays } from "../statement.ts";
import { scenarioColumns, toArrays } from "./columns.ts";
import { MARK_MISSING, MERGE_SCENARIOS, type MergedScenarios } from "./scenario-statements.ts";

/** The facts and rules that storing needs beyond the content. */
export interface SaveContext {
  readonly runId: number;
  readonly parsers: TextParsers;
  /** Decides whether the live scenarios that a whole list lacks may be marked as removed. */
  readonly guard: (numbers: { live: number; listed: number; missing: number }) => "mark" | "withhold";
}

/** A library with the counts of its merged list. */
type MergedList = readonly [LibraryContent, MergedScenarios];

/** Stores the scenarios of these libraries, whose own rows are stored, and marks those as removed that their lists lack. */
export async function saveScenarios(
  connection: Connection,
  libraries: readonly LibraryContent[],
  context: SaveContext,
): Promise<Map<LibraryContent, SavedScenarios>> {
  const staged = libraries.filter(({ scenarios }) => scenarios.kind === "staged");
  const inMemory = libraries.filter(({ scenarios }) => scenarios.kind === "memory");
  const saved = new Map<LibraryContent, SavedScenarios>();
  for (const batch of [inMemory, ...staged.map((one) => [one])]) {
    if (batch.length === 0) continue;
    const lists = toScenarioLists(batch, context);
    const { rows } = await connection.query<MergedScenarios>(MERGE_SCENARIOS[lists.location](lists.parameters));
    const merged = byPosition(batch, rows);
    for (const list of merged) assertComplete(list);
    const marked = await markMissing(connection, lists, merged, context.guard);
    for (const [[library, counts], { removed, removedResults, withheld }] of byPosition(merged, marked)) {
      const { inserted, updated, unchanged, scenarios, results } = counts;
      const left = { scenarioCount: scenarios - removed, resultCount: results - removedResults };
      saved.set(library, { inserted, updated, unchanged, removed, withheld, ...left });
    }
  }
  return saved;
}

/**
 * Scenario lists in one location, as parameters of the statements that store them. `libraries` is either one library with a staged
 * list, or libraries whose lists are in memory.
 */
function toScenarioLists(libraries: readonly LibraryContent[], { runId, parsers }: SaveContext) {
  const keys = { ...keyArrays(libraries.map(({ listed }) => listed.key)), run_id: runId };
  const first = libraries[0]?.scenarios;
  if (first?.kind === "staged") return { location: first.kind, parameters: { ...keys, stage: first.stage } };
  const lists = libraries.map(({ scenarios }) => (scenarios.kind === "memory" ? scenarios.scenarios : []));
  const ord = int8Array(lists.flatMap((list, index) => list.map(() => index + 1)));
  const arrays = toArrays(scenarioColumns, lists.flat(), parsers);
  return { location: "memory" as const, parameters: { ...keys, ord, ...arrays } };
}

/** A crash of the server empties the unlogged staging table; the list must not be taken for an empty or shorter one. */
function assertComplete([{ scenarios }, { inserted, updated, unchanged }]: MergedList): void {
  const found = inserted + updated + unchanged;
  if (scenarios.kind === "memory" || found === scenarios.count) return;
  throw new DatabaseError(
    `storing a long scenario list failed: the staging table holds ${formatCount(found)} of its ${formatCount(scenarios.count)} scenarios, probably because the server was restarted; run it again`,
  );
}

/**
 * Marks scenarios as removed that whole lists lack, as far as the guard permits, and records the others as absences for the
 * next read. For each list returns how many were removed, how many of them are results, and what was withheld.
 */
async function markMissing(
  connection: Connection,
  { location, parameters }: ReturnType<typeof toScenarioLists>,
  merged: readonly MergedList[],
  guard: SaveContext["guard"],
) {
  const decisions = merged.map((list) => decideMissing(list, guard));
  let removals = decisions.map(() => ({ removed: 0, removedResults: 0 }));
  const hasMissing = decisions.some(({ mark, withheld }) => mark !== "none" || withheld !== null);
  if (hasMissing || merged.some(([{ before }]) => before?.hasAbsences)) {
    const marks = decisions.map(({ mark }) => mark);
    const withheld = decisions.map((decision) => decision.withheld !== null);
    const whole = merged.map(([{ isPartial }]) => !isPartial);
    removals = (await connection.query(MARK_MISSING[location]({ ...parameters, marks, withheld, whole }))).rows;
  }
  return byPosition(decisions, removals).map(([{ withheld }, removal]) => ({ ...removal, withheld }));
}

/** Which of the missing scenarios are marked as removed. The others become absences if the removal is withheld. */
function decideMissing(
  [library, { live, missing, confirmed }]: MergedList,
  guard: SaveContext["guard"],
): { readonly mark: "all" | "confirmed" | "none"; readonly withheld: Withheld | null } {
  if (missing === 0 || library.isPartial) return { mark: "none", withheld: null };
  // A cache may have answered with the same old list again.
  const isSuspect = library.suspectReads > 0;
  const unconfirmed = isSuspect ? missing : missing - confirmed;
  const verdict = guard({ live, listed: library.scenarios.count, missing: unconfirmed });
  if (verdict === "mark" || unconfirmed === 0) return { mark: "all", withheld: null };
  return { mark: isSuspect ? "none" : "confirmed", withheld: { live, missing: unconfirmed } };
}
