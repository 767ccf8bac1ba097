import { hash } from "node:crypto";
import { keyText } from "../../key.ts";
import { type FailedLibrary, type LibraryKey, MAX_KEY_BYTES, type Reject, type RejectKind } from "../../model.ts";
import { type Connection, oneRow } from "../connect.ts";
import { keyArrays, ofKeys, statement } from "../statement.ts";

/**
 * Whether an open reject of an earlier listing is over if this one lacks it. `key`: null for one of no library. `seenAt`: when it was last
 * seen, in database ms.
 */
export type RejectTest = (key: LibraryKey | null, seenAt: number) => boolean;

/** At most this many open rejects are kept for one library, because one answer may contain a million. */
const MAX_OPEN = 100;
const MAX_PAYLOAD_BYTES = 64 * 1024;

/** There are few rejects, so they are sent as JSON. */
const UPSERT = statement(`
INSERT INTO simcat.rejects AS r
  (owner, library_name, kind, code, path, reason, payload, fingerprint, run_id, first_seen_at, last_seen_at)
SELECT i.*, $run_id, now(), now()
FROM json_to_recordset($rows) AS i(owner text, library_name text, kind text, code text, path text, reason text, payload text,
  fingerprint text)
ON CONFLICT (fingerprint) DO UPDATE
  SET run_id = excluded.run_id, last_seen_at = excluded.last_seen_at, reason = excluded.reason, resolved_at = NULL`);

const COUNT_LISTING_REJECTS = statement(`
SELECT count(*) AS open, count(*) FILTER (WHERE last_seen_at >= to_timestamp($since::float8 / 1000)) AS later FROM simcat.rejects
WHERE resolved_at IS NULL AND kind = 'listing'`);

const SELECT_LISTING_REJECTS = statement(`
SELECT id, CASE WHEN owner IS NOT NULL THEN json_build_object('owner', owner, 'name', library_name) END AS key,
  date_part('epoch', last_seen_at) * 1000 AS "seenAt"
FROM simcat.rejects WHERE resolved_at IS NULL AND kind = 'listing' AND NOT fingerprint = ANY ($kept::text[])`);

const RESOLVE_CONTENT_REJECTS = statement(`
UPDATE simcat.rejects r SET resolved_at = now()
FROM ${ofKeys("r")} AND r.resolved_at IS NULL AND r.kind <> 'listing'
  AND NOT r.fingerprint = ANY ($kept::text[])`);

const COUNT_OPEN = statement(`
SELECT owner, library_name AS name, count(*) AS open
FROM simcat.rejects JOIN unnest($owner::text[], $library_name::text[]) AS l(owner, library_name) USING (owner, library_name)
WHERE resolved_at IS NULL AND kind = ANY ($kinds::text[]) GROUP BY owner, library_name`);

/** How many rejects of earlier listings are open, and how many of them a listing had at this time or later, in database ms. */
export async function countListingRejects(connection: Connection, since: number) {
  return oneRow(await connection.query<{ open: number; later: number }>(COUNT_LISTING_REJECTS({ since })));
}

/** Saves the rejects of a listing and resolves those of earlier listings for which `isOver` is true; none if it is null. */
export async function saveListingRejects(
  connection: Connection,
  runId: number,
  rejects: readonly Reject[],
  isOver: RejectTest | null,
): Promise<void> {
  const keys = [...new Map(rejects.flatMap(({ key }) => (key ? [[keyText(key), key] as const] : []))).values()];
  const kept = await saveRejects(connection, runId, keys, rejects, ["metadata", "scenario"]);
  if (isOver === null) return;
  type Row = { readonly id: number; readonly key: LibraryKey | null; readonly seenAt: number };
  const { rows } = await connection.query<Row>(SELECT_LISTING_REJECTS({ kept }));
  const ids = rows.flatMap(({ id, key, seenAt }) => (isOver(key, seenAt) ? [id] : []));
  if (ids.length > 0)
    await connection.query("UPDATE simcat.rejects SET resolved_at = now() WHERE id = ANY ($1)", [ids]);
}

/** Saves the rejects of these libraries' content, and resolves those of earlier reads that it no longer has. */
export async function saveContentRejects(
  connection: Connection,
  runId: number,
  libraries: readonly Pick<FailedLibrary, "key" | "rejects">[],
): Promise<void> {
  const keys = libraries.map(({ key }) => key);
  const rejects = libraries.flatMap((library) => library.rejects);
  const kept = await saveRejects(connection, runId, keys, rejects, ["listing"]);
  await connection.query(RESOLVE_CONTENT_REJECTS({ ...keyArrays(keys), kept }));
}

/**
 * Saves rejects of these libraries, as many as the open rejects of other kinds leave room for.
 * @returns the fingerprints of the rejects that were kept
 */
async function saveRejects(
  connection: Connection,
  runId: number,
  keys: readonly LibraryKey[],
  rejects: readonly Reject[],
  otherKinds: readonly RejectKind[],
): Promise<string[]> {
  const counting = COUNT_OPEN({ ...keyArrays(keys), kinds: otherKinds });
  const { rows: open } = await connection.query<LibraryKey & { open: number }>(counting);
  const taken = new Map(open.map((row) => [keyText(row), row.open]));
  const kept = new Map<string, Reject>();
  for (const reject of rejects) {
    // Entries without a library share one limit for each code, because the codes mean different things.
    const key = reject.key === null ? reject.code : keyText(reject.key);
    const fingerprint = fingerprintOf(reject);
    const count = taken.get(key) ?? 0;
    if (kept.has(fingerprint) || count >= MAX_OPEN) continue;
    taken.set(key, count + 1);
    kept.set(fingerprint, reject);
  }
  const rows = [...kept].map(([fingerprint, { key, payload, ...reject }]) => {
    const { owner, name: library_name } = indexable(key) ?? {};
    return { ...reject, owner, library_name, payload: cut(payload), fingerprint };
  });
  if (rows.length > 0) await connection.query(UPSERT({ run_id: runId, rows: JSON.stringify(rows) }));
  return [...kept.keys()];
}

function fingerprintOf({ key, kind, code, path, payload }: Reject): string {
  return hash("sha256", JSON.stringify([key?.owner, key?.name, kind, code, path, payload]));
}

/** No library has a key that is too large for an index, and the payload contains it. */
function indexable(key: LibraryKey | null): LibraryKey | null {
  return key !== null && Buffer.byteLength(key.owner) + Buffer.byteLength(key.name) <= MAX_KEY_BYTES ? key : null;
}

/** Cuts a payload to MAX_PAYLOAD_BYTES of UTF-8, never within a character, and escapes NUL, which Postgres refuses. */
function cut(payload: string): string {
  const bytes = Buffer.from(payload.replaceAll("\0", "\\u0000").toWellFormed());
  // A streaming decoder keeps back the bytes of a character that is not complete.
  return new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes.subarray(0, MAX_PAYLOAD_BYTES), { stream: true });
}
