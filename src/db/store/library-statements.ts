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

const list = (prefix: string, columns: readonly string[]) => columns.map((column) => `${prefix}.${column}`).join(", ");

/** Half-open and never empty, even when the clock stood still or went back between two versions. */
export const nextMoment = (table: string) => `greatest(now(), ${table}.changed_at + interval '1 microsecond')`;

/** A rejected object (null) leaves what was stored of it, where something was. */
const unless = (rejected: string, column: string) =>
  `CASE WHEN ${rejected} AND l.owner IS NOT NULL THEN l.${column} ELSE i.${column} END AS ${column}`;

export const MERGE_LIBRARIES = `
WITH sent AS (
  SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::float8[], $6::text[], $7::int8[],
    $8::text[], $9::text[], $10::text[], $11::jsonb[], $12::jsonb[]) WITH ORDINALITY
    AS s(owner, library_name, library_owner, last_modified, last_modified_s, file_size, file_size_bytes,
      package_name, package_version, description, listed, metadata, ord)
), incoming AS (
  SELECT i.ord, i.owner, i.library_name, l.owner IS NULL AS is_new,
    ${["library_owner", "file_size", "file_size_bytes", "package_name", "package_version", "description", "metadata"]
      .map((column) => unless("i.metadata IS NULL", column))
      .join(", ")},
    ${["last_modified", "last_modified_at", "listed"].map((column) => unless("i.listed IS NULL", column)).join(", ")}
  FROM (SELECT *, to_timestamp(last_modified_s) AS last_modified_at FROM sent) AS i
  LEFT JOIN simcat.libraries l USING (${KEY})
), diff AS (
  SELECT i.*,
    l.removed_at IS NOT NULL OR (${list("i", VERSIONED)}) IS DISTINCT FROM (${list("l", VERSIONED)}) AS changed,
    (${list("i", IN_PLACE)}) IS DISTINCT FROM (${list("l", IN_PLACE)}) AS in_place
  FROM incoming i LEFT JOIN simcat.libraries l USING (${KEY})
), superseded AS (
  INSERT INTO simcat.library_history (${LIBRARY_COLUMNS}, valid_from, valid_to, superseded_by)
  SELECT ${list("l", LIBRARY_COLUMNS.split(", "))}, l.changed_at, ${nextMoment("l")}, $13
  FROM diff d JOIN simcat.libraries l USING (${KEY}) WHERE d.changed
), updated AS (
  UPDATE simcat.libraries l SET ${STORED.map((column) => `${column} = d.${column}`).join(", ")},
    changed_at = CASE WHEN d.changed THEN ${nextMoment("l")} ELSE l.changed_at END,
    run_id = CASE WHEN d.changed THEN $13 ELSE l.run_id END,
    removed_at = NULL
  FROM diff d
  WHERE (l.owner, l.library_name) = (d.owner, d.library_name) AND NOT d.is_new AND (d.changed OR d.in_place)
), inserted AS (
  INSERT INTO simcat.libraries (${LIBRARY_COLUMNS})
  SELECT ${KEY}, ${STORED.join(", ")}, now(), now(), NULL, $13 FROM diff WHERE is_new
)
SELECT is_new OR changed AS changed FROM diff ORDER BY ord`;

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
