import type { LibraryKey } from "../../src/model.ts";
import { canonical } from "./answers.ts";
import type { Copy } from "./copies.ts";
import type { Control } from "./database.ts";

/** The text of a key, as the simulation compares keys. */
export const keyOf = ({ owner, name }: LibraryKey): string => JSON.stringify([owner, name]);

export function parseKey(text: string): LibraryKey {
  const [owner, name] = JSON.parse(text) as [string, string];
  return { owner, name };
}

const LOOK = `
SELECT l.owner, l.library_name AS name, l.removed_at, l.last_modified, l.metadata, s.scenarios, s.lacking,
  (SELECT content_read_at FROM simcat.library_sync y WHERE (y.owner, y.library_name) = (l.owner, l.library_name)) AS read_at
FROM simcat.libraries l CROSS JOIN LATERAL (
  SELECT coalesce(jsonb_object_agg(scenario_id, raw), '{}') AS scenarios,
    (SELECT coalesce(array_agg(scenario_id::text), '{}') FROM simcat.scenario_absences a
     WHERE (a.owner, a.library_name) = (l.owner, l.library_name)) AS lacking
  FROM simcat.scenarios s WHERE (s.owner, s.library_name) = (l.owner, l.library_name) AND s.removed_at IS NULL
) AS s`;

interface Row extends LibraryKey {
  removed_at: Date | null;
  last_modified: string | null;
  metadata: unknown;
  scenarios: Record<string, unknown>;
  lacking: string[];
  read_at: Date | null;
}

/** A reader's current view: every library that was ever stored, including removed ones. */
export async function look(control: Control): Promise<Map<string, Seen>> {
  const rows = await control.query<Row>(LOOK);
  return new Map(rows.map((row) => [keyOf(row), seenOf(row)]));
}

export type Seen = ReturnType<typeof seenOf>;

/** A library as one statement shows it. */
function seenOf(row: Row) {
  const copy: Copy = {
    metadata: row.metadata === null ? null : canonical(row.metadata),
    scenarios: new Map(Object.entries(row.scenarios).map(([id, raw]) => [id, canonical(raw)] as const)),
    lacking: new Map(row.lacking.map((id) => [id, "earlier"])),
  };
  return {
    key: keyOf(row),
    live: row.removed_at === null,
    removedAt: row.removed_at,
    lastModified: row.last_modified,
    /** When the last stored read began, by the database's clock in ms; 0 if never. */
    readAt: row.read_at?.getTime() ?? 0,
    copy,
  };
}
