import { keyText } from "../../key.ts";
import type { LibraryKey, StoredLibrary, SyncState } from "../../model.ts";
import type { Connection } from "../connect.ts";
import { eachRow } from "./each-row.ts";

/** Begins a line of parts, and stands between them. A library whose owner or name holds it comes as JSON. */
const MARK = "\x1f";

/** What is stored of a library of which anything is not as usual. */
interface Unusual {
  readonly owner: string;
  readonly name: string;
  readonly stored: boolean;
  readonly removed: boolean;
  readonly sync: SyncState | null;
}

/** Dates as the 16 hexadecimal digits of their microseconds since 2000: four times cheaper than as numbers. */
const LINE = `E'\\x1f' || encode(timestamptz_send(y.bookmark_seen_at) || timestamptz_send(y.content_read_at), 'hex')
  || y.content_hash || E'\\x1f' || l.owner || E'\\x1f' || l.library_name || E'\\x1f' || y.listed_text`;
const FIRST_MS = Date.UTC(2000, 0, 1);

/**
 * What is stored of each library, as far as a plan needs it: one row a library that was ever stored or listed. A column
 * costs more here than to parse a listed entry, so a library is one text: its parts where all is as usual (none of them
 * NULL), else a JSON object.
 */
const SELECT_STORED = `
  SELECT coalesce(
    CASE WHEN l.removed_at IS NULL AND y.bookmark = y.listed_text AND y.reread_reason IS NULL AND y.shrunk_run_id IS NULL
      AND y.failures = 0 AND y.suspect_reads = 0 AND y.removal_held_at IS NULL AND y.bookmark_seen_at >= '2000-01-01Z' AND y.content_read_at >= '2000-01-01Z'
      AND strpos(l.owner, E'\\x1f') = 0 AND strpos(l.library_name, E'\\x1f') = 0 THEN ${LINE} END,
    json_build_object('owner', coalesce(l.owner, y.owner), 'name', coalesce(l.library_name, y.library_name),
      'stored', l.owner IS NOT NULL, 'removed', l.removed_at IS NOT NULL,
      'sync', CASE WHEN y.owner IS NOT NULL THEN json_build_object(
        'listedText', y.listed_text, 'bookmark', y.bookmark, 'contentHash', y.content_hash,
        'bookmarkSeenAt', date_part('epoch', y.bookmark_seen_at) * 1000,
        'contentReadAt', date_part('epoch', y.content_read_at) * 1000,
        'rereadReason', y.reread_reason, 'shrunkRunId', y.shrunk_run_id, 'failures', y.failures, 'suspectReads', y.suspect_reads,
        'lastFailedAt', CASE WHEN y.failures > 0 THEN date_part('epoch', y.last_failed_at) * 1000 END,
        'removalHeldAt', date_part('epoch', y.removal_held_at) * 1000)
      END)::text) AS line
  FROM simcat.libraries l FULL JOIN simcat.library_sync y USING (owner, library_name)`;

interface Row {
  readonly line: string;
}

/** The hash of all keys should fit. */
const WITH_ROOM = "SET LOCAL work_mem = '64MB'";

/** Hands over what is stored of each library, row by row: nobody has to hold a million of them. In a transaction. */
export function streamStored(connection: Connection, take: (one: StoredLibrary) => void): Promise<void> {
  return eachRow<Row>(connection, `${WITH_ROOM}; ${SELECT_STORED}`, (row) => take(toStored(row)));
}

/** All of it, by `keyText`. In a transaction. */
export async function readStored(connection: Connection): Promise<Map<string, StoredLibrary>> {
  const found = new Map<string, StoredLibrary>();
  await streamStored(connection, (one) => found.set(keyText(one.key), one));
  return found;
}

export async function readStoredLibrary(connection: Connection, key: LibraryKey): Promise<StoredLibrary | null> {
  const { rows } = await connection.query<Row>(`${SELECT_STORED} WHERE owner = $1 AND library_name = $2`, [
    key.owner,
    key.name,
  ]);
  return rows[0] ? toStored(rows[0]) : null;
}

function toStored({ line }: Row): StoredLibrary {
  if (!line.startsWith(MARK)) {
    const { owner, name, ...unusual }: Unusual = JSON.parse(line);
    return { key: { owner, name }, ...unusual };
  }
  const hashEnd = line.indexOf(MARK, 1);
  const ownerEnd = line.indexOf(MARK, hashEnd + 1);
  const nameEnd = line.indexOf(MARK, ownerEnd + 1);
  const listedText = line.slice(nameEnd + 1);
  return {
    key: { owner: line.slice(hashEnd + 1, ownerEnd), name: line.slice(ownerEnd + 1, nameEnd) },
    stored: true,
    removed: false,
    sync: {
      listedText,
      bookmark: listedText,
      contentHash: line.slice(33, hashEnd),
      bookmarkSeenAt: toMs(line.slice(1, 17)),
      contentReadAt: toMs(line.slice(17, 33)),
      rereadReason: null,
      shrunkRunId: null,
      failures: 0,
      lastFailedAt: null,
      suspectReads: 0,
      removalHeldAt: null,
    },
  };
}

const toMs = (microseconds: string) => Number.parseInt(microseconds, 16) / 1000 + FIRST_MS;
