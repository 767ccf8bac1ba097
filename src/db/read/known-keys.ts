import type { LibraryKey } from "../../model.ts";
import type { Selection } from "../../run-summary.ts";
import type { Connection } from "../connect.ts";
import { type ReadSource, STORED_ROWS } from "./read-source.ts";
import { streamRows } from "./stream-rows.ts";

/** Every library that was ever stored or listed; some more than once. An unaddressable one has only rejects. */
function known(source: ReadSource): string {
  const { libraries, library_sync, rejects } = STORED_ROWS[source];
  return `(
  SELECT owner, library_name FROM ${libraries} l
  UNION ALL SELECT owner, library_name FROM ${library_sync} y
  UNION ALL SELECT owner, library_name FROM ${rejects} r WHERE owner IS NOT NULL
)`;
}

/** The selectors that name no known owner or library. */
export async function readUnknown(connection: Connection, { libraries, owners }: Selection, source: ReadSource) {
  const { rows } = await connection.query<{ known: boolean }>(
    `SELECT EXISTS (SELECT FROM ${known(source)} k WHERE k.owner = s.owner AND (s.name IS NULL OR k.library_name = s.name)) AS known
     FROM unnest($1::text[], $2::text[]) WITH ORDINALITY AS s(owner, name, n) ORDER BY n`,
    [
      [...owners, ...libraries.map(({ owner }) => owner)],
      [...owners.map(() => null), ...libraries.map(({ name }) => name)],
    ],
  );
  return {
    owners: owners.filter((_, n) => !rows[n]?.known),
    libraries: libraries.filter((_, n) => !rows[owners.length + n]?.known),
  };
}

export interface KnownKey extends LibraryKey {
  readonly isRemoved?: boolean;
}

/** Passes the key of each known library to `onKey`; some more than once. */
export function streamKnownKeys(connection: Connection, onKey: (key: KnownKey) => void, source: ReadSource) {
  const select = `
    SELECT owner, library_name AS name, r.owner IS NOT NULL AS "isRemoved" FROM ${known(source)} k
    LEFT JOIN (SELECT owner, library_name FROM ${STORED_ROWS[source].libraries} l WHERE removed_at IS NOT NULL) AS r USING (owner, library_name)`;
  return streamRows<KnownKey & Record<string, unknown>>(connection, select, onKey);
}
