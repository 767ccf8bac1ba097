import { keyText } from "../../key.ts";
import type { LibraryKey, Owes, StoredLibrary } from "../../model.ts";
import type { Connection, Pool } from "../connect.ts";

interface Row {
  owner: string;
  name: string;
  listed_text: string | null;
  content_hash: string | null;
  seen_ms: number | null;
  read_ms: number | null;
  unusual: Unusual | null;
}

/** What nearly all libraries have in common. */
interface Unusual {
  readonly stored: boolean;
  readonly removed: boolean;
  readonly synced: boolean;
  readonly bookmark: string | null;
  readonly owes: Owes | null;
  readonly shrunk_run_id: number | null;
  readonly failures: number;
  readonly doubtful_reads: number;
}

/**
 * What is stored of each library, as far as a plan needs it: one row a library that was ever stored or listed. A column
 * costs as much here as to parse a listed entry, so what is as usual is not sent. `extract` would compute a numeric, which
 * took a fourth of the query.
 */
const SELECT_STORED = `
  SELECT coalesce(l.owner, y.owner) AS owner, coalesce(l.library_name, y.library_name) AS name,
    y.listed_text, y.content_hash,
    date_part('epoch', y.bookmark_seen_at) * 1000 AS seen_ms,
    date_part('epoch', y.content_read_at) * 1000 AS read_ms,
    CASE WHEN l.removed_at IS NULL AND l.owner IS NOT NULL AND y.bookmark = y.listed_text AND y.owes IS NULL
      AND y.shrunk_run_id IS NULL AND y.failures = 0 AND y.doubtful_reads = 0 THEN NULL
    ELSE json_build_object('stored', l.owner IS NOT NULL, 'removed', l.removed_at IS NOT NULL,
      'synced', y.owner IS NOT NULL, 'bookmark', y.bookmark, 'owes', y.owes, 'shrunk_run_id', y.shrunk_run_id,
      'failures', coalesce(y.failures, 0), 'doubtful_reads', coalesce(y.doubtful_reads, 0)) END AS unusual
  FROM simcat.libraries l FULL JOIN simcat.library_sync y USING (owner, library_name)`;

/** Few enough to be gone before the collector would keep them, many enough that a far server is seldom asked. */
const AT_ONCE = 2_000;

/** A cursor's plan is for its first rows (index scans, 2 times slower), and the hash of all keys should fit. */
const FOR_ALL_ROWS = "SET LOCAL cursor_tuple_fraction = 1; SET LOCAL work_mem = '64MB'";

/** Hands over what is stored of each library, row by row: nobody has to hold a million of them. In a transaction. */
export async function eachStored(connection: Connection, take: (one: StoredLibrary) => void): Promise<void> {
  await connection.query(`${FOR_ALL_ROWS}; DECLARE stored NO SCROLL CURSOR FOR ${SELECT_STORED}`);
  const fetchMore = () => connection.query<Row>(`FETCH ${AT_ONCE} FROM stored`);
  let next = fetchMore();
  for (;;) {
    const { rows } = await next;
    // Postgres reads on while these are taken.
    if (rows.length === AT_ONCE) next = fetchMore();
    for (const row of rows) take(toStored(row));
    if (rows.length < AT_ONCE) break;
  }
  await connection.query("CLOSE stored");
}

/** All of it, by `keyText`. In a transaction. */
export async function readStored(connection: Connection): Promise<Map<string, StoredLibrary>> {
  const found = new Map<string, StoredLibrary>();
  await eachStored(connection, (one) => found.set(keyText(one.key), one));
  return found;
}

export async function readStoredLibrary(connection: Connection | Pool, key: LibraryKey): Promise<StoredLibrary | null> {
  const { rows } = await connection.query<Row>(
    `SELECT * FROM (${SELECT_STORED}) AS one WHERE owner = $1 AND name = $2`,
    [key.owner, key.name],
  );
  return rows[0] ? toStored(rows[0]) : null;
}

function toStored(row: Row): StoredLibrary {
  const { owner, name, listed_text: listedText, unusual } = row;
  return {
    key: { owner, name },
    stored: unusual?.stored ?? true,
    removed: unusual?.removed ?? false,
    sync:
      unusual?.synced === false
        ? null
        : {
            listedText,
            bookmark: unusual === null ? listedText : unusual.bookmark,
            contentHash: row.content_hash,
            bookmarkSeenAt: row.seen_ms,
            contentReadAt: row.read_ms,
            owes: unusual?.owes ?? null,
            shrunkRunId: unusual?.shrunk_run_id ?? null,
            failures: unusual?.failures ?? 0,
            doubtfulReads: unusual?.doubtful_reads ?? 0,
          },
  };
}
