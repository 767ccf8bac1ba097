import type { LibraryKey } from "../../model.ts";
import type { Selection } from "../../run-summary.ts";
import type { Connection } from "../connect.ts";
import { type ReadSource, STORED_ROWS } from "./read-source.ts";
import { streamRows } from "./stream-rows.ts";

/** Every library that was ever stored or listed; some more than once. Of an unaddressable one only rejects are stored. */
function known(source: ReadSource): string {
  const { libraries, library_sync, rejects } = STORED_ROWS[source];
  return `(
  SELECT owner, library_name FROM ${libraries} l
  UNION ALL SELECT owner, library_name FROM ${library_sync} y
  UNION ALL SELECT owner, library_name FROM ${rejects} r WHERE owner IS NOT NULL
)`;
}

const selectUnknown = (source: ReadSource) => `
SELECT s.owner, NULL AS name FROM unnest($1::text[]) AS s(owner)
WHERE NOT EXISTS (SELECT FROM ${known(source)} k WHERE k.owner = s.owner)
UNION ALL
SELECT s.owner, s.name FROM unnest($2::text[], $3::text[]) AS s(owner, name)
WHERE NOT EXISTS (SELECT FROM ${known(source)} k WHERE (k.owner, k.library_name) = (s.owner, s.name))`;

/** The selectors that name no known owner or library. */
export async function readUnknown(
  connection: Connection,
  { libraries, owners }: Selection,
  source: ReadSource = "tables",
): Promise<Selection> {
  const { rows } = await connection.query<{ owner: string; name: string | null }>(selectUnknown(source), [
    owners,
    libraries.map((key) => key.owner),
    libraries.map((key) => key.name),
  ]);
  const unknown = new Set(rows.map(({ owner, name }) => JSON.stringify([owner, name])));
  return {
    libraries: libraries.filter(({ owner, name }) => unknown.has(JSON.stringify([owner, name]))),
    owners: owners.filter((owner) => unknown.has(JSON.stringify([owner, null]))),
  };
}

/** Passes the key of each known library to `onKey`; some more than once. */
export function streamKnownKeys(
  connection: Connection,
  onKey: (key: LibraryKey) => void,
  source: ReadSource = "tables",
): Promise<void> {
  return streamRows<LibraryKey & Record<string, unknown>>(
    connection,
    `SELECT owner, library_name AS name FROM ${known(source)} k`,
    onKey,
  );
}
