import type { LibraryKey, ListedLibrary, Reject } from "../../model.ts";
import type { Connection } from "../connect.ts";
import type { RunInTransaction } from "../lease.ts";
import { statement } from "../statement.ts";
import { textArray } from "./binary-arrays.ts";
import { keyArrays } from "./columns.ts";
import { RESTORE_LIBRARIES } from "./library-statements.ts";
import { attributeError, type HalvesTools, type LockPatience, RefusedRows, writeInHalves } from "./refused-rows.ts";
import { saveListingRejects } from "./save-rejects.ts";

/** The changes of a listing, to be written before any content is read. */
export interface ListingWrite {
  /** Libraries listed for the first time, or under another text than the last time. */
  readonly changed: readonly ListedLibrary[];
  /** Libraries that are marked as removed and listed again. */
  readonly restored: readonly LibraryKey[];
  /** Libraries that are listed again after a guard held their removal. */
  readonly returned: readonly LibraryKey[];
  readonly rejects: readonly Reject[];
  /** Whether a reject of an earlier listing is resolved if this one lacks it. The key is null for a reject of no library. */
  readonly isOver: (key: LibraryKey | null) => boolean;
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
FROM unnest($owner::text[], $library_name::text[]) AS i(owner, library_name)
WHERE (y.owner, y.library_name) = (i.owner, i.library_name)`);

const END_HOLDS = statement(`
UPDATE simcat.library_sync y SET removal_held_at = NULL
FROM unnest($owner::text[], $library_name::text[]) AS i(owner, library_name)
WHERE (y.owner, y.library_name) = (i.owner, i.library_name)`);

const ROWS_AT_ONCE = 10_000;

async function saveParts(connection: Connection, runId: number, listing: ListingWrite): Promise<void> {
  const { changed, restored, returned, rejects, isOver, seenAt } = listing;
  const seen_at = seenAt / 1000;
  for (let index = 0; index < changed.length; index += ROWS_AT_ONCE) {
    const some = changed.slice(index, index + ROWS_AT_ONCE);
    const listed_text = textArray(some.map(({ lastModified }) => lastModified));
    await connection.query(UPSERT_LISTED({ ...keyArrays(some.map(({ key }) => key)), listed_text, seen_at }));
  }
  if (restored.length > 0) {
    const keys = keyArrays(restored);
    await connection.query(RESTORE_LIBRARIES({ ...keys, run_id: runId }));
    await connection.query(OWE_RESTORED({ ...keys, seen_at }));
  }
  if (returned.length > 0) await connection.query(END_HOLDS(keyArrays(returned)));
  await saveListingRejects(connection, runId, rejects, isOver);
}

/** Sends the statements without a row. */
async function saveNoListing(connection: Connection, runId: number): Promise<void> {
  const values = { ...keyArrays([]), listed_text: textArray([]), seen_at: 0, run_id: runId };
  for (const bind of [UPSERT_LISTED, RESTORE_LIBRARIES, OWE_RESTORED, END_HOLDS]) await connection.query(bind(values));
  await saveListingRejects(connection, runId, [], () => false);
}

/**
 * Saves a listing in one transaction. If the database refuses rows, it saves all others in several transactions and calls
 * `onRefused` with each library whose rows were refused, and with null if the listing's rejects were.
 */
export async function saveListing(
  write: RunInTransaction,
  runId: number,
  listing: ListingWrite,
  onRefused: (key: LibraryKey | null, error: unknown) => void,
): Promise<void> {
  const options = { operation: "recording the listing" };
  const save = (some: ListingWrite) => (patience: LockPatience) =>
    write({ ...options, ...patience }, (connection) => saveParts(connection, runId, some));
  const writeNothing = () => write(options, (connection) => saveNoListing(connection, runId));
  try {
    await attributeError(save(listing), writeNothing);
  } catch (error) {
    if (!(error instanceof RefusedRows)) throw error;
    const nothing: ListingWrite = {
      ...listing,
      changed: [],
      restored: [],
      returned: [],
      rejects: [],
      isOver: () => false,
    };
    const inHalves = <T>(items: readonly T[], keyOf: (item: T) => LibraryKey | null, save: HalvesTools<T>["write"]) =>
      writeInHalves(items, {
        write: save,
        writeNothing,
        onRefused: async (item, cause) => onRefused(keyOf(item), cause),
      });
    await inHalves(
      listing.changed,
      ({ key }) => key,
      (changed, patience) => save({ ...nothing, changed })(patience),
    );
    await inHalves(
      listing.restored,
      (key) => key,
      (restored, patience) => save({ ...nothing, restored })(patience),
    );
    await inHalves(
      listing.returned,
      (key) => key,
      (returned, patience) => save({ ...nothing, returned })(patience),
    );
    await inHalves(
      [listing],
      () => null,
      ([{ rejects, isOver } = nothing], patience) => save({ ...nothing, rejects, isOver })(patience),
    );
  }
}
