import type { SyncState } from "../../model.ts";
import type { Connection } from "../connect.ts";

const AT_ONCE = 5_000;

const ms = (column: string) => `(extract(epoch FROM ${column}) * 1000)::float8`;

const COLUMNS: Readonly<Record<keyof SyncState, string>> = {
  listedText: "y.listed_text",
  bookmark: "y.bookmark",
  contentHash: "y.content_hash",
  bookmarkSeenAt: ms("y.bookmark_seen_at"),
  contentReadAt: ms("y.content_read_at"),
  owes: "y.owes",
  shrunkRunId: "y.shrunk_run_id",
  failures: "y.failures",
  doubtfulReads: "y.doubtful_reads",
};

const DECLARE = `
DECLARE bookmarks NO SCROLL CURSOR FOR
SELECT ${Object.entries(COLUMNS).map(([field, column]) => `${column} AS "${field}"`)}
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
