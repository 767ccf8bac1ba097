import type { LibraryContent, Withheld } from "../../model.ts";
import type { Connection } from "../connect.ts";
import { keyArrays } from "./columns.ts";
import {
  COUNT_CONFIRMED,
  DELETE_ABSENCES,
  DELETE_PRESENT_ABSENCES,
  INSERT_ABSENCES,
  REMOVE_MISSING,
} from "./missing-statements.ts";
import type { ScenarioBatch } from "./scenario-statements.ts";

/** How many live scenarios of a library were stored, and how many of them its list lacks. */
export interface MissingCounts {
  readonly live: number;
  readonly missing: number;
}

/** Decides whether the scenarios that a whole list lacks may be marked as removed. */
export type ScenarioGuard = (numbers: MissingCounts & { readonly listed: number }) => "mark" | "withhold";

/** The outcome for the live scenarios that a library's list lacks. */
interface Removal {
  readonly removed: number;
  /** The results among them. */
  readonly removedResults: number;
  /** Set if the guard held the removal back until a later read confirms it. */
  readonly withheld: Withheld | null;
}

export const NONE_REMOVED: Removal = { removed: 0, removedResults: 0, withheld: null };

interface MissingIds {
  readonly mark: "all" | "confirmed" | "none";
  readonly withheld: Withheld | null;
}

/**
 * Marks scenarios as removed that whole lists lack, as far as the guard permits, and records the others as absences for the
 * next read. Answers by position.
 */
export async function removeMissingScenarios(
  connection: Connection,
  batch: ScenarioBatch,
  merged: readonly MissingCounts[],
  guard: ScenarioGuard,
): Promise<Removal[]> {
  const confirmed = await countConfirmed(connection, batch, merged);
  const decisions = batch.libraries.map((library, index) => {
    const { live, missing } = merged[index] ?? { live: 0, missing: 0 };
    return decideRemoval(library, { live, missing, confirmed: confirmed.get(index + 1) ?? 0 }, guard);
  });
  const removed = await markScenariosRemoved(connection, batch, decisions);
  await recordAbsences(connection, batch, decisions);
  return decisions.map(({ withheld }, index) => ({ ...NONE_REMOVED, ...removed.get(index + 1), withheld }));
}

function decideRemoval(
  library: LibraryContent,
  { live, missing, confirmed }: MissingCounts & { readonly confirmed: number },
  guard: ScenarioGuard,
): MissingIds {
  if (missing === 0 || library.isPartial) return { mark: "none", withheld: null };
  // A cache may have answered with the same old list again.
  const isSuspect = library.suspectReads > 0;
  const unconfirmed = isSuspect ? missing : missing - confirmed;
  const verdict = guard({ live, listed: library.scenarios.count, missing: unconfirmed });
  if (verdict === "mark" || unconfirmed === 0) return { mark: "all", withheld: null };
  return { mark: isSuspect ? "none" : "confirmed", withheld: { live, missing: unconfirmed } };
}

/** Counts by `ord` the missing scenarios that an earlier read lacked too. */
async function countConfirmed(
  connection: Connection,
  { location, parameters }: ScenarioBatch,
  merged: readonly MissingCounts[],
): Promise<Map<number, number>> {
  if (merged.every(({ missing }) => missing === 0)) return new Map();
  const { rows } = await connection.query<{ ord: number; confirmed: number }>(COUNT_CONFIRMED[location](parameters));
  return new Map(rows.map((row) => [row.ord, row.confirmed]));
}

async function markScenariosRemoved(
  connection: Connection,
  { location, parameters }: ScenarioBatch,
  decisions: readonly MissingIds[],
): Promise<Map<number, Pick<Removal, "removed" | "removedResults">>> {
  const marks = decisions.map(({ mark }) => mark);
  if (marks.every((mark) => mark === "none")) return new Map();
  const { rows } = await connection.query<{ ord: number; removed: number; results: number }>(
    REMOVE_MISSING[location]({ ...parameters, marks }),
  );
  return new Map(rows.map(({ ord, removed, results }) => [ord, { removed, removedResults: results }]));
}

/** A whole read replaces the absences of earlier reads. A partial one only deletes those of scenarios that are present again. */
async function recordAbsences(
  connection: Connection,
  { libraries, location, parameters }: ScenarioBatch,
  decisions: readonly MissingIds[],
): Promise<void> {
  const hadAbsences = libraries.filter((library) => library.hadAbsences);
  const whole = hadAbsences.filter((library) => !library.isPartial);
  if (whole.length > 0) {
    await connection.query(DELETE_ABSENCES({ ...parameters, ...keyArrays(whole.map(({ listed }) => listed.key)) }));
  }
  if (whole.length < hadAbsences.length) await connection.query(DELETE_PRESENT_ABSENCES[location](parameters));
  const withheld = decisions.map((decision) => decision.withheld !== null);
  if (withheld.includes(true)) await connection.query(INSERT_ABSENCES[location]({ ...parameters, withheld }));
}
