import { list, nextMoment, takeOver } from "./versions.ts";

/**
 * Storing scenarios by sets. Every statement starts with `lib`, the batch's libraries: $1 owners, $2 names, by position.
 *
 * The planner takes owner and name for a key: it expects one row behind them, and its plans loop over whole libraries for
 * each row (10 s for 5,000 scenarios that were stored, where 60 ms will do). Where one library has most of the rows it expects
 * all of them, and scans the table for each batch (400 ms and more, where 20 ms will do). So nothing is left to it: a stored
 * row is written by its whole key (ON CONFLICT), looked up by it where it is one of few (LATERAL … LIMIT 1), the stored rows of a
 * library are looked up library by library (LATERAL … OFFSET 0), and a read meets them in a FULL JOIN, the one join that never loops.
 */
const VERSIONED = ["parent_id", "scenario_name", "is_result", "last_modified", "description"] as const;
const IN_PLACE = ["last_modified_at", "raw"] as const;
const STORED = [...VERSIONED, ...IN_PLACE];
/** A row is another version when these differ. No view shows a difference between a parent of 0 and none. */
const versionOf = (row: string) =>
  VERSIONED.map((column) => (column === "parent_id" ? `nullif(${row}.parent_id, 0)` : `${row}.${column}`)).join(", ");
const inPlaceOf = (row: string) => list(row, ["parent_id", ...IN_PLACE]);
const KEY = "owner, library_name, scenario_id";
const COLUMNS = [...KEY.split(", "), ...STORED, "first_seen_at", "changed_at", "removed_at", "run_id"];

/** The columns of a stored row, some of them replaced. */
const rowOf = (row: string, replaced: Readonly<Record<string, string>> = {}) =>
  COLUMNS.map((column) => replaced[column] ?? `${row}.${column}`).join(", ");

const LIB = "lib AS (SELECT * FROM unnest($1::text[], $2::text[]) WITH ORDINALITY AS l(owner, library_name, ord))";

/** The stored row of a scenario, as the column `old`. */
const findOld = (scenario: string) => `
  (SELECT s AS old FROM simcat.scenarios s
   WHERE (s.owner, s.library_name, s.scenario_id) = (lib.owner, lib.library_name, ${scenario}.scenario_id) LIMIT 1) AS found`;

/** The stored rows of each library of the batch, as the column `old`. OFFSET 0 keeps it a lookup by key for each of them. */
const EACH_OLD = (condition: string) => `
  lib CROSS JOIN LATERAL (
    SELECT s AS old FROM simcat.scenarios s
    WHERE (s.owner, s.library_name) = (lib.owner, lib.library_name)${condition} OFFSET 0
  ) AS stored`;

/** Ends the version that a stored row `old` is. */
const supersede = (from: string) => `
  INSERT INTO simcat.scenario_history (${COLUMNS}, valid_from, valid_to, superseded_by)
  SELECT ${rowOf("(d.old)")}, (d.old).changed_at, ${nextMoment("(d.old)")}, $3::int8 FROM ${from}`;

/** Where the scenarios come from: arrays (a batch of libraries), or the staging table (one long list). */
export type Source = "arrays" | "staging";

/** Rows (ord, scenario_id, …) of the read; `arrays`: $4 … $11, one array a column; `staging`: $4 the stage. */
const READ: Readonly<Record<Source, string>> = {
  arrays: `SELECT r.ord, r.scenario_id, r.parent_id, r.scenario_name, r.is_result, r.last_modified,
      r.last_modified_at, r.description, r.raw
    FROM unnest($4::int4[], $5::int8[], $6::int8[], $7::text[], $8::bool[], $9::text[], $10::timestamptz[], $11::text[], $12::jsonb[])
      AS r(ord, scenario_id, parent_id, scenario_name, is_result, last_modified, last_modified_at, description, raw)`,
  staging: `SELECT 1 AS ord, scenario_id, ${STORED.join(", ")} FROM simcat.scenario_staging WHERE stage = $4`,
};

