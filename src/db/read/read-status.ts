import { asc, count, gt, isNull, min, sql } from "drizzle-orm";
import { drizzle } from "drizzle-orm/node-postgres";
import type { SyncState } from "../../model.ts";
import { readNow } from "../clock.ts";
import { type Connection, oneRow, type Pool } from "../connect.ts";
import { librarySync, rejects } from "../schema.ts";
import { readSnapshot } from "../transaction.ts";
import { readHolder, readLastGoodRun, readRecentRuns } from "./recent-runs.ts";
import { streamStored } from "./stored-libraries.ts";

const MAX_RUNS = 10;
/** How many failing libraries, and how many groups of rejects, are read; of the others only their number. */
const MAX_SHOWN = 20;

export type StatusRows = Awaited<ReturnType<typeof readStatus>>;

/** The last runs and the state of the copy, from one snapshot. `isSettled` judges a bookmark. */
export async function readStatus(pool: Pool, isSettled: (sync: SyncState) => boolean, signal: AbortSignal) {
  const read = async (connection: Connection) => {
    const now = await readNow(connection);
    const { scenarios, ...libraries } = await countLibraries(connection);
    return {
      now,
      runs: await readRecentRuns(connection, MAX_RUNS),
      lastGoodRun: await readLastGoodRun(connection),
      holder: await readHolder(connection),
      libraries: { ...libraries, settled: await countSettled(connection, isSettled) },
      scenarios,
      failing: await readFailing(connection),
      rejects: await readOpenRejects(connection),
    };
  };
  return readSnapshot(pool, "reading the status", read, signal);
}

/** Sums the scenario counts that the runs keep by library: there may be too many scenarios to count them. */
async function countLibraries(connection: Connection) {
  const result = await connection.query<{
    live: number;
    removed: number;
    neverStored: number;
    scenarios: number;
    oldestReadMs: number | null;
  }>(
    `SELECT count(*) FILTER (WHERE is_live) AS live, count(*) FILTER (WHERE removed_at IS NOT NULL) AS removed,
       count(*) FILTER (WHERE NOT is_stored) AS "neverStored",
       coalesce(sum(scenario_count) FILTER (WHERE is_live), 0)::int8 AS scenarios,
       (extract(epoch FROM min(content_read_at) FILTER (WHERE is_live)) * 1000)::float8 AS "oldestReadMs"
     FROM (SELECT l.owner IS NOT NULL AS is_stored, l.owner IS NOT NULL AND l.removed_at IS NULL AS is_live,
             l.removed_at, y.content_read_at, y.scenario_count
           FROM simcat.libraries l FULL JOIN simcat.library_sync y USING (owner, library_name)) AS library`,
  );
  const { oldestReadMs, ...counts } = oneRow(result);
  return { ...counts, oldestContentReadAt: oldestReadMs === null ? null : new Date(oldestReadMs) };
}

/** How many live libraries have a settled bookmark. */
async function countSettled(connection: Connection, isSettled: (sync: SyncState) => boolean): Promise<number> {
  let settled = 0;
  await streamStored(connection, ({ state, sync }) => {
    if (state === "live" && sync !== null && isSettled(sync)) settled++;
  });
  return settled;
}

/** Those without a good copy for longest first. */
async function readFailing(connection: Connection) {
  const isFailing = gt(librarySync.failures, 0);
  const shown = await drizzle(connection)
    .select({
      owner: librarySync.owner,
      name: librarySync.libraryName,
      failures: librarySync.failures,
      lastFailedAt: librarySync.lastFailedAt,
      lastSuccessAt: librarySync.lastSuccessAt,
      lastError: librarySync.lastError,
    })
    .from(librarySync)
    .where(isFailing)
    .orderBy(sql`${librarySync.lastSuccessAt} NULLS FIRST`, asc(librarySync.owner), asc(librarySync.libraryName))
    .limit(MAX_SHOWN);
  return { total: await drizzle(connection).$count(librarySync, isFailing), shown };
}

/** Grouped by library, kind and code; the largest groups first. */
async function readOpenRejects(connection: Connection) {
  const isOpen = isNull(rejects.resolvedAt);
  const groups = await drizzle(connection)
    .select({
      owner: rejects.owner,
      name: rejects.libraryName,
      kind: rejects.kind,
      code: rejects.code,
      count: count(),
      firstSeenAt: min(rejects.firstSeenAt),
      groups: sql<number>`count(*) OVER ()`.mapWith(Number),
    })
    .from(rejects)
    .where(isOpen)
    .groupBy(rejects.owner, rejects.libraryName, rejects.kind, rejects.code)
    .orderBy(sql`count(*) DESC`, asc(rejects.owner), asc(rejects.libraryName), asc(rejects.kind), asc(rejects.code))
    .limit(MAX_SHOWN);
  const total = await drizzle(connection).$count(rejects, isOpen);
  // The number of all groups is in each row; without a row there is none.
  return { total, groups: groups[0]?.groups ?? 0, shown: groups.map(({ groups: _, ...group }) => group) };
}
