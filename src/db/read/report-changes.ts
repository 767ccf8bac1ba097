import { OF_OWNERS } from "./report-scope.ts";

export interface ChangeRow {
  readonly at: Date;
  readonly entity: "library" | "scenario";
  readonly kind: ChangeKind;
  readonly count: number;
}

type ChangeKind = "added" | "changed" | "removed";

export interface ChangedLibrary {
  readonly owner: string;
  readonly name: string;
  /** The newest event of the library itself; null if only its scenarios changed. */
  readonly library: string | null;
  readonly added: number;
  readonly changed: number;
  readonly removed: number;
  readonly lastChangedAt: Date;
  /** How many libraries changed. */
  readonly total: number;
}

/** What an event did to the number of live rows. */
const KIND = `CASE WHEN kind IN ('added', 'returned', 'returned_with_library') THEN 'added'
    WHEN kind IN ('removed', 'went_with_library') THEN 'removed' ELSE 'changed' END`;

/** The events since `$2`. The caller does not ask for a time before the history is complete. */
const EVENTS = `
SELECT owner, library_name, entity, kind AS event, ${KIND} AS kind, seen_at
FROM simcat_report.activity WHERE ${OF_OWNERS} AND seen_at >= $2`;

export const CHANGES = `
SELECT date_trunc($3::text, seen_at, 'UTC') AS at, entity, kind, count(*) AS count
FROM (${EVENTS}) AS event
GROUP BY 1, 2, 3 ORDER BY 1, 2, 3`;

export const CHANGED_LIBRARIES = `
SELECT owner, library_name AS name, (array_agg(event ORDER BY seen_at DESC) FILTER (WHERE entity = 'library'))[1] AS library,
  count(*) FILTER (WHERE entity = 'scenario' AND kind = 'added') AS added,
  count(*) FILTER (WHERE entity = 'scenario' AND kind = 'changed') AS changed,
  count(*) FILTER (WHERE entity = 'scenario' AND kind = 'removed') AS removed,
  max(seen_at) AS "lastChangedAt", count(*) OVER () AS total
FROM (${EVENTS}) AS event
GROUP BY owner, library_name ORDER BY max(seen_at) DESC, owner, library_name LIMIT $3`;
