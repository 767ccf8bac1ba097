import type { LibraryKey } from "../../model.ts";
import type { Selection } from "../../run-report.ts";
import type { Connection } from "../connect.ts";
import { streamRows } from "./stream-rows.ts";

/** Every library that was ever stored or listed; some more than once. Of an unaddressable one only rejects are stored. */
const KNOWN = `(
  SELECT owner, library_name FROM simcat.libraries
  UNION ALL SELECT owner, library_name FROM simcat.library_sync
  UNION ALL SELECT owner, library_name FROM simcat.rejects WHERE owner IS NOT NULL
)`;

/** The same for a role that may read only the views. The last one is slow, and read only if the others lack a key. */
const KNOWN_IN_VIEWS = `(
  SELECT owner, library_name FROM simcat_report.library_versions
  UNION ALL SELECT owner, library_name FROM simcat_report.library_freshness
  UNION ALL SELECT owner, library_name FROM simcat_report.data_quality WHERE owner IS NOT NULL
)`;

/** Where known keys are looked up. */
export type KnownKeysSource = "tables" | "views";

const KNOWN_IN = { tables: KNOWN, views: KNOWN_IN_VIEWS } as const;

const selectUnknown = (source: KnownKeysSource) => `
SELECT s.owner, NULL AS name FROM unnest($1::text[]) AS s(owner)
WHERE NOT EXISTS (SELECT FROM ${KNOWN_IN[source]} k WHERE k.owner = s.owner)
UNION ALL
SELECT s.owner, s.name FROM unnest($2::text[], $3::text[]) AS s(owner, name)
WHERE NOT EXISTS (SELECT FROM ${KNOWN_IN[source]} k WHERE (k.owner, k.library_name) = (s.owner, s.name))`;

/** The selectors that name no known owner or library. */
export async function readUnknown(
  connection: Connection,
  { libraries, owners }: Selection,
  source: KnownKeysSource = "tables",
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
  source: KnownKeysSource = "tables",
): Promise<void> {
  return streamRows<LibraryKey & Record<string, unknown>>(
    connection,
    `SELECT owner, library_name AS name FROM ${KNOWN_IN[source]} k`,
    onKey,
  );
}
