import type { LibraryContent, SavedLibrary } from "../../model.ts";
import type { Connection } from "../connect.ts";
import { float8Array, int4Array, int8Array, jsonbArray, textArray, timestamptzArray } from "./binary-arrays.ts";
import { isPartial, type SaveContext, scenarioCount } from "./library-content.ts";
import { MERGE_LIBRARIES } from "./library-statements.ts";
import { saveContentRejects } from "./save-rejects.ts";
import { type ScenarioCounts, saveNoScenarios, saveScenarios } from "./save-scenarios.ts";

/**
 * Stores a batch of libraries inside the caller's transaction: rows, history, what vanished, rejects, bookmarks.
 * Answers by position.
 */
export async function saveLibraries(
  connection: Connection,
  batch: readonly LibraryContent[],
  context: SaveContext,
): Promise<SavedLibrary[]> {
  const differing = batch.filter((one) => one.kind !== "same");
  const changed = differing.length > 0 ? await mergeLibraries(connection, differing, context) : new Set();
  const counts = await saveScenarios(connection, differing, context);
  const touched = batch.filter((one) => one.rejects.length > 0 || one.hadRejects);
  if (touched.length > 0) {
    const keys = touched.map((one) => one.listed.key);
    await saveContentRejects(
      connection,
      context.runId,
      keys,
      touched.flatMap((one) => one.rejects),
    );
  }
  const saved = batch.map((one): SavedLibrary => {
    const { inserted, updated, removed, unchanged, withheld } = counts.get(one) ?? sameScenarios(one);
    return {
      key: one.listed.key,
      ...{ inserted, updated, removed, unchanged, withheld },
      changed: changed.has(one) || inserted + updated + removed > 0,
      rereadReason: isPartial(one) ? "rejects" : withheld ? "shrunk" : null,
    };
  });
  await updateSync(connection, batch, saved, counts, context.runId);
  return saved;
}

/** Sends all statements that store a library, without a row: what the database refuses then, it refuses for every library. */
export async function saveNothing(connection: Connection, context: SaveContext): Promise<void> {
  await mergeLibraries(connection, [], context);
  await saveNoScenarios(connection, context);
  await saveContentRejects(connection, context.runId, [], []);
  await updateSync(connection, [], [], new Map(), context.runId);
}

const sameScenarios = (one: LibraryContent) => {
  return { inserted: 0, updated: 0, removed: 0, unchanged: scenarioCount(one), withheld: null };
};

const keyColumns = (batch: readonly LibraryContent[]) =>
  [textArray(batch.map((one) => one.listed.key.owner)), textArray(batch.map((one) => one.listed.key.name))] as const;

/** @returns the libraries whose own row is new or another version */
async function mergeLibraries(
  connection: Connection,
  batch: readonly LibraryContent[],
  { runId, microseconds, bytes }: SaveContext,
): Promise<Set<LibraryContent>> {
  const { rows } = await connection.query<{ changed: boolean }>(MERGE_LIBRARIES, [
    ...keyColumns(batch),
    textArray(batch.map((one) => one.metadata?.libraryOwner)),
    textArray(batch.map((one) => one.listed.lastModified)),
    timestamptzArray(batch.map((one) => microseconds(one.listed.lastModified))),
    textArray(batch.map((one) => one.metadata?.fileSize)),
    int8Array(batch.map((one) => bytes(one.metadata?.fileSize ?? null))),
    textArray(batch.map((one) => one.metadata?.packageName)),
    textArray(batch.map((one) => one.metadata?.packageVersion)),
    textArray(batch.map((one) => one.metadata?.description)),
    jsonbArray(batch.map((one) => one.listed.source)),
    jsonbArray(batch.map((one) => one.metadata?.source)),
    runId,
  ]);
  return new Set(batch.filter((_, at) => rows[at]?.changed));
}

/** A partial store leaves the bookmark and the hash of the last whole one behind, and owes a read. */
const UPDATE_SYNC = `
UPDATE simcat.library_sync y SET
  bookmark = CASE WHEN i.reread_reason IS NULL THEN i.listed_text ELSE y.bookmark END,
  content_hash = CASE WHEN i.reread_reason IS NULL THEN i.content_hash END,
  bookmark_seen_at = to_timestamp(i.seen_s), settles_at = to_timestamp(i.settles_s), content_read_at = to_timestamp(i.read_s), reread_reason = i.reread_reason,
  shrunk_run_id = CASE i.reread_reason WHEN 'shrunk' THEN $1::int8 WHEN 'rejects' THEN y.shrunk_run_id END,
  suspect_reads = i.suspect_reads, failures = 0, last_error = NULL,
  last_success_at = CASE WHEN i.reread_reason IS NULL THEN now() ELSE y.last_success_at END,
  scenario_count = coalesce(i.scenario_count, y.scenario_count), result_count = coalesce(i.result_count, y.result_count)
FROM unnest($2::text[], $3::text[], $4::text[], $5::text[], $6::float8[], $7::float8[], $8::text[], $9::int4[],
  $10::float8[], $11::int8[], $12::int8[])
  AS i(owner, library_name, listed_text, content_hash, seen_s, read_s, reread_reason, suspect_reads, settles_s, scenario_count, result_count)
WHERE (y.owner, y.library_name) = (i.owner, i.library_name)`;

async function updateSync(
  connection: Connection,
  batch: readonly LibraryContent[],
  saved: readonly SavedLibrary[],
  counts: ReadonlyMap<LibraryContent, ScenarioCounts>,
  runId: number,
): Promise<void> {
  await connection.query(UPDATE_SYNC, [
    runId,
    ...keyColumns(batch),
    textArray(batch.map((one) => one.listed.lastModified)),
    textArray(batch.map((one) => one.contentHash)),
    float8Array(batch.map((one) => one.bookmarkSeenAt / 1000)),
    float8Array(batch.map((one) => one.contentReadAt / 1000)),
    textArray(saved.map((one) => one.rereadReason)),
    int4Array(batch.map((one) => one.suspectReads)),
    float8Array(batch.map((one) => (one.settlesAt === null ? null : one.settlesAt / 1000))),
    int8Array(batch.map((one) => counts.get(one)?.scenarioCount)),
    int8Array(batch.map((one) => counts.get(one)?.resultCount)),
  ]);
}
