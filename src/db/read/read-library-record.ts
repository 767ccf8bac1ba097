import type { LibraryKey } from "../../model.ts";
import { readNow } from "../clock.ts";
import { type Connection, oneRow, type Pool } from "../connect.ts";
import type { libraries, librarySync, rejects } from "../schema.ts";
import { readSnapshot } from "../transaction.ts";
import { type ReadSource, STORED_ROWS } from "./read-source.ts";
import { readLastGoodRun } from "./recent-runs.ts";
import { readStoredLibrary } from "./stored-libraries.ts";

/** How many open rejects are read; of the others only their number. */
const MAX_EVENTS = 20;

export type LibraryRows = Awaited<ReturnType<typeof readLibraryRecord>>;

type LibraryFacts = Pick<typeof libraries.$inferSelect, "lastModified" | "firstSeenAt" | "changedAt" | "removedAt">;
type ReadFacts = Pick<typeof librarySync.$inferSelect, "lastError" | "lastFailedAt" | "lastSuccessAt">;

/** A reader of the views does not see the times. */
type RejectFacts = Pick<typeof rejects.$inferSelect, "kind" | "code" | "path" | "reason"> & {
  readonly firstSeenAt: Date | null;
  readonly lastSeenAt: Date | null;
};

/** Everything that is stored of one library, from one snapshot. */
export async function readLibraryRecord(pool: Pool, source: ReadSource, key: LibraryKey, signal: AbortSignal) {
  const { libraries, library_sync, library_history, scenarios, scenario_history, rejects } = STORED_ROWS[source];
  const read = async (connection: Connection) => {
    const rows = async <Row extends object>(columns: string, table: string, rest = "") => {
      const sql = `SELECT ${columns} FROM ${table} t WHERE owner = $1 AND library_name = $2 ${rest}`;
      return (await connection.query<Row>(sql, [key.owner, key.name])).rows;
    };
    const row = async <Row extends object>(columns: string, table: string) =>
      (await rows<Row>(columns, table))[0] ?? null;
    const count = async (table: string, condition = "true") =>
      oneRow({ rows: await rows<{ count: number }>("count(*) AS count", table, `AND ${condition}`) }).count;
    const open = await count(rejects, "resolved_at IS NULL");
    return {
      key,
      source,
      now: await readNow(connection),
      lastGoodRun: await readLastGoodRun(connection, source),
      stored: await readStoredLibrary(connection, key, source),
      library: await row<LibraryFacts>(
        'last_modified AS "lastModified", first_seen_at AS "firstSeenAt", changed_at AS "changedAt", removed_at AS "removedAt"',
        libraries,
      ),
      reads: (await row<ReadFacts>(
        'last_error AS "lastError", last_failed_at AS "lastFailedAt", last_success_at AS "lastSuccessAt"',
        library_sync,
      )) ?? { lastError: null, lastFailedAt: null, lastSuccessAt: null },
      scenarios: await count(scenarios, "removed_at IS NULL"),
      versions: { library: await count(library_history), scenarios: await count(scenario_history) },
      rejects: {
        open,
        /** Null for a reader of the views, which show open rejects only. */
        resolved: source === "tables" ? (await count(rejects)) - open : null,
        shown: await rows<RejectFacts>(
          'kind, code, path, reason, first_seen_at AS "firstSeenAt", last_seen_at AS "lastSeenAt"',
          rejects,
          `AND resolved_at IS NULL ORDER BY last_seen_at DESC, kind, path LIMIT ${MAX_EVENTS}`,
        ),
      },
    };
  };
  return readSnapshot(pool, "reading what is stored of the library", read, signal);
}
