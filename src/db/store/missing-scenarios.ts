import type { LibraryContent, Withheld } from "../../model.ts";
import type { Connection } from "../connect.ts";
import { scenarios } from "../schema.ts";
import { statement } from "../statement.ts";
import { allNamesOf, byPosition, nextVersionStart, prefixed, setExcluded } from "./columns.ts";
import {
  eachStored,
  isResultSql,
  LIB,
  lackedBeforeSql,
  perLocation,
  SCENARIO_KEY,
  type ScenarioBatch,
  type ScenarioLocation,
  supersedeScenarios,
} from "./scenario-statements.ts";

/** How many live scenarios of a library were stored, and how many of them its list lacks. */
interface MissingCounts {
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

/** Which of the missing scenarios are marked as removed. The others become absences if the removal is withheld. */
interface MissingDecision {
  readonly mark: "all" | "confirmed" | "none";
  readonly withheld: Withheld | null;
}

/**
 * Marks scenarios as removed that whole lists lack, as far as the guard permits, and records the others as absences for the
 * next read. Answers by position.
 */
export async function removeMissingScenarios(
  connection: Connection,
  { libraries, location, parameters }: ScenarioBatch,
  merged: readonly (MissingCounts & { readonly confirmed: number })[],
  guard: ScenarioGuard,
): Promise<Removal[]> {
  const decisions = byPosition(libraries, merged).map(([library, counts]) => decideRemoval(library, counts, guard));
  let removals = decisions.map(() => ({ removed: 0, removedResults: 0 }));
  if (decisions.some(({ mark, withheld }) => mark !== "none" || withheld !== null)) {
    const marks = decisions.map(({ mark }) => mark);
    const withheld = decisions.map((decision) => decision.withheld !== null);
    removals = (await connection.query(SETTLE_MISSING[location]({ ...parameters, marks, withheld }))).rows;
  }
  if (libraries.some(({ hadAbsences }) => hadAbsences)) {
    const whole = libraries.map(({ isPartial }) => !isPartial);
    await connection.query(DELETE_ABSENCES[location]({ ...parameters, whole }));
  }
  return byPosition(decisions, removals).map(([{ withheld }, removal]) => ({ ...removal, withheld }));
}

function decideRemoval(
  library: LibraryContent,
  { live, missing, confirmed }: MissingCounts & { readonly confirmed: number },
  guard: ScenarioGuard,
): MissingDecision {
  if (missing === 0 || library.isPartial) return { mark: "none", withheld: null };
  // A cache may have answered with the same old list again.
  const isSuspect = library.suspectReads > 0;
  const unconfirmed = isSuspect ? missing : missing - confirmed;
  const verdict = guard({ live, listed: library.scenarios.count, missing: unconfirmed });
  if (verdict === "mark" || unconfirmed === 0) return { mark: "all", withheld: null };
  return { mark: isSuspect ? "none" : "confirmed", withheld: { live, missing: unconfirmed } };
}

/** These statements take only the ids of the scenarios that were read. */
const READ_IDS: Readonly<Record<ScenarioLocation, string>> = {
  arrays: "SELECT r.ord, r.scenario_id FROM unnest($ord::int4[], $scenario_id::int8[]) AS r(ord, scenario_id)",
  staging: "SELECT 1 AS ord, scenario_id FROM simcat.scenario_staging WHERE stage = $stage",
};

const REMOVAL = ["changed_at", "removed_at", "run_id"];
const KEPT = allNamesOf(scenarios).filter((name) => !REMOVAL.includes(name));

/**
 * For the live scenarios that the read lacks, `$marks` has a word for each library: `all` are marked as removed, only the
 * `confirmed` ones, or `none`. The others are recorded if `$withheld` is true. MATERIALIZED stops the planner from pushing the
 * filter into the join and choosing a nested loop.
 */
const settleMissing = (location: ScenarioLocation) =>
  statement(`
WITH ${LIB}, met AS MATERIALIZED (
  SELECT ord, scenario_id, l.is_live, r.is_read
  FROM (SELECT i.*, true AS is_read FROM (${READ_IDS[location]}) AS i) AS r
  FULL JOIN (
    SELECT lib.ord, (stored.old).scenario_id, true AS is_live FROM ${eachStored(" AND s.removed_at IS NULL")}
  ) AS l USING (ord, scenario_id)
), missing AS MATERIALIZED (
  SELECT m.ord, lib.owner, lib.library_name, m.scenario_id,
    CASE ($marks::text[])[lib.ord] WHEN 'all' THEN true WHEN 'confirmed' THEN ${lackedBeforeSql("m")} ELSE false END AS is_gone
  FROM met m JOIN lib USING (ord) WHERE m.is_live AND m.is_read IS NULL
), gone AS (
  SELECT m.ord, found.old FROM missing m CROSS JOIN LATERAL (
    SELECT s AS old FROM simcat.scenarios s
    WHERE (s.owner, s.library_name, s.scenario_id) = (m.owner, m.library_name, m.scenario_id) LIMIT 1
  ) AS found WHERE m.is_gone
), superseded AS (${supersedeScenarios("gone d")}
), written AS (
  INSERT INTO simcat.scenarios (${[...KEPT, ...REMOVAL].join(", ")})
  SELECT ${prefixed("(d.old)", KEPT)}, ${nextVersionStart("(d.old)")}, ${nextVersionStart("(d.old)")}, $run_id::int8 FROM gone d
  ON CONFLICT (${SCENARIO_KEY}) DO UPDATE SET ${setExcluded(REMOVAL)}
), absent AS (
  INSERT INTO simcat.scenario_absences (${SCENARIO_KEY}, run_id)
  SELECT owner, library_name, scenario_id, $run_id::int8 FROM missing m WHERE NOT is_gone AND ($withheld::bool[])[m.ord]
  ON CONFLICT (${SCENARIO_KEY}) DO UPDATE SET run_id = excluded.run_id
)
SELECT count(gone.ord) AS removed, count(*) FILTER (WHERE ${isResultSql("(gone.old)")}) AS "removedResults"
FROM lib LEFT JOIN gone USING (ord) GROUP BY ord ORDER BY ord`);

export const SETTLE_MISSING = perLocation(settleMissing);

/** Deletes the absences that earlier runs recorded: those of whole reads, and otherwise those of scenarios that are present again. */
const DELETE_ABSENCES = perLocation((location) =>
  statement(`
WITH ${LIB}
DELETE FROM simcat.scenario_absences a USING lib
WHERE (a.owner, a.library_name) = (lib.owner, lib.library_name) AND a.run_id <> $run_id::int8
  AND (($whole::bool[])[lib.ord] OR EXISTS (
    SELECT FROM (${READ_IDS[location]}) AS r WHERE r.ord = lib.ord AND r.scenario_id = a.scenario_id))`),
);
