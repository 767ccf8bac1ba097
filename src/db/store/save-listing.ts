import { DatabaseError } from "../../errors.ts";
import { formatKey, keyText } from "../../key.ts";
import type { FailedLibrary, LibraryKey, ListedLibrary, Reject } from "../../model.ts";
import type { Connection } from "../connect.ts";
import { HISTORY_BEGAN_AT } from "../history-began-at.ts";
import type { HeldLease } from "../lease.ts";
import { libraries } from "../schema.ts";
import { keyArrays, ofKeys, statement, textArray } from "../statement.ts";
import type { TransactionOptions } from "../transaction.ts";
import { allNamesOf, nextVersionStart, supersede } from "./columns.ts";
import { LIBRARY_EVENT } from "./event-sql.ts";
import { refusedByDatabase, saveInHalves } from "./refused-rows.ts";
import { type RejectTest, saveListingRejects } from "./save-rejects.ts";

/** The removals of libraries that a listing lacks. */
export interface Removals {
  /** Libraries to be marked as removed. The state of those that were never stored is deleted. */
  readonly marked: readonly LibraryKey[];
  /** Libraries whose removal is held, stored or not, some of them before this run, and since when (database ms, null for now). */
  readonly held: readonly LibraryKey[];
  readonly heldSince: number | null;
}

/** The changes of a listing, to be written before any content is read. */
export interface ListingChanges {
  /** Libraries listed for the first time, or under another text than the last time. */
  readonly newDates: Iterable<ListedLibrary>;
  /** Libraries that are marked as removed and listed again. */
  readonly restored: readonly LibraryKey[];
  /** Libraries that are listed again after a guard held their removal. */
  readonly holdsEnded: readonly LibraryKey[];
  readonly rejects: readonly Reject[];
  /** Null if no reject of an earlier listing is open. */
  readonly isOver: RejectTest | null;
  /** When the listing's last byte arrived, by the database's clock in milliseconds. */
  readonly seenAt: number;
}

/** Rows of one transaction. */
const ROWS_AT_ONCE = 10_000;

/** Writes what a listing says. If the database refuses rows of a library, only that library fails. `mask` removes secrets. */
export function createListingSaver(lease: HeldLease, runId: number, mask: (message: string) => string) {
  const failed = new Map<string, FailedLibrary>();

  /** @returns the results of the transactions. `refusal` begins the message of a library whose rows are refused */
  async function save<T extends LibraryKey | ListedLibrary, Result>(
    items: Iterable<T>,
    options: TransactionOptions,
    refusal: string,
    work: (connection: Connection, some: readonly T[]) => Promise<Result>,
  ): Promise<Result[]> {
    const results: Result[] = [];
    for (const some of inBatches(items, ROWS_AT_ONCE)) {
      const { written, refused } = await saveInHalves(some, lease, options, work);
      results.push(...written.map(({ result }) => result));
      for (const { item, error } of refused) {
        const named: LibraryKey | ListedLibrary = item;
        const key = "key" in named ? named.key : named;
        failed.set(keyText(key), refusedByDatabase(refusal, error).toFailedLibrary(key, mask));
      }
    }
    return results;
  }
  return {
    /** The libraries whose rows were refused. They must not be read: the next run would not know that their bookmark is unsettled. */
    failed: () => [...failed.values()],

    /**
     * Marks libraries as removed, and saves which removals are held.
     * @returns how many were marked
     * @throws DatabaseError if no hold could be saved: the next run would judge the removals among the libraries that this one adds
     */
    async markRemovals({ marked, held, heldSince }: Removals): Promise<number> {
      const holding = { operation: "recording that removals are held" };
      const holds = await save(held, holding, "recording that its removal is held", (connection, keys) =>
        connection.query(SAVE_HOLDS({ ...keyArrays(keys), held_since: heldSince })),
      );
      const [refused] = failed.values();
      if (refused !== undefined && holds.length === 0 && heldSince === null)
        throw new DatabaseError(`${formatKey(refused.key)}: ${refused.message}; so nothing was stored`);
      const marking = { operation: "marking removed libraries" };
      const counts = await save(marked, marking, "marking the library as removed", async (connection, libraries) => {
        const keys = keyArrays(libraries);
        const { rowCount } = await connection.query(REMOVE_LIBRARIES({ ...keys, run_id: runId }));
        await connection.query(FORGET(keys));
        await connection.query(RESOLVE_REJECTS(keys));
        return rowCount ?? 0;
      });
      return counts.reduce((sum, count) => sum + count, 0);
    },

    /** Saves a listing. @returns why the database refused its rejects; null if it did not */
    async saveListing(changes: ListingChanges): Promise<string | null> {
      const { rejects, isOver, seenAt: seen_at } = changes;
      const options = { operation: "recording the listing" };
      await save(changes.newDates, options, options.operation, (connection, some) => {
        const listed_text = textArray(some.map(({ lastModified }) => lastModified));
        return connection.query(UPSERT_LISTED({ ...keyArrays(some.map(({ key }) => key)), listed_text, seen_at }));
      });
      await save(changes.restored, options, options.operation, (connection, keys) =>
        connection.query(RESTORE_LIBRARIES({ ...keyArrays(keys), run_id: runId, seen_at })),
      );
      await save(changes.holdsEnded, options, options.operation, (connection, keys) =>
        connection.query(END_HOLDS(keyArrays(keys))),
      );
      // Rejects are written together, because each of them may resolve others.
      const together = rejects.length > 0 || isOver !== null ? [rejects] : [];
      const { refused } = await saveInHalves(together, lease, options, (connection) =>
        saveListingRejects(connection, runId, rejects, isOver),
      );
      const [refusal] = refused.map(({ error }) => mask(refusedByDatabase(options.operation, error).message));
      return refusal ?? null;
    },
  };
}

