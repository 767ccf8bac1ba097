import { keyText } from "../key.ts";
import type { LibraryKey, Owes, StoredLibrary } from "../model.ts";
import type { Connection, Pool } from "./connect.ts";

interface Row {
  owner: string;
  name: string;
  stored: boolean;
  removed: boolean;
  synced: boolean;
  listed_text: string | null;
  bookmark: string | null;
  content_hash: string | null;
  seen_ms: number | null;
  read_ms: number | null;
  owes: Owes | null;
  shrunk_run_id: number | null;
  failures: number;
  doubtful_reads: number;
}

/**
 * What is stored of each library, as far as a plan needs it: one row a library that was ever stored or listed.
 */
const SELECT_STORED = `
  SELECT coalesce(l.owner, y.owner) AS owner, coalesce(l.library_name, y.library_name) AS name,
    l.owner IS NOT NULL AS stored, l.removed_at IS NOT NULL AS removed, y.owner IS NOT NULL AS synced,
    y.listed_text, y.bookmark, y.content_hash,
    (extract(epoch FROM y.bookmark_seen_at) * 1000)::float8 AS seen_ms,
    (extract(epoch FROM y.content_read_at) * 1000)::float8 AS read_ms,
    y.owes, y.shrunk_run_id, coalesce(y.failures, 0) AS failures, coalesce(y.doubtful_reads, 0) AS doubtful_reads
  FROM simcat.libraries l FULL JOIN simcat.library_sync y USING (owner, library_name)`;

export async function readStored(connection: Connection | Pool): Promise<Map<string, StoredLibrary>> {
  const { rows } = await connection.query<Row>(SELECT_STORED);
  return new Map(rows.map((row) => [keyText({ owner: row.owner, name: row.name }), toStored(row)]));
}

export async function readStoredLibrary(connection: Connection | Pool, key: LibraryKey): Promise<StoredLibrary | null> {
  const { rows } = await connection.query<Row>(
    `SELECT * FROM (${SELECT_STORED}) AS one WHERE owner = $1 AND name = $2`,
    [key.owner, key.name],
  );
  return rows[0] ? toStored(rows[0]) : null;
}

function toStored(row: Row): StoredLibrary {
  return {
    key: { owner: row.owner, name: row.name },
    stored: row.stored,
    removed: row.removed,
    sync: row.synced
      ? {
          listedText: row.listed_text,
          bookmark: row.bookmark,
          contentHash: row.content_hash,
          bookmarkSeenAt: row.seen_ms,
          contentReadAt: row.read_ms,
          owes: row.owes,
          shrunkRunId: row.shrunk_run_id,
          failures: row.failures,
          doubtfulReads: row.doubtful_reads,
        }
      : null,
  };
}
