import { nextMoment } from "./library-statements.ts";

/** Storing scenarios by sets. Every statement starts with `lib`, the batch's libraries: $1 owners, $2 names, by position. */
const VERSIONED = ["parent_id", "scenario_name", "is_result", "last_modified", "description"] as const;
const IN_PLACE = ["last_modified_at", "raw"] as const;
const STORED = [...VERSIONED, ...IN_PLACE];
const KEY = "owner, library_name, scenario_id";
const SCENARIO_COLUMNS = [KEY, ...STORED, "first_seen_at, changed_at, removed_at, run_id"].join(", ");

const list = (prefix: string, columns: readonly string[]) => columns.map((column) => `${prefix}.${column}`).join(", ");
const sameKey = (a: string, b: string) =>
  `(${a}.owner, ${a}.library_name, ${a}.scenario_id) = (${b}.owner, ${b}.library_name, ${b}.scenario_id)`;

const LIB = "lib AS (SELECT * FROM unnest($1::text[], $2::text[]) WITH ORDINALITY AS l(owner, library_name, ord))";

/** Where the scenarios come from: arrays (a batch of libraries), or the staging table (one long list). */
export type Source = "arrays" | "staging";

/** Rows (ord, scenario_id, …) of the read; `arrays`: $4 … $11, one array a column; `staging`: $4 the stage. */
const READ: Readonly<Record<Source, string>> = {
  arrays: `SELECT r.ord, r.scenario_id, r.parent_id, r.scenario_name, r.is_result, r.last_modified,
      to_timestamp(r.last_modified_s) AS last_modified_at, r.description, r.raw
    FROM unnest($4::int4[], $5::int8[], $6::int8[], $7::text[], $8::bool[], $9::text[], $10::float8[], $11::text[], $12::jsonb[])
      AS r(ord, scenario_id, parent_id, scenario_name, is_result, last_modified, last_modified_s, description, raw)`,
  staging: `SELECT 1 AS ord, scenario_id, ${STORED.join(", ")} FROM simcat.scenario_staging WHERE stage = $4`,
};

/** Scenarios of libraries that were never stored: nothing to compare with. $3 is the run. */
export const insertScenarios = (source: Source) => `
WITH ${LIB}
INSERT INTO simcat.scenarios (${SCENARIO_COLUMNS})
SELECT lib.owner, lib.library_name, r.scenario_id, ${list("r", STORED)}, now(), now(), NULL, $3::int8
FROM (${READ[source]}) AS r JOIN lib USING (ord)`;

/** Scenarios of libraries that are stored: what is new, what differs (superseded into history), what is the same. $3 is the run. */
export const mergeScenarios = (source: Source) => `
WITH ${LIB}, diff AS (
  SELECT lib.owner, lib.library_name, r.*, s.scenario_id IS NULL AS is_new,
    s.removed_at IS NOT NULL OR (${list("r", VERSIONED)}) IS DISTINCT FROM (${list("s", VERSIONED)}) AS changed,
    (${list("r", IN_PLACE)}) IS DISTINCT FROM (${list("s", IN_PLACE)}) AS in_place
  FROM (${READ[source]}) AS r JOIN lib USING (ord)
  LEFT JOIN simcat.scenarios s ON (s.owner, s.library_name, s.scenario_id) = (lib.owner, lib.library_name, r.scenario_id)
), superseded AS (
  INSERT INTO simcat.scenario_history (${SCENARIO_COLUMNS}, valid_from, valid_to, superseded_by)
  SELECT ${list("s", SCENARIO_COLUMNS.split(", "))}, s.changed_at, ${nextMoment("s")}, $3::int8
  FROM diff d JOIN simcat.scenarios s ON ${sameKey("s", "d")} WHERE d.changed AND NOT d.is_new
), updated AS (
  UPDATE simcat.scenarios s SET ${STORED.map((column) => `${column} = d.${column}`).join(", ")},
    changed_at = CASE WHEN d.changed THEN ${nextMoment("s")} ELSE s.changed_at END,
    run_id = CASE WHEN d.changed THEN $3::int8 ELSE s.run_id END,
    removed_at = NULL
  FROM diff d WHERE ${sameKey("s", "d")} AND NOT d.is_new AND (d.changed OR d.in_place)
), inserted AS (
  INSERT INTO simcat.scenarios (${SCENARIO_COLUMNS})
  SELECT ${KEY}, ${STORED.join(", ")}, now(), now(), NULL, $3::int8 FROM diff WHERE is_new
)
SELECT ord::int4 AS ord, count(*) FILTER (WHERE is_new) AS inserted,
  count(*) FILTER (WHERE NOT is_new AND changed) AS updated, count(*) FILTER (WHERE NOT is_new AND NOT changed) AS unchanged
FROM diff GROUP BY ord`;

