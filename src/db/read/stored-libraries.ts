import type { LibraryKey, StoredLibrary } from "../../model.ts";
import { formatSlice, isInSliceSql, type Slice } from "../../slice.ts";
import type { Connection } from "../connect.ts";
import { type ReadSource, STORED_ROWS } from "./read-source.ts";
import { streamRows } from "./stream-rows.ts";

/**
 * A library that was ever stored or listed, with all that a plan needs. A column costs more here than parsing a listed
 * entry does, so each library is one text: a compact row if its state is the usual one, otherwise a JSON object.
 */
type Row = { readonly line: string };

/** Begins a compact row and separates its fields. A library whose owner or name contains it gets an object. */
const SEPARATOR = "\x1f";
const SQL_SEPARATOR = "E'\\x1f'";

/** Dates are the 16 hexadecimal digits of their microseconds since 2000, which are cheaper than numbers. */
const EPOCH_2000_MS = Date.UTC(2000, 0, 1);
const DATE_DIGITS = 16;

const COMPACT_ROW = `${SQL_SEPARATOR}
  || encode(timestamptz_send(y.bookmark_seen_at) || timestamptz_send(y.content_read_at), 'hex') || y.content_hash
  || ${SQL_SEPARATOR} || l.owner || ${SQL_SEPARATOR} || l.library_name || ${SQL_SEPARATOR} || y.listed_text`;

function decodeCompactRow(line: string): StoredLibrary {
  const readAtStart = 1 + DATE_DIGITS;
  const hashStart = readAtStart + DATE_DIGITS;
  const hashEnd = line.indexOf(SEPARATOR, 1);
  const ownerEnd = line.indexOf(SEPARATOR, hashEnd + 1);
  const nameEnd = line.indexOf(SEPARATOR, ownerEnd + 1);
  const listedText = line.slice(nameEnd + 1);
  return {
    key: { owner: line.slice(hashEnd + 1, ownerEnd), name: line.slice(ownerEnd + 1, nameEnd) },
    state: "live",
    sync: {
      listedText,
      bookmark: listedText,
      contentHash: line.slice(hashStart, hashEnd),
      bookmarkSeenAt: toMs(line.slice(1, readAtStart)),
      contentReadAt: toMs(line.slice(readAtStart, hashStart)),
      rereadReason: null,
      hasAbsences: false,
      failures: 0,
      lastFailedAt: null,
      suspectReads: 0,
      removalHeldAt: null,
    },
  };
}

const toMs = (microseconds: string) => Number.parseInt(microseconds, 16) / 1000 + EPOCH_2000_MS;

/** A NULL in any field makes the compact row NULL, so that library gets an object too. */
const selectStored = (source: ReadSource, slice?: Slice) => `
  SELECT coalesce(
    CASE WHEN l.removed_at IS NULL AND y.bookmark = y.listed_text AND y.reread_reason IS NULL AND y.shrunk_run_id IS NULL
      AND y.failures = 0 AND y.suspect_reads = 0 AND y.removal_held_at IS NULL
      AND y.bookmark_seen_at >= '2000-01-01Z' AND y.content_read_at >= '2000-01-01Z'
      AND strpos(l.owner, ${SQL_SEPARATOR}) = 0 AND strpos(l.library_name, ${SQL_SEPARATOR}) = 0
      THEN ${COMPACT_ROW} END,
    json_build_object('key', json_build_object('owner', coalesce(l.owner, y.owner), 'name', coalesce(l.library_name, y.library_name)),
      'state', CASE WHEN l.owner IS NULL THEN 'listed' WHEN l.removed_at IS NULL THEN 'live' ELSE 'removed' END,
      'removedAt', date_part('epoch', l.removed_at) * 1000,
      'sync', CASE WHEN y.owner IS NOT NULL THEN json_build_object(
        'listedText', y.listed_text, 'bookmark', y.bookmark, 'contentHash', y.content_hash,
        'bookmarkSeenAt', date_part('epoch', y.bookmark_seen_at) * 1000,
        'contentReadAt', date_part('epoch', y.content_read_at) * 1000,
        'rereadReason', y.reread_reason, 'hasAbsences', y.shrunk_run_id IS NOT NULL, 'failures', y.failures, 'suspectReads', y.suspect_reads,
        'lastFailedAt', CASE WHEN y.failures > 0 THEN date_part('epoch', y.last_failed_at) * 1000 END,
        'removalHeldAt', date_part('epoch', y.removal_held_at) * 1000)
      END)::text) AS line
  FROM ${rowsInSlice(STORED_ROWS[source].libraries, slice)} l
  FULL JOIN ${rowsInSlice(STORED_ROWS[source].library_sync, slice)} y USING (owner, library_name)`;

const rowsInSlice = (relation: string, slice?: Slice) =>
  slice ? `(SELECT * FROM ${relation} r WHERE ${isInSliceSql(`'${formatSlice(slice)}'`)})` : relation;

/** Passes each stored library, and its text for `parseStored`; a million are never in memory at once. In the caller's transaction. */
export async function streamStoredLibraries(
  connection: Connection,
  onLibrary: (library: StoredLibrary, text: string) => void,
  source: ReadSource = "tables",
  slice?: Slice,
): Promise<void> {
  await streamRows<Row>(connection, selectStored(source, slice), ({ line }) => onLibrary(parseStored(line), line));
}

export async function readStoredLibrary(connection: Connection, key: LibraryKey, source: ReadSource) {
  const { rows } = await connection.query<Row>(`${selectStored(source)} WHERE owner = $1 AND library_name = $2`, [
    key.owner,
    key.name,
  ]);
  return rows[0] ? parseStored(rows[0].line) : null;
}

export function parseStored(line: string): StoredLibrary {
  if (line.startsWith(SEPARATOR)) return decodeCompactRow(line);
  const { removedAt, ...library } = JSON.parse(line);
  return removedAt === null ? library : { ...library, removedAt };
}
