/** Statements that delete old rows. $1 of each is the cutoff: rows that ended before it are old. */
const OF_LIBRARY = "simcat.libraries l USING (owner, library_name)";

/** Rows per transaction, so that neither vacuum nor the next run waits for long. */
export const ROWS_PER_TRANSACTION = 10_000;

/** Statements by `ctid` would delete other rows of a partitioned table: a `ctid` is unique only within one partition. */
export const SELECT_PARTITIONED =
  "SELECT oid::regclass::text AS name FROM pg_class WHERE relnamespace = to_regnamespace('simcat') AND relkind = 'p'";

/** One row: how many rows of each table the statements below would delete together. */
export const COUNT_PRUNABLE = `
SELECT (SELECT count(*) FROM simcat.libraries l WHERE l.removed_at < $1) AS libraries,
  (SELECT count(*) FROM simcat.scenarios s JOIN ${OF_LIBRARY}
    WHERE s.removed_at < $1 OR l.removed_at < $1) AS scenarios,
  (SELECT count(*) FROM simcat.library_history h LEFT JOIN ${OF_LIBRARY}
    WHERE h.valid_to < $1 OR l.removed_at < $1) AS "libraryHistory",
  (SELECT count(*) FROM simcat.scenario_history h LEFT JOIN ${OF_LIBRARY}
    LEFT JOIN simcat.scenarios s USING (owner, library_name, scenario_id)
    WHERE h.valid_to < $1 OR l.removed_at < $1 OR s.removed_at < $1) AS "scenarioHistory",
  (SELECT count(*) FROM simcat.library_sync JOIN ${OF_LIBRARY} WHERE l.removed_at < $1) AS "librarySync",
  (SELECT count(*) FROM simcat.scenario_absences JOIN ${OF_LIBRARY} WHERE l.removed_at < $1) AS "scenarioAbsences",
  (SELECT count(*) FROM simcat.rejects r LEFT JOIN ${OF_LIBRARY}
    WHERE r.resolved_at < $1 OR l.removed_at < $1) AS rejects`;

/** Libraries removed before the cutoff, each with the number of its scenarios and their versions. */
export const SELECT_REMOVED_LIBRARIES = `
SELECT owner, library_name AS name,
  (SELECT count(*) FROM simcat.scenarios s WHERE (s.owner, s.library_name) = (l.owner, l.library_name)) +
  (SELECT count(*) FROM simcat.scenario_history h WHERE (h.owner, h.library_name) = (l.owner, l.library_name)) AS rows
FROM simcat.libraries l WHERE removed_at < $1`;

/** Libraries by their keys ($2 owners, $3 names). Their rows are deleted only if they are still removed. */
const KEYS = "unnest($2::text[], $3::text[]) AS k(owner, library_name)";
export const deleteOfLibraries = (table: string) => `
DELETE FROM simcat.${table} t USING ${KEYS} JOIN ${OF_LIBRARY}
WHERE (t.owner, t.library_name) = (k.owner, k.library_name) AND l.removed_at < $1`;
export const DELETE_LIBRARIES = `
DELETE FROM simcat.libraries l USING ${KEYS}
WHERE (l.owner, l.library_name) = (k.owner, k.library_name) AND l.removed_at < $1`;

/**
 * Removed scenarios with their versions, in the blocks from $2 up to $3. No index covers removed scenarios: reading block
 * by block reads each block once; a LIMIT would read the whole table for each transaction.
 */
export const DELETE_SCENARIOS = `
WITH gone AS (
  DELETE FROM simcat.scenarios WHERE ctid >= $2::tid AND ctid < $3::tid AND removed_at < $1
  RETURNING owner, library_name, scenario_id
), versions AS (
  DELETE FROM simcat.scenario_history h USING gone g
  WHERE (h.owner, h.library_name, h.scenario_id) = (g.owner, g.library_name, g.scenario_id) RETURNING 1
)
SELECT (SELECT count(*) FROM gone) AS scenarios, (SELECT count(*) FROM versions) AS "scenarioHistory"`;

const deleteOldest = (table: string, column: string) => `
DELETE FROM simcat.${table} WHERE ctid = ANY (ARRAY(
  SELECT ctid FROM simcat.${table} WHERE ${column} < $1 ORDER BY ${column} LIMIT ${ROWS_PER_TRANSACTION}))`;

/** The oldest rows first, found by the index on `valid_to`. There are too few rejects to need an index. */
export const DELETE_OLDEST = {
  libraryHistory: deleteOldest("library_history", "valid_to"),
  scenarioHistory: deleteOldest("scenario_history", "valid_to"),
  rejects: deleteOldest("rejects", "resolved_at"),
};

export const COUNT_SCENARIO_BLOCKS =
  "SELECT pg_relation_size('simcat.scenarios') / current_setting('block_size')::int8 AS blocks";

/** $1: when the history is pruned up to, $2 and $3: deleted versions of libraries and of scenarios. */
export const INSERT_PRUNE = `
INSERT INTO simcat.prunes (pruned_at, cutoff, library_versions, scenario_versions) VALUES (now(), $1, $2, $3) RETURNING id`;
export const ADD_TO_PRUNE = `
UPDATE simcat.prunes SET library_versions = library_versions + $2, scenario_versions = scenario_versions + $3 WHERE id = $1`;

/** As the view `data_complete_as_of` has it, read from the tables: the role of a prune may have no rights on the views. */
export const SELECT_HISTORY_START = `
SELECT (
  SELECT greatest(finished_at, (SELECT max(cutoff) FROM simcat.prunes)) FROM simcat.sync_runs
  WHERE scope IS NULL AND finished_at IS NOT NULL AND (status = 'ok' AND listing_complete IS NOT FALSE OR listing_complete AND (status = 'partial'
    OR status = 'held' AND libraries_read + libraries_skipped + libraries_failed > 0))
  ORDER BY id LIMIT 1
) AS since`;
