import type { LibraryContent, SavedLibrary } from "../../model.ts";
import type { Connection } from "../connect.ts";
import { libraries } from "../schema.ts";
import { byPosition, float8Array, int8Array, keyArrays, statement, textArray } from "../statement.ts";
import {
  allNamesOf,
  libraryColumns,
  namesBy,
  namesOf,
  nextVersionStart,
  prefixed,
  setExcluded,
  supersede,
  toArrays,
  unnest,
} from "./columns.ts";
import { differencesSql, IS_INITIAL, LIBRARY_EVENT } from "./event-sql.ts";
import { saveContentRejects } from "./save-rejects.ts";
import { type SaveContext, saveScenarios } from "./save-scenarios.ts";

/** Stores libraries in the caller's transaction: rows, history, removals, rejects, bookmarks. Returns a result for each, in order. */
export async function saveLibraries(connection: Connection, batch: readonly LibraryContent[], context: SaveContext) {
  const differing = batch.filter((library) => !library.isSame);
  const changed = await mergeLibraries(connection, differing, context);
  const counts = await saveScenarios(connection, differing, context);
  // A library may have open rejects of an earlier read only if it owed a read.
  const withRejects = batch.flatMap(({ listed, rejects, before }) =>
    rejects.length > 0 || before?.rereadReason ? { key: listed.key, rejects } : [],
  );
  if (withRejects.length > 0) await saveContentRejects(connection, context.runId, withRejects);
  const saved = batch.map((library): SavedLibrary => {
    const scenarios = counts.get(library) ?? { ...NOTHING_SAVED, unchanged: library.scenarios.count };
    const { inserted, updated, removed, withheld } = scenarios;
    return {
      ...scenarios,
      changed: changed.has(library) || inserted + updated + removed > 0,
      rereadReason: library.isPartial ? "rejects" : withheld ? "shrunk" : null,
    };
  });
  await connection.query(UPDATE_SYNC({ ...toSyncArrays(batch, saved), run_id: context.runId }));
  return saved;
}

/** The scenarios of a library whose content is the same as stored: its counts and its newest scenario stay. */
const NOTHING_SAVED = {
  inserted: 0,
  updated: 0,
  removed: 0,
  withheld: null,
  scenarioCount: null,
  resultCount: null,
} as const;

const SENT = namesOf(libraryColumns).join(", ");
const LIBRARY_VERSIONED = namesBy("version", libraryColumns);
const LIBRARY_IN_PLACE = namesBy("in place", libraryColumns);
const LIBRARY_STORED = [...LIBRARY_VERSIONED, ...LIBRARY_IN_PLACE];

/** If the object was rejected (its JSON is null), a stored row keeps the columns that it would fill. */
const unlessRejected = (origin: "listing" | "metadata", json: string) =>
  libraryColumns
    .filter((column) => column.change !== "key" && column.origin === origin)
    .map(
      ({ name }) =>
        `CASE WHEN ${json} IS NULL AND (old).owner IS NOT NULL THEN (old).${name} ELSE ${name} END AS ${name}`,
    )
    .join(", ");

/**
 * Stores the rows of a batch of libraries, one array per column. A row that differs is superseded into history, a new one is inserted,
 * and an unchanged one is not touched. A size whose text an earlier simcat could not parse is written in place, and is an event too.
 * A library that returned was restored when it was listed. Returns for each, in order, whether its row is new or another version.
 */
export const MERGE_LIBRARIES = statement(`
WITH incoming AS (
  SELECT ord, owner, library_name, old, (old).owner IS NULL AS is_new,
    ${unlessRejected("metadata", "metadata")},
    ${unlessRejected("listing", "listed")}
  FROM ${unnest(libraryColumns)} WITH ORDINALITY AS sent(${SENT}, ord) LEFT JOIN LATERAL (
    SELECT l AS old FROM simcat.libraries l
    WHERE (l.owner, l.library_name) = (sent.owner, sent.library_name) LIMIT 1
  ) AS found ON true
), diff AS MATERIALIZED (
  SELECT i.*,
    is_new OR (${prefixed("i", LIBRARY_VERSIONED)}) IS DISTINCT FROM (${prefixed("(old)", LIBRARY_VERSIONED)}) AS changed,
    (${prefixed("i", LIBRARY_IN_PLACE)}) IS DISTINCT FROM (${prefixed("(old)", LIBRARY_IN_PLACE)}) AS in_place
  FROM incoming i
), superseded AS (${supersede("library", allNamesOf(libraries), "(old)", "diff WHERE changed AND NOT is_new")}
), written AS (
  INSERT INTO simcat.libraries (owner, library_name, ${LIBRARY_STORED.join(", ")}, first_seen_at, changed_at, removed_at, run_id)
  SELECT owner, library_name, ${LIBRARY_STORED.join(", ")}, now(),
    CASE WHEN is_new THEN now() WHEN changed THEN ${nextVersionStart("(old)")} ELSE (old).changed_at END, NULL,
    CASE WHEN changed THEN $run_id::int8 ELSE (old).run_id END
  FROM diff WHERE changed OR in_place
  ON CONFLICT (owner, library_name) DO UPDATE SET ${setExcluded([...LIBRARY_STORED, "changed_at", "run_id"])}
), happened AS (
  INSERT INTO simcat.events (${LIBRARY_EVENT}, fields, old_values, new_values)
  SELECT CASE WHEN is_new THEN now() ELSE ${nextVersionStart("(old)")} END, $run_id::int8,
    CASE WHEN is_new THEN 'added' ELSE 'changed' END, owner, library_name, new.last_modified_at,
    coalesce(new.file_size_bytes, 0) - coalesce((old).file_size_bytes, 0), 0, 0, fields, old_values, new_values
  FROM diff new LEFT JOIN simcat.library_sync y USING (owner, library_name)
  CROSS JOIN LATERAL ${differencesSql(LIBRARY_VERSIONED)} AS d
  WHERE (changed OR (old).file_size_bytes IS DISTINCT FROM new.file_size_bytes) AND NOT (is_new AND ${IS_INITIAL})
)
SELECT changed AS "isChanged" FROM diff ORDER BY ord`);

