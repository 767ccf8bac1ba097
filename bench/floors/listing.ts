import { Pool } from "undici";
import type { Database } from "../tools/database.ts";
import { API_KEY } from "../tools/service-order.ts";

/** The stored values that a plan needs. */
const SELECT_BOOKMARKS = `
SELECT owner, library_name, listed_text, bookmark, content_hash, bookmark_seen_at, content_read_at, reread_reason, failures
FROM simcat.library_sync`;

/** The floor for a run that finds nothing new: the listing, parsed as one text, and one `SELECT` of the bookmarks. */
export async function readListingAndBookmarks(url: string, database: Database): Promise<void> {
  const pool = new Pool(url);
  const { body } = await pool.request({ method: "GET", path: "/libs", headers: { "x-ss-api-key": API_KEY } });
  JSON.parse(await body.text());
  await database.pool.query(SELECT_BOOKMARKS);
  await pool.close();
}
