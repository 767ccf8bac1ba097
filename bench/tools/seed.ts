import { withClient } from "./client.ts";
import type { Database } from "./database.ts";

const never = new AbortController().signal;
const AT_ONCE = 20_000;

const SEED = `
WITH listed AS (
  SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::jsonb[]) AS l(owner, name, text, source)
), stored AS (
  INSERT INTO simcat.libraries (owner, library_name, last_modified, listed, metadata, first_seen_at, changed_at, run_id)
  SELECT owner, name, text, source, source, now(), now(), 1 FROM listed
)
INSERT INTO simcat.library_sync (owner, library_name, listed_text, bookmark, content_hash, bookmark_seen_at, content_read_at, last_success_at)
SELECT owner, name, text, text, md5(name) || '00000000000', now() - interval '30 days', now(), now() FROM listed`;

/** Everything listed as if a run had stored it a while ago: bookmarks that are settled, without any scenario. */
export async function seedSettled(url: string, { pool }: Database): Promise<void> {
  const { libraries } = await withClient(url, (service) => service.listLibraries(never));
  const all = [...libraries];
  for (let at = 0; at < libraries.length; at += AT_ONCE) {
    const some = all.slice(at, at + AT_ONCE);
    await pool.query(SEED, [
      some.map((one) => one.key.owner),
      some.map((one) => one.key.name),
      some.map((one) => one.lastModified),
      some.map((one) => one.source),
    ]);
  }
  await pool.query("VACUUM ANALYZE simcat.libraries, simcat.library_sync");
}