/** Whether a row is a result: the flag says so, or it is not sent and there is a parent. */
const isResult = (row: string) => `coalesce(${row}.is_result, nullif(${row}.parent_id, 0) IS NOT NULL)`;

/** Scenarios of libraries that were never stored: nothing to compare with. $3 is the run. */
export const insertScenarios = (source: Source) => `
WITH ${LIB}, written AS (
  INSERT INTO simcat.scenarios (${COLUMNS})
  SELECT lib.owner, lib.library_name, r.scenario_id, ${list("r", STORED)}, now(), now(), NULL, $3::int8
  FROM (${READ[source]}) AS r JOIN lib USING (ord)
  RETURNING owner, library_name, is_result, parent_id
)
SELECT lib.ord::int4 AS ord, count(*) AS inserted, count(*) FILTER (WHERE ${isResult("w")}) AS results
FROM written w JOIN lib USING (owner, library_name) GROUP BY lib.ord`;

/**
 * Scenarios of libraries that are stored: what is new, what differs (superseded into history), what is the same, how
 * many live ones there were that the read has (or lacks), and how many live ones and results there are now. MATERIALIZED, for a condition on one side would turn the join into
 * one that may loop. $3 is the run.
 */
export const mergeScenarios = (source: Source) => `
WITH ${LIB}, met AS MATERIALIZED (
  SELECT ord, scenario_id, r.owner, r.library_name, ${list("r", STORED)}, r.owner IS NOT NULL AS is_read,
    CASE WHEN r.owner IS NOT NULL THEN s.old END AS old,
    (s.old).owner IS NOT NULL AND (s.old).removed_at IS NULL AS is_live, (s.old).owner IS NULL AS is_new,
    ${isResult("(s.old)")} AS is_old_result,
    (s.old).owner IS NULL OR (s.old).removed_at IS NOT NULL
      OR (${versionOf("r")}) IS DISTINCT FROM (${versionOf("(s.old)")}) AS changed,
    (${inPlaceOf("r")}) IS DISTINCT FROM (${inPlaceOf("(s.old)")}) AS in_place
  FROM (SELECT lib.owner, lib.library_name, r.* FROM (${READ[source]}) AS r JOIN lib USING (ord)) AS r
  FULL JOIN (
    SELECT lib.ord, (stored.old).scenario_id, stored.old FROM ${EACH_OLD("")}
  ) AS s USING (ord, scenario_id)
), superseded AS (${supersede("met d WHERE d.is_read AND d.changed AND NOT d.is_new")}
), written AS (
  INSERT INTO simcat.scenarios (${COLUMNS})
  SELECT ${KEY}, ${STORED.join(", ")}, now(),
    CASE WHEN is_new THEN now() WHEN changed THEN ${nextMoment("(old)")} ELSE (old).changed_at END, NULL,
    CASE WHEN changed THEN $3::int8 ELSE (old).run_id END
  FROM met WHERE is_read AND (changed OR in_place)
  ON CONFLICT (${KEY}) DO UPDATE SET ${takeOver([...STORED, "changed_at", "removed_at", "run_id"])}
)
SELECT ord::int4 AS ord, count(*) FILTER (WHERE is_new) AS inserted,
  count(*) FILTER (WHERE is_read AND NOT is_new AND changed) AS updated,
  count(*) FILTER (WHERE is_read AND NOT changed) AS unchanged,
  count(*) FILTER (WHERE is_live) AS live, count(*) FILTER (WHERE is_live AND NOT is_read) AS missing,
  count(*) FILTER (WHERE is_read OR is_live) AS scenarios,
  count(*) FILTER (WHERE CASE WHEN is_read THEN ${isResult("met")} ELSE is_live AND is_old_result END) AS results
FROM met GROUP BY ord`;

/** The ids of the read alone, after keys and run: `arrays`: $4 positions, $5 ids; `staging`: $4 the stage. */
const READ_IDS: Readonly<Record<Source, string>> = {
  arrays: "SELECT ord, scenario_id, true AS is_read FROM unnest($4::int4[], $5::int8[]) AS r(ord, scenario_id)",
  staging: "SELECT 1 AS ord, scenario_id, true AS is_read FROM simcat.scenario_staging WHERE stage = $4",
};
/** The parameter after those. */
const LAST: Readonly<Record<Source, string>> = { arrays: "$6", staging: "$5" };

