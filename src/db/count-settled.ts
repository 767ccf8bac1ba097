import type { SyncState } from "../model.ts";
import type { Connection } from "./connect.ts";

const AT_ONCE = 5_000;

const DECLARE = `
DECLARE bookmarks NO SCROLL CURSOR FOR
SELECT y.listed_text AS "listedText", y.bookmark, y.content_hash AS "contentHash",
  (extract(epoch FROM y.bookmark_seen_at) * 1000)::float8 AS "bookmarkSeenAt",
  (extract(epoch FROM y.content_read_at) * 1000)::float8 AS "contentReadAt",
  y.owes, y.shrunk_run_id AS "shrunkRunId", y.failures, y.doubtful_reads AS "doubtfulReads"
FROM simcat.libraries l JOIN simcat.library_sync y USING (owner, library_name) WHERE l.removed_at IS NULL`;

/** How many live libraries have a settled bookmark, some thousands at a time. In the caller's transaction. */
export async function countSettled(connection: Connection, isSettled: (sync: SyncState) => boolean): Promise<number> {
  await connection.query(DECLARE);
  let settled = 0;
  for (;;) {
    const { rows } = await connection.query<SyncState>(`FETCH ${AT_ONCE} FROM bookmarks`);
    settled += rows.filter(isSettled).length;
    if (rows.length < AT_ONCE) break;
  }
  await connection.query("CLOSE bookmarks");
  return settled;
}
