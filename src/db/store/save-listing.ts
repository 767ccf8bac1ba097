import type { LibraryKey, ListedLibrary, Reject } from "../../model.ts";
import type { Connection } from "../connect.ts";
import type { RunInTransaction } from "../fenced-transaction.ts";
import { RESTORE_LIBRARIES } from "./library-statements.ts";
import { saveListingRejects } from "./save-rejects.ts";
import { attributeError, type HalvesTools, type LockPatience, RefusedRows, writeInHalves } from "./write-in-halves.ts";

/** What a listing says before any content is read. */
export interface ListingWrite {
  /** Libraries listed for the first time, or under another text than the last time. */
  readonly changed: readonly ListedLibrary[];
  /** Libraries that are marked as removed and listed again. */
  readonly restored: readonly LibraryKey[];
  /** Libraries that are listed again after a guard held their removal. */
  readonly returned: readonly LibraryKey[];
  readonly rejects: readonly Reject[];
  /** Whether a reject of an earlier listing that this one lacks is over; null stands for one of no library. */
  readonly isOver: (key: LibraryKey | null) => boolean;
  /** When the listing's last byte arrived, by the database's clock in milliseconds. */
  readonly seenAt: number;
}

/**
 * Written before any content is read: a text that was seen once unsettles the bookmark, even if this run dies and the
 * next listing shows the old text again.
 */
const UPSERT_LISTED = `
INSERT INTO simcat.library_sync AS y (owner, library_name, listed_text, bookmark_seen_at)
SELECT owner, library_name, listed_text, to_timestamp($4::float8)
FROM unnest($1::text[], $2::text[], $3::text[]) AS i(owner, library_name, listed_text)
ON CONFLICT (owner, library_name) DO UPDATE
  SET listed_text = excluded.listed_text, bookmark_seen_at = excluded.bookmark_seen_at,
    settles_at = NULL, suspect_reads = 0`;

const OWE_RESTORED = `
UPDATE simcat.library_sync y SET reread_reason = 'restored', settles_at = NULL, bookmark_seen_at = to_timestamp($3::float8)
FROM unnest($1::text[], $2::text[]) AS i(owner, library_name)
WHERE (y.owner, y.library_name) = (i.owner, i.library_name)`;

const END_HOLDS = `
UPDATE simcat.library_sync y SET removal_held_at = NULL
FROM unnest($1::text[], $2::text[]) AS i(owner, library_name)
WHERE (y.owner, y.library_name) = (i.owner, i.library_name)`;

const AT_ONCE = 10_000;

async function saveParts(connection: Connection, runId: number, listing: ListingWrite): Promise<void> {
  const { changed, restored, returned, rejects, isOver, seenAt } = listing;
  for (let at = 0; at < changed.length; at += AT_ONCE) {
    const some = changed.slice(at, at + AT_ONCE);
    await connection.query(UPSERT_LISTED, [
      some.map((one) => one.key.owner),
      some.map((one) => one.key.name),
      some.map((one) => one.lastModified),
      seenAt / 1000,
    ]);
  }
  if (restored.length > 0) {
    const keys = [restored.map((key) => key.owner), restored.map((key) => key.name)];
    await connection.query(RESTORE_LIBRARIES, [...keys, runId]);
    await connection.query(OWE_RESTORED, [...keys, seenAt / 1000]);
  }
  if (returned.length > 0) {
    await connection.query(END_HOLDS, [returned.map((key) => key.owner), returned.map((key) => key.name)]);
  }
  await saveListingRejects(connection, runId, rejects, isOver);
}

/** The statements without a row. */
async function saveNoListing(connection: Connection, runId: number): Promise<void> {
  await connection.query(UPSERT_LISTED, [[], [], [], 0]);
  await connection.query(RESTORE_LIBRARIES, [[], [], runId]);
  await connection.query(OWE_RESTORED, [[], [], 0]);
  await connection.query(END_HOLDS, [[], []]);
  await saveListingRejects(connection, runId, [], () => false);
}

/**
 * Saves a listing in one transaction. When the database refuses rows of it, saves all others, in several. `onRefused` is
 * called with each library whose rows it refuses, and with null for the listing's rejects.
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
        onRefused: async (one, cause) => onRefused(keyOf(one), cause),
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