/** The ids of the read alone, after keys and run: `arrays`: $4 positions, $5 ids; `staging`: $4 the stage. */
const READ_IDS: Readonly<Record<Source, string>> = {
  arrays: "SELECT * FROM unnest($4::int4[], $5::int8[]) AS r(ord, scenario_id)",
  staging: "SELECT 1 AS ord, scenario_id FROM simcat.scenario_staging WHERE stage = $4",
};
/** The parameter after those. */
const LAST: Readonly<Record<Source, string>> = { arrays: "$6", staging: "$5" };

/** Live scenarios that the read lacks, and whether a read of an earlier run lacked them too. $3 is the run. */
const MISSING = (source: Source) => `
  SELECT lib.ord, s.owner, s.library_name, s.scenario_id, r.scenario_id IS NULL AS missing,
    a.scenario_id IS NOT NULL AS lacked_before
  FROM lib JOIN simcat.scenarios s USING (owner, library_name)
  LEFT JOIN (${READ_IDS[source]}) AS r ON r.ord = lib.ord AND r.scenario_id = s.scenario_id
  LEFT JOIN simcat.scenario_absences a ON ${sameKey("a", "s")} AND a.run_id <> $3::int8
  WHERE s.removed_at IS NULL`;

/** How many live scenarios each library has, how many the read lacks, and how many of those were lacking before. */
export const countMissing = (source: Source) => `
WITH ${LIB}
SELECT ord::int4 AS ord, count(*) AS live, count(*) FILTER (WHERE missing) AS missing,
  count(*) FILTER (WHERE missing AND lacked_before) AS confirmed
FROM (${MISSING(source)}) AS m GROUP BY ord`;

/**
 * Marks as removed what the read lacks. The last parameter says by position which of it is meant:
 * `all`, `confirmed` (only what an earlier read lacked too), `none`.
 */
export const removeMissing = (source: Source) => {
  const mark = `(${LAST[source]}::text[])[m.ord]`;
  return `
WITH ${LIB}, gone AS (
  SELECT m.ord, s.* FROM (${MISSING(source)}) AS m JOIN simcat.scenarios s ON ${sameKey("s", "m")}
  WHERE m.missing AND (${mark} = 'all' OR (${mark} = 'confirmed' AND m.lacked_before))
), superseded AS (
  INSERT INTO simcat.scenario_history (${SCENARIO_COLUMNS}, valid_from, valid_to, superseded_by)
  SELECT ${list("g", SCENARIO_COLUMNS.split(", "))}, g.changed_at, ${nextMoment("g")}, $3::int8 FROM gone g
), updated AS (
  UPDATE simcat.scenarios s SET removed_at = ${nextMoment("s")}, changed_at = ${nextMoment("s")}, run_id = $3::int8
  FROM gone g WHERE ${sameKey("s", "g")}
)
SELECT ord::int4 AS ord, count(*) AS removed FROM gone GROUP BY ord`;
};

/** Remembers what the reads lack and was not marked. The last parameter says by position which libraries are meant. */
export const insertAbsences = (source: Source) => `
WITH ${LIB}
INSERT INTO simcat.scenario_absences (${KEY}, run_id)
SELECT owner, library_name, scenario_id, $3::int8 FROM (${MISSING(source)}) AS m
WHERE missing AND (${LAST[source]}::bool[])[m.ord]
ON CONFLICT DO NOTHING`;

/** What was lacking and is there again; parameters as for `countMissing`. */
export const deletePresentAbsences = (source: Source) => `
WITH ${LIB}
DELETE FROM simcat.scenario_absences a USING lib JOIN (${READ_IDS[source]}) AS r USING (ord)
WHERE (a.owner, a.library_name, a.scenario_id) = (lib.owner, lib.library_name, r.scenario_id) AND a.run_id <> $3::int8`;

/** What the reads of earlier runs lacked: $1 owners, $2 names, $3 the run. */
export const DELETE_ABSENCES = `
DELETE FROM simcat.scenario_absences a USING unnest($1::text[], $2::text[]) AS l(owner, library_name)
WHERE (a.owner, a.library_name) = (l.owner, l.library_name) AND a.run_id <> $3`;
