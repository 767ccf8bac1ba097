import { list, nextMoment, takeOver } from "./versions.ts";

/**
 * Storing the library rows of a batch in one statement: what differs is superseded into history, what is new is inserted,
 * what is the same is not touched. `unnest` of one array a column; one round trip for the batch.
 */
const VERSIONED = [
  "library_owner",
  "last_modified",
  "file_size",
  "package_name",
  "package_version",
  "description",
] as const;
/** Follow from the text beside them, or hold fields that nobody knows: written in place, they make no version. */
const IN_PLACE = ["last_modified_at", "file_size_bytes", "listed", "metadata"] as const;

const STORED = [...VERSIONED, ...IN_PLACE];
const KEY = "owner, library_name";
const LIBRARY_COLUMNS = [KEY, ...STORED, "first_seen_at, changed_at, removed_at, run_id"].join(", ");

/** A rejected object (null) leaves what was stored of it, where something was. */
const unless = (rejected: string, columns: readonly string[]) =>
  columns
    .map((column) => `CASE WHEN ${rejected} AND NOT is_new THEN (old).${column} ELSE ${column} END AS ${column}`)
    .join(", ");

export const MERGE_LIBRARIES = `
WITH sent AS (
  SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::timestamptz[], $6::text[], $7::int8[],
    $8::text[], $9::text[], $10::text[], $11::jsonb[], $12::jsonb[]) WITH ORDINALITY
    AS s(owner, library_name, library_owner, last_modified, last_modified_at, file_size, file_size_bytes,
      package_name, package_version, description, listed, metadata, ord)
), met AS (
  SELECT sent.*, found.old, (found.old).owner IS NULL AS is_new
  FROM sent LEFT JOIN LATERAL (
    SELECT l AS old FROM simcat.libraries l
    WHERE (l.owner, l.library_name) = (sent.owner, sent.library_name) LIMIT 1
  ) AS found ON true
), incoming AS (
  SELECT ord, ${KEY}, old, is_new,
    ${unless("metadata IS NULL", [
      "library_owner",
      "file_size",
      "file_size_bytes",
      "package_name",
      "package_version",
      "description",
      "metadata",
    ])},
    ${unless("listed IS NULL", ["last_modified", "last_modified_at", "listed"])}
  FROM met
), diff AS MATERIALIZED (
  SELECT i.*,
    is_new OR (old).removed_at IS NOT NULL
      OR (${list("i", VERSIONED)}) IS DISTINCT FROM (${list("(old)", VERSIONED)}) AS changed,
    (${list("i", IN_PLACE)}) IS DISTINCT FROM (${list("(old)", IN_PLACE)}) AS in_place
  FROM incoming i
), superseded AS (
  INSERT INTO simcat.library_history (${LIBRARY_COLUMNS}, valid_from, valid_to, superseded_by)
  SELECT ${list("(old)", LIBRARY_COLUMNS.split(", "))}, (old).changed_at, ${nextMoment("(old)")}, $13::int8
  FROM diff WHERE changed AND NOT is_new
), written AS (
  INSERT INTO simcat.libraries (${LIBRARY_COLUMNS})
  SELECT ${KEY}, ${STORED.join(", ")}, now(),
    CASE WHEN is_new THEN now() WHEN changed THEN ${nextMoment("(old)")} ELSE (old).changed_at END, NULL,
    CASE WHEN changed THEN $13::int8 ELSE (old).run_id END
  FROM diff WHERE changed OR in_place
  ON CONFLICT (${KEY}) DO UPDATE SET ${takeOver([...STORED, "changed_at", "removed_at", "run_id"])}
)
SELECT changed FROM diff ORDER BY ord`;

/** Marks as removed: $1 owners, $2 names, $3 the run. */
export const REMOVE_LIBRARIES = `
WITH gone AS (
  SELECT l.* FROM unnest($1::text[], $2::text[]) AS g(owner, library_name)
  JOIN simcat.libraries l USING (${KEY}) WHERE l.removed_at IS NULL
), superseded AS (
  INSERT INTO simcat.library_history (${LIBRARY_COLUMNS}, valid_from, valid_to, superseded_by)
  SELECT ${list("g", LIBRARY_COLUMNS.split(", "))}, g.changed_at, ${nextMoment("g")}, $3 FROM gone g
)
UPDATE simcat.libraries l SET removed_at = ${nextMoment("l")}, changed_at = ${nextMoment("l")}, run_id = $3
FROM gone g WHERE (l.owner, l.library_name) = (g.owner, g.library_name)`;

/** What was marked as removed is listed again: $1 owners, $2 names, $3 the run. */
export const RESTORE_LIBRARIES = `
WITH back AS (
  SELECT l.* FROM unnest($1::text[], $2::text[]) AS g(owner, library_name)
  JOIN simcat.libraries l USING (${KEY}) WHERE l.removed_at IS NOT NULL
), superseded AS (
  INSERT INTO simcat.library_history (${LIBRARY_COLUMNS}, valid_from, valid_to, superseded_by)
  SELECT ${list("b", LIBRARY_COLUMNS.split(", "))}, b.changed_at, ${nextMoment("b")}, $3 FROM back b
)
UPDATE simcat.libraries l SET removed_at = NULL, changed_at = ${nextMoment("l")}, run_id = $3
FROM back b WHERE (l.owner, l.library_name) = (b.owner, b.library_name)`;
