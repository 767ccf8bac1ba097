import type { LibraryKey, ListedLibrary, Reject } from "../../model.ts";
import type { Connection } from "../connect.ts";
import type { InTransaction } from "../lease.ts";
import { statement } from "../statement.ts";
import { keyArrays, ofKeys, textArray } from "./columns.ts";
import { RESTORE_LIBRARIES } from "./library-statements.ts";
import { saveInHalves } from "./save-in-halves.ts";
import { saveListingRejects } from "./save-rejects.ts";

/** The changes of a listing, to be written before any content is read. */
export interface ListingWrite {
  /** Libraries listed for the first time, or under another text than the last time. */
  readonly changed: Iterable<ListedLibrary>;
  /** Libraries that are marked as removed and listed again. */
  readonly restored: readonly LibraryKey[];
  /** Libraries that are listed again after a guard held their removal. */
  readonly returned: readonly LibraryKey[];
  readonly rejects: readonly Reject[];
  /**
   * Whether an open reject of an earlier listing is resolved if this one lacks it. The key is null for a reject of no library.
   * Null if no such reject is open.
   */
  readonly isOver: ((key: LibraryKey | null) => boolean) | null;
  /** When the listing's last byte arrived, by the database's clock in milliseconds. */
  readonly seenAt: number;
}

/** A new text unsettles the bookmark, even if this run dies and the next listing shows the old text again. */
const UPSERT_LISTED = statement(`
INSERT INTO simcat.library_sync AS y (owner, library_name, listed_text, bookmark_seen_at)
SELECT owner, library_name, listed_text, to_timestamp($seen_at::float8)
FROM unnest($owner::text[], $library_name::text[], $listed_text::text[]) AS i(owner, library_name, listed_text)
ON CONFLICT (owner, library_name) DO UPDATE
  SET listed_text = excluded.listed_text, bookmark_seen_at = excluded.bookmark_seen_at,
    settles_at = NULL, suspect_reads = 0`);

const OWE_RESTORED = statement(`
UPDATE simcat.library_sync y SET reread_reason = 'restored', settles_at = NULL, bookmark_seen_at = to_timestamp($seen_at::float8)
FROM ${ofKeys("y")}`);

const END_HOLDS = statement(`UPDATE simcat.library_sync y SET removal_held_at = NULL FROM ${ofKeys("y")}`);

/** Rows of one transaction. */
const ROWS_AT_ONCE = 10_000;

/**
 * Saves a listing. If the database refuses rows, it saves all others and calls `onRefused` with each library whose rows were
 * refused, and with null if the listing's rejects were.
 */
export async function saveListed(
  write: InTransaction,
  runId: number,
  { changed, restored, returned, rejects, isOver, seenAt }: ListingWrite,
  onRefused: (key: LibraryKey | null, error: unknown) => void,
): Promise<void> {
  const seen_at = seenAt / 1000;
  const save = async <T>(
    items: Iterable<T>,
    keyOf: (item: T) => LibraryKey | null,
    work: (connection: Connection, some: readonly T[]) => Promise<unknown>,
  ) => {
    for (const some of inBatches(items, ROWS_AT_ONCE)) {
      await saveInHalves(some, {
        write,
        options: { operation: "recording the listing" },
        work,
        onRefused: async (item, error) => onRefused(keyOf(item), error),
      });
    }
  };
  const itself = (key: LibraryKey) => key;
  await save(
    changed,
    ({ key }) => key,
    (connection, some) => {
      const listed_text = textArray(some.map(({ lastModified }) => lastModified));
      return connection.query(UPSERT_LISTED({ ...keyArrays(some.map(({ key }) => key)), listed_text, seen_at }));
    },
  );
  await save(restored, itself, async (connection, some) => {
    await connection.query(RESTORE_LIBRARIES({ ...keyArrays(some), run_id: runId }));
    await connection.query(OWE_RESTORED({ ...keyArrays(some), seen_at }));
  });
  await save(returned, itself, async (connection, some) => {
    await connection.query(END_HOLDS(keyArrays(some)));
  });
  // Rejects are written together, because each of them may resolve others.
  const together = rejects.length > 0 || isOver !== null ? [rejects] : [];
  await save(
    together,
    () => null,
    (connection) => saveListingRejects(connection, runId, rejects, isOver),
  );
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
