import { createHash } from "node:crypto";
import { keyText } from "../../key.ts";
import type { LibraryKey, Reject, RejectKind } from "../../model.ts";
import type { Connection } from "../connect.ts";

/** Open rejects kept for one library; more of them say nothing new, and an answer may hold a million. */
const KEPT = 100;
const PAYLOAD_BYTES = 64 * 1024;

const UPSERT = `
INSERT INTO simcat.rejects AS r
  (run_id, owner, library_name, kind, code, path, reason, payload, fingerprint, first_seen_at, last_seen_at)
SELECT $1, owner, library_name, kind, code, path, reason, payload, fingerprint, now(), now()
FROM unnest($2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[], $9::text[])
  AS i(owner, library_name, kind, code, path, reason, payload, fingerprint)
ON CONFLICT (fingerprint) DO UPDATE
  SET run_id = excluded.run_id, last_seen_at = excluded.last_seen_at, reason = excluded.reason, resolved_at = NULL`;

/** Whether any reject of an earlier listing is open, and so may be over. */
export async function hasListingRejects(connection: Connection): Promise<boolean> {
  const { rowCount } = await connection.query(
    "SELECT FROM simcat.rejects WHERE resolved_at IS NULL AND kind = 'listing' LIMIT 1",
  );
  return rowCount === 1;
}

/** Keeps the rejects of a listing, and resolves those of earlier ones that `isOver` says are over: null stands for no library. */
export async function saveListingRejects(
  connection: Connection,
  runId: number,
  rejects: readonly Reject[],
  isOver: (key: LibraryKey | null) => boolean,
): Promise<void> {
  const keys = [...new Map(rejects.flatMap(({ key }) => (key ? [[keyText(key), key] as const] : []))).values()];
  const others = await countOpen(connection, keys, ["metadata", "scenario"]);
  const kept = await upsert(connection, runId, rejects, (key) => KEPT - (others.get(key) ?? 0));
  const { rows } = await connection.query<{ id: number; owner: string | null; name: string | null }>(
    `SELECT id, owner, library_name AS name FROM simcat.rejects
     WHERE resolved_at IS NULL AND kind = 'listing' AND NOT fingerprint = ANY ($1::text[])`,
    [kept],
  );
  const over = rows.filter(({ owner, name }) => isOver(owner === null || name === null ? null : { owner, name }));
  if (over.length === 0) return;
  await connection.query("UPDATE simcat.rejects SET resolved_at = now() WHERE id = ANY ($1::int8[])", [
    over.map((row) => row.id),
  ]);
}

/** Keeps what these libraries' content had of rejects, and resolves those of earlier reads that it no longer has. */
export async function saveContentRejects(
  connection: Connection,
  runId: number,
  keys: readonly LibraryKey[],
  rejects: readonly Reject[],
): Promise<void> {
  const columns = [keys.map((key) => key.owner), keys.map((key) => key.name)];
  const listing = await countOpen(connection, keys, ["listing"]);
  const kept = await upsert(connection, runId, rejects, (key) => KEPT - (listing.get(key) ?? 0));
  await connection.query(
    `UPDATE simcat.rejects r SET resolved_at = now() FROM unnest($1::text[], $2::text[]) AS l(owner, library_name)
     WHERE (r.owner, r.library_name) = (l.owner, l.library_name) AND r.resolved_at IS NULL AND r.kind <> 'listing'
       AND NOT r.fingerprint = ANY ($3::text[])`,
    [...columns, kept],
  );
}

/** How many rejects of these kinds each library has open. */
async function countOpen(
  connection: Connection,
  keys: readonly LibraryKey[],
  kinds: readonly RejectKind[],
): Promise<Map<string, number>> {
  if (keys.length === 0) return new Map();
  const { rows } = await connection.query<{ owner: string; name: string; open: number }>(
    `SELECT owner, library_name AS name, count(*) AS open
     FROM simcat.rejects JOIN unnest($1::text[], $2::text[]) AS l(owner, library_name) USING (owner, library_name)
     WHERE resolved_at IS NULL AND kind = ANY ($3::text[]) GROUP BY owner, library_name`,
    [keys.map((key) => key.owner), keys.map((key) => key.name), kinds],
  );
  return new Map(rows.map((row) => [keyText(row), row.open]));
}

/** @returns the fingerprints of the rejects that were kept */
async function upsert(
  connection: Connection,
  runId: number,
  rejects: readonly Reject[],
  room: (key: string) => number,
): Promise<string[]> {
  const taken = new Map<string, number>();
  const kept = new Map<string, Reject>();
  for (const reject of rejects) {
    // Of entries without a library some of each code are kept, because the codes mean different things.
    const key = reject.key === null ? reject.code : keyText(reject.key);
    const fingerprint = fingerprintOf(reject);
    const count = taken.get(key) ?? 0;
    if (kept.has(fingerprint) || count >= room(key)) continue;
    taken.set(key, count + 1);
    kept.set(fingerprint, reject);
  }
  const rows = [...kept.values()];
  if (rows.length > 0) {
    await connection.query(UPSERT, [
      runId,
      rows.map((one) => indexable(one.key)?.owner),
      rows.map((one) => indexable(one.key)?.name),
      rows.map((one) => one.kind),
      rows.map((one) => one.code),
      rows.map((one) => one.path),
      rows.map((one) => one.reason),
      rows.map((one) => cut(one.payload)),
      [...kept.keys()],
    ]);
  }
  return [...kept.keys()];
}

function fingerprintOf({ key, kind, code, path, payload }: Reject): string {
  return createHash("sha256")
    .update(JSON.stringify([key?.owner, key?.name, kind, code, path, payload]))
    .digest("hex");
}

/** No index entry holds a longer key, and no library has one; the payload names it. */
const KEY_BYTES = 2_600;

function indexable(key: LibraryKey | null): LibraryKey | null {
  return key !== null && Buffer.byteLength(key.owner) + Buffer.byteLength(key.name) <= KEY_BYTES ? key : null;
}

/** At most so many bytes of UTF-8, never half a character; Postgres takes no NUL. */
function cut(payload: string): string {
  const text = payload.replaceAll("\0", "\\u0000").toWellFormed();
  const bytes = Buffer.from(text);
  if (bytes.length <= PAYLOAD_BYTES) return text;
  let end = PAYLOAD_BYTES;
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end--;
  return bytes.toString("utf8", 0, end);
}
