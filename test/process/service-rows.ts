import type { Organization } from "../../src/mock/organization.ts";
import { createValueParsers, parseFileSize } from "../../src/parse-values.ts";
import { entrySource, metadataSource, scenarioSource } from "../support/mock/answer.ts";
import type { MockLibrary } from "../support/mock/library.ts";

type Row = Readonly<Record<string, unknown>>;

export type Query = <T>(sql: string, parameters?: readonly unknown[]) => Promise<T[]>;

/**
 * Everything that the tables should contain about live rows after one quiet run, derived from the service only: libraries,
 * scenarios, and what the next run will know of them.
 */
export function serviceRows(organization: Organization) {
  const libraries = organization.libraries();
  return {
    libraries: sorted(libraries.map(libraryRow)),
    scenarios: sorted(libraries.flatMap(scenarioRows)),
    bookkeeping: sorted(
      libraries.map((one) => ({
        ...keyOf(one),
        listed_text: one.lastModified,
        bookmark: one.lastModified,
        reread_reason: null,
        failures: 0,
        last_error: null,
        scenario_count: String(one.scenarios.length),
        result_count: String(one.scenarios.filter(({ isResult }) => isResult).length),
      })),
    ),
  };
}

/** The actual tables, in the same form. */
export async function storedRows(query: Query): Promise<ReturnType<typeof serviceRows>> {
  return {
    libraries: sorted(
      await query<Row>(
        `SELECT owner, library_name, library_owner, last_modified, (extract(epoch FROM last_modified_at) * 1000000)::int8::text AS last_modified_us,
           file_size, file_size_bytes::text, package_name, package_version, description, listed, metadata
         FROM simcat.libraries WHERE removed_at IS NULL`,
      ),
    ),
    scenarios: sorted(
      await query<Row>(
        `SELECT s.owner, s.library_name, s.scenario_id::text, s.parent_id::text, s.scenario_name, s.is_result, s.last_modified,
           (extract(epoch FROM s.last_modified_at) * 1000000)::int8::text AS last_modified_us, s.description, s.raw
         FROM simcat.scenarios s JOIN simcat.libraries l USING (owner, library_name)
         WHERE s.removed_at IS NULL AND l.removed_at IS NULL`,
      ),
    ),
    bookkeeping: sorted(
      await query<Row>(
        `SELECT y.owner, y.library_name, y.listed_text, y.bookmark, y.reread_reason, y.failures, y.last_error,
           y.scenario_count::text, y.result_count::text
         FROM simcat.library_sync y JOIN simcat.libraries l USING (owner, library_name) WHERE l.removed_at IS NULL`,
      ),
    ),
  };
}

/** Errors in the histories: versions that overlap, leave a gap, or are duplicated. Empty if nothing was stored twice or lost. */
export function brokenHistories(query: Query): Promise<Row[]> {
  const chain = (table: string, key: string) => `
    SELECT '${table}' AS of, ${key}, valid_to::text, next::text FROM (
      SELECT ${key}, valid_to, lead(valid_from) OVER (PARTITION BY ${key} ORDER BY valid_from) AS next
      FROM (SELECT ${key}, valid_from, valid_to FROM simcat.${table}_history
            UNION ALL SELECT ${key}, changed_at, 'infinity' FROM simcat.${table === "library" ? "libraries" : "scenarios"}) v
    ) w WHERE valid_to IS DISTINCT FROM coalesce(next, 'infinity')`;
  return query<Row>(
    `${chain("library", "owner, library_name")} UNION ALL
     SELECT of, owner, library_name, valid_to, next FROM (${chain("scenario", "owner, library_name, scenario_id")}) s`,
  );
}

/** Lets the dead holder's twenty seconds pass. */
export async function expireLease(query: Query): Promise<void> {
  await query("UPDATE simcat.leases SET expires_at = clock_timestamp() - interval '1 second'");
}

const keyOf = ({ owner, name }: MockLibrary) => ({ owner, library_name: name });

function libraryRow(one: MockLibrary): Row {
  return {
    ...keyOf(one),
    library_owner: one.libraryOwner,
    last_modified: one.lastModified,
    last_modified_us: micros(one.lastModified),
    file_size: one.fileSize,
    file_size_bytes: parseFileSize(one.fileSize)?.toString() ?? null,
    package_name: one.packageName,
    package_version: one.packageVersion,
    description: one.description,
    listed: JSON.parse(entrySource(one)),
    metadata: JSON.parse(metadataSource(one)),
  };
}

function scenarioRows(library: MockLibrary): Row[] {
  return library.scenarios.map((one) => ({
    ...keyOf(library),
    scenario_id: String(one.scenarioId),
    parent_id: one.parentId === null ? null : String(one.parentId),
    scenario_name: one.scenarioName,
    is_result: one.isResult,
    last_modified: one.lastModified,
    last_modified_us: micros(one.lastModified),
    description: one.description,
    raw: JSON.parse(scenarioSource(one)),
  }));
}

const micros = (text: string | null): string | null => createValueParsers("UTC").microseconds(text)?.toString() ?? null;

function sorted(rows: readonly Row[]): Row[] {
  const place = (row: Row) => JSON.stringify([row.owner, row.library_name, Number(row.scenario_id ?? 0)]);
  return rows
    .map((row) => [place(row), row] as const)
    .sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))
    .map(([, row]) => row);
}