/** Returns the libraries whose own row is new or another version. */
async function mergeLibraries(
  connection: Connection,
  batch: readonly LibraryContent[],
  { parsers, runId }: SaveContext,
): Promise<ReadonlySet<LibraryContent>> {
  if (batch.length === 0) return new Set();
  const bound = MERGE_LIBRARIES({ ...toArrays(libraryColumns, batch, parsers), run_id: runId });
  const { rows } = await connection.query<{ isChanged: boolean }>(bound);
  return new Set(byPosition(batch, rows).flatMap(([library, { isChanged }]) => (isChanged ? [library] : [])));
}

/**
 * Records what was stored, after the scenarios. A partial store leaves the bookmark of the last whole one, its content is as old as the
 * older of both, and the next run reads the library again. A date more than a day in the future would hide real work, so it is not the
 * newest scenario's. The initial content of a library that this transaction stored first is one event.
 */
const UPDATE_SYNC = statement(`
WITH loaded AS (
  INSERT INTO simcat.events (${LIBRARY_EVENT})
  SELECT now(), $run_id::int8, 'loaded', owner, library_name, l.last_modified_at, coalesce(l.file_size_bytes, 0),
    i.scenario_count, i.result_count
  FROM unnest($owner::text[], $library_name::text[], $scenario_count::int8[], $result_count::int8[])
    AS i(owner, library_name, scenario_count, result_count)
  JOIN simcat.libraries l USING (owner, library_name) JOIN simcat.library_sync y USING (owner, library_name)
  WHERE i.scenario_count IS NOT NULL AND l.first_seen_at = now() AND ${IS_INITIAL}
)
UPDATE simcat.library_sync y SET
  bookmark = CASE WHEN i.reread_reason IS NULL THEN i.listed_text ELSE y.bookmark END,
  content_hash = CASE WHEN i.reread_reason IS NULL THEN i.content_hash END,
  bookmark_seen_at = to_timestamp(i.seen_ms / 1000), settles_at = to_timestamp(i.settles_ms / 1000),
  content_read_at = to_timestamp(i.read_ms / 1000), reread_reason = i.reread_reason,
  content_as_of = least(CASE WHEN i.reread_reason IS NOT NULL THEN y.content_as_of END, to_timestamp(i.as_of_ms / 1000)),
  shrunk_run_id = CASE i.reread_reason WHEN 'shrunk' THEN $run_id::int8 WHEN 'rejects' THEN y.shrunk_run_id END,
  suspect_reads = i.suspect_reads, failures = 0, last_error = NULL,
  last_success_at = CASE WHEN i.reread_reason IS NULL THEN now() ELSE y.last_success_at END,
  scenario_count = coalesce(i.scenario_count, y.scenario_count), result_count = coalesce(i.result_count, y.result_count),
  last_scenario_at = CASE WHEN i.scenario_count IS NULL THEN y.last_scenario_at ELSE newest.last_modified_at END,
  last_scenario_id = CASE WHEN i.scenario_count IS NULL THEN y.last_scenario_id ELSE newest.scenario_id END
FROM unnest($owner::text[], $library_name::text[], $listed_text::text[], $content_hash::text[], $seen_ms::float8[],
    $read_ms::float8[], $as_of_ms::float8[], $settles_ms::float8[], $reread_reason::text[], $suspect_reads::int8[],
    $scenario_count::int8[], $result_count::int8[])
  AS i(owner, library_name, listed_text, content_hash, seen_ms, read_ms, as_of_ms, settles_ms, reread_reason, suspect_reads,
    scenario_count, result_count)
LEFT JOIN LATERAL (
  SELECT s.last_modified_at, s.scenario_id FROM simcat.scenarios s
  WHERE i.scenario_count IS NOT NULL AND (s.owner, s.library_name) = (i.owner, i.library_name)
    AND s.removed_at IS NULL AND s.last_modified_at <= now() + interval '1 day'
  ORDER BY s.last_modified_at DESC, s.scenario_id DESC LIMIT 1
) AS newest ON true
WHERE (y.owner, y.library_name) = (i.owner, i.library_name)`);

/** The parameters of UPDATE_SYNC about these libraries and what became of them. */
function toSyncArrays(batch: readonly LibraryContent[], saved: readonly SavedLibrary[]) {
  return {
    ...keyArrays(batch.map(({ listed }) => listed.key)),
    listed_text: textArray(batch.map(({ listed }) => listed.lastModified)),
    content_hash: textArray(batch.map(({ contentHash }) => contentHash)),
    seen_ms: float8Array(batch.map(({ bookmarkSeenAt }) => bookmarkSeenAt)),
    read_ms: float8Array(batch.map(({ contentReadAt }) => contentReadAt)),
    as_of_ms: float8Array(batch.map(({ contentAsOf }) => contentAsOf)),
    settles_ms: float8Array(batch.map(({ settlesAt }) => settlesAt)),
    reread_reason: textArray(saved.map(({ rereadReason }) => rereadReason)),
    suspect_reads: int8Array(batch.map(({ suspectReads }) => suspectReads)),
    scenario_count: int8Array(saved.map(({ scenarioCount }) => scenarioCount)),
    result_count: int8Array(saved.map(({ resultCount }) => resultCount)),
  };
}