function* inBatches<T>(items: Iterable<T>, size: number): Generator<readonly T[]> {
  let batch: T[] = [];
  for (const item of items) {
    if (batch.push(item) < size) continue;
    yield batch;
    batch = [];
  }
  yield batch;
}

/**
 * A new text unsettles the bookmark, even if this run dies and the next listing shows the old text again. What is listed first after the
 * history began is no initial content, even if the clock is behind now, or was ahead then.
 */
const UPSERT_LISTED = statement(`
INSERT INTO simcat.library_sync AS y (owner, library_name, listed_text, bookmark_seen_at, first_listed_at)
SELECT owner, library_name, listed_text, to_timestamp($seen_at::float8 / 1000), greatest(now(), ${HISTORY_BEGAN_AT} + interval '1 microsecond')
FROM unnest($owner::text[], $library_name::text[], $listed_text::text[]) AS i(owner, library_name, listed_text)
ON CONFLICT (owner, library_name) DO UPDATE
  SET listed_text = excluded.listed_text, bookmark_seen_at = excluded.bookmark_seen_at,
    settles_at = NULL, suspect_reads = 0`);

/** Supersedes the rows of libraries, and sets columns of `library_sync`. Live scenarios go or return with them, untouched. */
const moveLibraries = (kind: "removed" | "returned", state: string) => {
  const [condition, removedAt, sign] =
    kind === "removed" ? ["IS NULL", nextVersionStart("l"), "-"] : ["IS NOT NULL", "NULL", ""];
  return statement(`
WITH moved AS (
  SELECT l.* FROM unnest($owner::text[], $library_name::text[]) AS g(owner, library_name)
  JOIN simcat.libraries l USING (owner, library_name) WHERE l.removed_at ${condition}
), superseded AS (${supersede("library", allNamesOf(libraries), "m", "moved m")}
), happened AS (
  INSERT INTO simcat.events (${LIBRARY_EVENT})
  SELECT ${nextVersionStart("m")}, $run_id::int8, '${kind}', m.owner, m.library_name, m.last_modified_at,
    ${sign}coalesce(m.file_size_bytes, 0), ${sign}coalesce(y.scenario_count, 0), ${sign}coalesce(y.result_count, 0)
  FROM moved m LEFT JOIN simcat.library_sync y USING (owner, library_name)
), saved AS (
  UPDATE simcat.library_sync y SET ${state} FROM ${ofKeys("y")}
)
UPDATE simcat.libraries l SET removed_at = ${removedAt}, changed_at = ${nextVersionStart("l")}, run_id = $run_id::int8
FROM moved m WHERE (l.owner, l.library_name) = (m.owner, m.library_name)`);
};

/** A library that is no longer listed is neither read nor held. */
export const REMOVE_LIBRARIES = moveLibraries(
  "removed",
  "reread_reason = NULL, failures = 0, last_error = NULL, removal_held_at = NULL",
);
export const RESTORE_LIBRARIES = moveLibraries(
  "returned",
  "reread_reason = 'restored', settles_at = NULL, bookmark_seen_at = to_timestamp($seen_at::float8 / 1000)",
);

/** Deletes the state of libraries that were never stored. */
const FORGET = statement(`
DELETE FROM simcat.library_sync y USING ${ofKeys("y")}
  AND NOT EXISTS (SELECT FROM simcat.libraries l WHERE (l.owner, l.library_name) = (y.owner, y.library_name))`);

const RESOLVE_REJECTS = statement(`
UPDATE simcat.rejects r SET resolved_at = now() FROM ${ofKeys("r")} AND r.resolved_at IS NULL`);

const SAVE_HOLDS = statement(`
UPDATE simcat.library_sync y SET removal_held_at = coalesce(to_timestamp($held_since::float8 / 1000), now())
FROM ${ofKeys("y")} AND y.removal_held_at IS NULL`);

const END_HOLDS = statement(`UPDATE simcat.library_sync y SET removal_held_at = NULL FROM ${ofKeys("y")}`);
