import { scenarios } from "../schema.ts";
import { statement } from "../statement.ts";
import { allNamesOf, nextVersionStart, ofKeys, prefixed, setExcluded } from "./columns.ts";
import {
  eachStored,
  isResultSql,
  LIB,
  perLocation,
  SCENARIO_KEY,
  type ScenarioLocation,
  supersedeScenarios,
} from "./scenario-statements.ts";

/**
 * Statements for the live scenarios that a read lacks. Like those of `scenario-statements.ts` they take a batch of libraries as
 * `$owner` and `$library_name` and the run as `$run_id`. They take only the ids of the scenarios that were read.
 */
const READ_IDS: Readonly<Record<ScenarioLocation, string>> = {
  arrays: "SELECT r.ord, r.scenario_id FROM unnest($ord::int4[], $scenario_id::int8[]) AS r(ord, scenario_id)",
  staging: "SELECT 1 AS ord, scenario_id FROM simcat.scenario_staging WHERE stage = $stage",
};

/**
 * `missing`: live scenarios that the read lacks, and whether the read of an earlier run lacked them too. MATERIALIZED stops
 * the planner from pushing the filter into the join and choosing a nested loop.
 */
const missing = (location: ScenarioLocation) => `
${LIB}, met AS MATERIALIZED (
  SELECT ord, scenario_id, l.is_live, r.is_read
  FROM (SELECT i.*, true AS is_read FROM (${READ_IDS[location]}) AS i) AS r
  FULL JOIN (
    SELECT lib.ord, (stored.old).scenario_id, true AS is_live FROM ${eachStored(" AND s.removed_at IS NULL")}
  ) AS l USING (ord, scenario_id)
), missing AS (
  SELECT m.ord, lib.owner, lib.library_name, m.scenario_id, EXISTS (
    SELECT FROM simcat.scenario_absences a
    WHERE (a.owner, a.library_name, a.scenario_id) = (lib.owner, lib.library_name, m.scenario_id)
      AND a.run_id <> $run_id::int8
  ) AS lacked_before
  FROM met m JOIN lib USING (ord) WHERE m.is_live AND m.is_read IS NULL
)`;

const confirmedCountOf = (location: ScenarioLocation) =>
  statement(`
WITH ${missing(location)}
SELECT ord::int4 AS ord, count(*) AS confirmed FROM missing WHERE lacked_before GROUP BY ord`);

const HISTORY_COLUMNS = allNamesOf(scenarios);
const REMOVAL = ["changed_at", "removed_at", "run_id"];
const KEPT = HISTORY_COLUMNS.filter((name) => !REMOVAL.includes(name));

const removeMissing = (location: ScenarioLocation) =>
  statement(`
WITH ${missing(location)}, gone AS (
  SELECT lib.ord, found.old FROM missing m JOIN lib USING (ord) CROSS JOIN LATERAL (
    SELECT s AS old FROM simcat.scenarios s
    WHERE (s.owner, s.library_name, s.scenario_id) = (lib.owner, lib.library_name, m.scenario_id) LIMIT 1
  ) AS found
  WHERE ($marks::text[])[lib.ord] = 'all' OR (($marks::text[])[lib.ord] = 'confirmed' AND m.lacked_before)
), superseded AS (${supersedeScenarios("gone d")}
), written AS (
  INSERT INTO simcat.scenarios (${[...KEPT, ...REMOVAL].join(", ")})
  SELECT ${prefixed("(d.old)", KEPT)}, ${nextVersionStart("(d.old)")}, ${nextVersionStart("(d.old)")}, $run_id::int8 FROM gone d
  ON CONFLICT (${SCENARIO_KEY}) DO UPDATE SET ${setExcluded(REMOVAL)}
)
SELECT ord::int4 AS ord, count(*) AS removed, count(*) FILTER (WHERE ${isResultSql("(gone.old)")}) AS results
FROM gone GROUP BY ord`);

const insertAbsences = (location: ScenarioLocation) =>
  statement(`
WITH ${missing(location)}
INSERT INTO simcat.scenario_absences (${SCENARIO_KEY}, run_id)
SELECT owner, library_name, scenario_id, $run_id::int8 FROM missing m
WHERE ($withheld::bool[])[m.ord]
ON CONFLICT DO NOTHING`);

const deletePresentAbsences = (location: ScenarioLocation) =>
  statement(`
WITH ${LIB}
DELETE FROM simcat.scenario_absences a USING lib JOIN (${READ_IDS[location]}) AS r USING (ord)
WHERE (a.owner, a.library_name, a.scenario_id) = (lib.owner, lib.library_name, r.scenario_id)
  AND a.run_id <> $run_id::int8`);

/** Counts the scenarios that both this read and an earlier one lack. */
export const COUNT_CONFIRMED = perLocation(confirmedCountOf);
/** Marks scenarios as removed. `$marks` has a word for each library: `all` that the read lacks, only the `confirmed` ones, or `none`. */
export const REMOVE_MISSING = perLocation(removeMissing);
/** Records the scenarios that the reads of some libraries lack. `$withheld` is true for these libraries. */
export const INSERT_ABSENCES = perLocation(insertAbsences);
/** Deletes the records of scenarios that the reads contain again. */
export const DELETE_PRESENT_ABSENCES = perLocation(deletePresentAbsences);

/** Deletes the records of earlier runs for these libraries. */
export const DELETE_ABSENCES = statement(`
DELETE FROM simcat.scenario_absences a USING ${ofKeys("a")} AND a.run_id <> $run_id`);