/**
 * `met`: what is live (`is_live`) and what was read (`is_read`). `missing`: live scenarios that the read lacks, and whether
 * a read of an earlier run lacked them too. MATERIALIZED, for a condition on what is live would turn the join into one
 * that may loop. $3 is the run.
 */
const MISSING = (source: Source) => `
${LIB}, met AS MATERIALIZED (
  SELECT ord, scenario_id, is_live, is_read
  FROM (${READ_IDS[source]}) AS r
  FULL JOIN (
    SELECT lib.ord, (stored.old).scenario_id, true AS is_live FROM ${EACH_OLD(" AND s.removed_at IS NULL")}
  ) AS l USING (ord, scenario_id)
), missing AS (
  SELECT m.ord, lib.owner, lib.library_name, m.scenario_id, EXISTS (
    SELECT FROM simcat.scenario_absences a
    WHERE (a.owner, a.library_name, a.scenario_id) = (lib.owner, lib.library_name, m.scenario_id) AND a.run_id <> $3::int8
  ) AS lacked_before
  FROM met m JOIN lib USING (ord) WHERE m.is_live AND m.is_read IS NULL
)`;

/** How many of the scenarios that a read lacks were lacking before. */
export const countConfirmed = (source: Source) => `
WITH ${MISSING(source)}
SELECT ord::int4 AS ord, count(*) AS confirmed FROM missing WHERE lacked_before GROUP BY ord`;

/**
 * Marks as removed what the read lacks. The last parameter says by position which of it is meant:
 * `all`, `confirmed` (only what an earlier read lacked too), `none`.
 */
export const removeMissing = (source: Source) => {
  const mark = `(${LAST[source]}::text[])[lib.ord]`;
  const moment = nextMoment("(d.old)");
  return `
WITH ${MISSING(source)}, gone AS (
  SELECT lib.ord, found.old FROM missing m JOIN lib USING (ord) CROSS JOIN LATERAL ${findOld("m")}
  WHERE ${mark} = 'all' OR (${mark} = 'confirmed' AND m.lacked_before)
), superseded AS (${supersede("gone d")}
), written AS (
  INSERT INTO simcat.scenarios (${COLUMNS})
  SELECT ${rowOf("(d.old)", { changed_at: moment, removed_at: moment, run_id: "$3::int8" })} FROM gone d
  ON CONFLICT (${KEY}) DO UPDATE SET ${takeOver(["changed_at", "removed_at", "run_id"])}
)
SELECT ord::int4 AS ord, count(*) AS removed, count(*) FILTER (WHERE ${isResult("(gone.old)")}) AS results
FROM gone GROUP BY ord`;
};

/** Remembers what the reads lack and was not marked. The last parameter says by position which libraries are meant. */
export const insertAbsences = (source: Source) => `
WITH ${MISSING(source)}
INSERT INTO simcat.scenario_absences (${KEY}, run_id)
SELECT owner, library_name, scenario_id, $3::int8 FROM missing m
WHERE (${LAST[source]}::bool[])[m.ord]
ON CONFLICT DO NOTHING`;

/** What was lacking and is there again; parameters as for `countConfirmed`. */
export const deletePresentAbsences = (source: Source) => `
WITH ${LIB}
DELETE FROM simcat.scenario_absences a USING lib JOIN (${READ_IDS[source]}) AS r USING (ord)
WHERE (a.owner, a.library_name, a.scenario_id) = (lib.owner, lib.library_name, r.scenario_id) AND a.run_id <> $3::int8`;

/** What the reads of earlier runs lacked: $1 owners, $2 names, $3 the run. */
export const DELETE_ABSENCES = `
DELETE FROM simcat.scenario_absences a USING unnest($1::text[], $2::text[]) AS l(owner, library_name)
WHERE (a.owner, a.library_name) = (l.owner, l.library_name) AND a.run_id <> $3`;
