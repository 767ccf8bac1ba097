import { withClient } from "./client.ts";
import type { Database } from "./database.ts";

const never = new AbortController().signal;
const LIBRARIES_PER_STATEMENT = 20_000;

const SEED = `
WITH listed AS (
  SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::jsonb[]) AS l(owner, name, text, source)
), stored AS (
  INSERT INTO simcat.libraries (owner, library_name, last_modified, listed, metadata, first_seen_at, changed_at, run_id)
  SELECT owner, name, text, source, source, now(), now(), 1 FROM listed
)
INSERT INTO simcat.library_sync (owner, library_name, listed_text, bookmark, content_hash, bookmark_seen_at, content_read_at, last_success_at)
SELECT owner, name, text, text, md5(name) || '00000000000', now() - interval '30 days', now(), now() FROM listed`;

/** Stores all listed libraries without scenarios, with settled bookmarks, as if a run had stored them a month ago. */
export async function seedSettled(url: string, { pool }: Database): Promise<void> {
  const { libraries } = await withClient(url, (service) => service.listLibraries(never));
  const all = [...libraries];
  for (let start = 0; start < all.length; start += LIBRARIES_PER_STATEMENT) {
    const batch = all.slice(start, start + LIBRARIES_PER_STATEMENT);
    await pool.query(SEED, [
      batch.map(({ key }) => key.owner),
      batch.map(({ key }) => key.name),
      batch.map(({ lastModified }) => lastModified),
      batch.map(({ source }) => source),
    ]);
  }
  await pool.query("VACUUM ANALYZE simcat.libraries, simcat.library_sync");
}
