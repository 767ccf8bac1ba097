import type { LibraryContent, SavedLibrary } from "../../model.ts";
import type { Connection } from "../connect.ts";
import { statement } from "../statement.ts";
import {
  byPosition,
  float8Array,
  int4Array,
  int8Array,
  keyArrays,
  libraryColumns,
  textArray,
  toArrays,
} from "./columns.ts";
import { MERGE_LIBRARIES } from "./library-statements.ts";
import { saveContentRejects } from "./save-rejects.ts";
import { type SaveContext, type ScenarioCounts, saveScenarios } from "./save-scenarios.ts";

/**
 * Stores a batch of libraries inside the caller's transaction: rows, history, removals of scenarios, rejects, bookmarks.
 * Answers by position.
 */
export async function saveLibraries(
  connection: Connection,
  batch: readonly LibraryContent[],
  context: SaveContext,
): Promise<SavedLibrary[]> {
  const differing = batch.filter((library) => library.kind !== "same");
  const changed = differing.length > 0 ? await mergeLibraries(connection, differing, context) : new Set();
  const counts = await saveScenarios(connection, differing, context);
  const withRejects = batch.filter(({ rejects, hadRejects }) => rejects.length > 0 || hadRejects);
  if (withRejects.length > 0) {
    const keys = withRejects.map(({ listed }) => listed.key);
    const rejects = withRejects.flatMap((library) => library.rejects);
    await saveContentRejects(connection, context.runId, keys, rejects);
  }
  const saved = batch.map((library): SavedLibrary => {
    const { inserted, updated, removed, unchanged, withheld } = counts.get(library) ?? unchangedScenarios(library);
    return {
      key: library.listed.key,
      ...{ inserted, updated, removed, unchanged, withheld },
      changed: changed.has(library) || inserted + updated + removed > 0,
      rereadReason: library.isPartial ? "rejects" : withheld ? "shrunk" : null,
    };
  });
  await updateSync(connection, batch, saved, counts, context.runId);
  return saved;
}

function unchangedScenarios({ scenarios }: LibraryContent) {
  return { inserted: 0, updated: 0, removed: 0, unchanged: scenarios.count, withheld: null };
}

/** @returns the libraries whose own row is new or another version */
async function mergeLibraries(
  connection: Connection,
  batch: readonly LibraryContent[],
  context: SaveContext,
): Promise<Set<LibraryContent>> {
  const arrays = toArrays(libraryColumns, batch, context.parsers);
  const { rows } = await connection.query<{ changed: boolean }>(MERGE_LIBRARIES({ ...arrays, run_id: context.runId }));
  return new Set(byPosition(batch, rows).flatMap(([library, { changed }]) => (changed ? [library] : [])));
}

/**
 * A partial store keeps the bookmark of the last whole one, and the next run reads the library again. The newest scenario is
 * read after the scenarios are written. A date more than a day in the future would hide real work, so it does not count.
 */
const UPDATE_SYNC = statement(`
UPDATE simcat.library_sync y SET
  bookmark = CASE WHEN i.reread_reason IS NULL THEN i.listed_text ELSE y.bookmark END,
  content_hash = CASE WHEN i.reread_reason IS NULL THEN i.content_hash END,
  bookmark_seen_at = to_timestamp(i.seen_s), settles_at = to_timestamp(i.settles_s),
  content_read_at = to_timestamp(i.read_s), reread_reason = i.reread_reason,
  shrunk_run_id = CASE i.reread_reason WHEN 'shrunk' THEN $run_id::int8 WHEN 'rejects' THEN y.shrunk_run_id END,
  suspect_reads = i.suspect_reads, failures = 0, last_error = NULL,
  last_success_at = CASE WHEN i.reread_reason IS NULL THEN now() ELSE y.last_success_at END,
  scenario_count = coalesce(i.scenario_count, y.scenario_count), result_count = coalesce(i.result_count, y.result_count),
  last_scenario_at = CASE WHEN i.scenario_count IS NULL THEN y.last_scenario_at ELSE newest.last_modified_at END,
  last_scenario_id = CASE WHEN i.scenario_count IS NULL THEN y.last_scenario_id ELSE newest.scenario_id END
FROM unnest($owner::text[], $library_name::text[], $listed_text::text[], $content_hash::text[], $seen_s::float8[],
    $read_s::float8[], $settles_s::float8[], $reread_reason::text[], $suspect_reads::int4[], $scenario_count::int8[],
    $result_count::int8[])
  AS i(owner, library_name, listed_text, content_hash, seen_s, read_s, settles_s, reread_reason, suspect_reads,
    scenario_count, result_count)
LEFT JOIN LATERAL (
  SELECT s.last_modified_at, s.scenario_id FROM simcat.scenarios s
  WHERE i.scenario_count IS NOT NULL AND (s.owner, s.library_name) = (i.owner, i.library_name)
    AND s.removed_at IS NULL AND s.last_modified_at <= now() + interval '1 day'
  ORDER BY s.last_modified_at DESC, s.scenario_id DESC LIMIT 1
) AS newest ON true
WHERE (y.owner, y.library_name) = (i.owner, i.library_name)`);

/** `counts` lacks the libraries whose content is the same as stored: their counts and newest scenario stay. */
async function updateSync(
  connection: Connection,
  batch: readonly LibraryContent[],
  saved: readonly SavedLibrary[],
  counts: ReadonlyMap<LibraryContent, ScenarioCounts>,
  runId: number,
): Promise<void> {
  await connection.query(
    UPDATE_SYNC({
      run_id: runId,
      ...keyArrays(batch.map(({ listed }) => listed.key)),
      listed_text: textArray(batch.map(({ listed }) => listed.lastModified)),
      content_hash: textArray(batch.map(({ contentHash }) => contentHash)),
      seen_s: float8Array(batch.map(({ bookmarkSeenAt }) => bookmarkSeenAt / 1000)),
      read_s: float8Array(batch.map(({ contentReadAt }) => contentReadAt / 1000)),
      settles_s: float8Array(batch.map(({ settlesAt }) => (settlesAt === null ? null : settlesAt / 1000))),
      reread_reason: textArray(saved.map(({ rereadReason }) => rereadReason)),
      suspect_reads: int4Array(batch.map(({ suspectReads }) => suspectReads)),
      scenario_count: int8Array(batch.map((library) => counts.get(library)?.scenarioCount)),
      result_count: int8Array(batch.map((library) => counts.get(library)?.resultCount)),
    }),
  );
}
