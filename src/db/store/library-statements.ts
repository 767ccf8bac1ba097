import { libraries } from "../schema.ts";
import { statement } from "../statement.ts";
import {
  allNamesOf,
  inPlaceNames,
  libraryColumns,
  namesOf,
  nextVersionStart,
  prefixed,
  setExcluded,
  unnest,
  versionedNames,
} from "./columns.ts";

const LIBRARY_KEY = "owner, library_name";
const LIBRARY_COLUMNS = allNamesOf(libraries);
const SENT = namesOf(libraryColumns).join(", ");
const LIBRARY_VERSIONED = versionedNames(libraryColumns);
const LIBRARY_IN_PLACE = inPlaceNames(libraryColumns);
const LIBRARY_STORED = [...LIBRARY_VERSIONED, ...LIBRARY_IN_PLACE];

/** If the object was rejected (its JSON is null), a stored row keeps the columns that it would fill. */
const unlessRejected = (origin: "listing" | "metadata", json: string) =>
  libraryColumns
    .filter((column) => column.change !== "key" && column.origin === origin)
    .map(({ name }) => `CASE WHEN ${json} IS NULL AND NOT is_new THEN (old).${name} ELSE ${name} END AS ${name}`)
    .join(", ");

/** Copies the stored row `row` to history, ended by this run. */
const supersedeLibrary = (row: string, from: string) => `
  INSERT INTO simcat.library_history (${LIBRARY_COLUMNS.join(", ")}, valid_from, valid_to, superseded_by)
  SELECT ${prefixed(row, LIBRARY_COLUMNS)}, ${row}.changed_at, ${nextVersionStart(row)}, $run_id::int8 FROM ${from}`;

/**
 * Stores the rows of a batch of libraries, one array per column: a row that differs is superseded into history, a new one is
 * inserted, and an unchanged one is not touched. Answers by position whether the row is new or another version.
 */
export const MERGE_LIBRARIES = statement(`
WITH sent AS (
  SELECT * FROM ${unnest(libraryColumns)} WITH ORDINALITY AS s(${SENT}, ord)
), met AS (
  SELECT sent.*, found.old, (found.old).owner IS NULL AS is_new
  FROM sent LEFT JOIN LATERAL (
    SELECT l AS old FROM simcat.libraries l
    WHERE (l.owner, l.library_name) = (sent.owner, sent.library_name) LIMIT 1
  ) AS found ON true
), incoming AS (
  SELECT ord, ${LIBRARY_KEY}, old, is_new,
    ${unlessRejected("metadata", "metadata")},
    ${unlessRejected("listing", "listed")}
  FROM met
), diff AS MATERIALIZED (
  SELECT i.*,
    is_new OR (old).removed_at IS NOT NULL
      OR (${prefixed("i", LIBRARY_VERSIONED)}) IS DISTINCT FROM (${prefixed("(old)", LIBRARY_VERSIONED)}) AS changed,
    (${prefixed("i", LIBRARY_IN_PLACE)}) IS DISTINCT FROM (${prefixed("(old)", LIBRARY_IN_PLACE)}) AS in_place
  FROM incoming i
), superseded AS (${supersedeLibrary("(old)", "diff WHERE changed AND NOT is_new")}
), written AS (
  INSERT INTO simcat.libraries (${LIBRARY_KEY}, ${LIBRARY_STORED.join(", ")}, first_seen_at, changed_at, removed_at, run_id)
  SELECT ${LIBRARY_KEY}, ${LIBRARY_STORED.join(", ")}, now(),
    CASE WHEN is_new THEN now() WHEN changed THEN ${nextVersionStart("(old)")} ELSE (old).changed_at END, NULL,
    CASE WHEN changed THEN $run_id::int8 ELSE (old).run_id END
  FROM diff WHERE changed OR in_place
  ON CONFLICT (${LIBRARY_KEY}) DO UPDATE SET ${setExcluded([...LIBRARY_STORED, "changed_at", "removed_at", "run_id"])}
)
SELECT changed FROM diff ORDER BY ord`);

/** Marks these libraries as removed. */
export const REMOVE_LIBRARIES = statement(`
WITH gone AS (
  SELECT l.* FROM unnest($owner::text[], $library_name::text[]) AS g(owner, library_name)
  JOIN simcat.libraries l USING (${LIBRARY_KEY}) WHERE l.removed_at IS NULL
), superseded AS (${supersedeLibrary("g", "gone g")}
)
UPDATE simcat.libraries l
SET removed_at = ${nextVersionStart("l")}, changed_at = ${nextVersionStart("l")}, run_id = $run_id::int8
FROM gone g WHERE (l.owner, l.library_name) = (g.owner, g.library_name)`);

/** Restores libraries that were marked as removed and are listed again. */
export const RESTORE_LIBRARIES = statement(`
WITH back AS (
  SELECT l.* FROM unnest($owner::text[], $library_name::text[]) AS g(owner, library_name)
  JOIN simcat.libraries l USING (${LIBRARY_KEY}) WHERE l.removed_at IS NOT NULL
), superseded AS (${supersedeLibrary("b", "back b")}
)
UPDATE simcat.libraries l SET removed_at = NULL, changed_at = ${nextVersionStart("l")}, run_id = $run_id::int8
FROM back b WHERE (l.owner, l.library_name) = (b.owner, b.library_name)`);
