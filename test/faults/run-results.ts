import type { Ended } from "../support/cli.ts";
import type { Fixture } from "../support/fixture.ts";

type Query = Fixture["query"];
type Line = Readonly<Record<string, unknown>>;

/** Parses standard error line by line. Throws if a line is not a JSON object: all output must be log lines. */
export function logLines({ stderr }: Ended): Line[] {
  const lines = stderr.split("\n").filter((line) => line !== "");
  return lines.map((line) => JSON.parse(line) as Line);
}

/** Each log line about a library as `owner/library code`, sorted by library. */
export function libraryLogLines(ended: Ended): string[] {
  return logLines(ended)
    .filter((line) => "library" in line)
    .sort((a, b) => String(a.library).localeCompare(String(b.library), "en"))
    .map(({ owner, library, code }) => `${owner}/${library} ${code}`);
}

/** The newest run's status and its non-zero counts, except the numbers of requests and bytes. */
export async function lastRun(query: Query): Promise<Record<string, unknown>> {
  const [row] = await query<Record<string, unknown>>(
    `SELECT status, libraries_listed, libraries_read, libraries_skipped, libraries_changed, libraries_failed,
       libraries_removed, scenarios_inserted::int, scenarios_updated::int, scenarios_removed::int,
       scenarios_unchanged::int, rejects, retries, silent_changes
     FROM simcat.sync_runs ORDER BY id DESC LIMIT 1`,
  );
  return Object.fromEntries(Object.entries(row ?? {}).filter(([, value]) => value !== 0));
}

/** Each library that owes a read, why, and how often it has failed. */
export const owing = ({ lines }: Fixture) =>
  lines(
    "SELECT library_name, reread_reason, failures FROM simcat.library_sync WHERE reread_reason IS NOT NULL ORDER BY 1",
  );

/** Everything that must not change for a kept library: its rows and versions with their xmin, and its bookmark. */
export function kept(query: Query, libraries: readonly string[]): Promise<unknown[]> {
  return query(
    `SELECT 'library' AS of, library_name AS name, xmin::text, to_jsonb(t)::text AS row FROM simcat.libraries t WHERE library_name = ANY ($1)
     UNION ALL
     SELECT 'scenario', library_name, xmin::text, to_jsonb(t)::text FROM simcat.scenarios t WHERE library_name = ANY ($1)
     UNION ALL
     SELECT 'version', library_name, xmin::text, to_jsonb(t)::text FROM simcat.library_history t WHERE library_name = ANY ($1)
     UNION ALL
     SELECT 'version', library_name, xmin::text, to_jsonb(t)::text FROM simcat.scenario_history t WHERE library_name = ANY ($1)
     UNION ALL
     SELECT 'bookmark', library_name, '', jsonb_build_array(bookmark, content_hash, content_read_at, last_success_at)::text
     FROM simcat.library_sync WHERE library_name = ANY ($1)
     ORDER BY 1, 2, 4`,
    [libraries],
  );
}
