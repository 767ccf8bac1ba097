import { asc, count, gt, isNull, min, sql } from "drizzle-orm";
import { drizzle } from "drizzle-orm/node-postgres";
import type { SyncState } from "../../model.ts";
import type { Connection, Pool } from "../connect.ts";
import { librarySync, rejects } from "../schema.ts";
import { readNow, readSnapshot } from "../snapshot.ts";
import { countSettled } from "./count-settled.ts";
import { readHolder, readLastGoodRun, readRecentRuns } from "./recent-runs.ts";

/** So many are told one by one; of the rest there is the number. */
const RUNS = 10;
const SHOWN = 20;

export type StatusRows = Awaited<ReturnType<typeof readStatus>>;

/** What the database knows of the runs and of the copy's state, at one moment. `isSettled` judges a bookmark. */
export async function readStatus(pool: Pool, isSettled: (sync: SyncState) => boolean, signal: AbortSignal) {
  const read = async (connection: Connection) => {
    const now = await readNow(connection);
    const { scenarios, ...libraries } = await countLibraries(connection);
    return {
      now,
      runs: await readRecentRuns(connection, RUNS),
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

/** Live scenarios are summed by library, as the runs have counted them: there may be too many to count again. */
async function countLibraries(connection: Connection) {
  const { rows } = await connection.query<{
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
           FROM simcat.libraries l FULL JOIN simcat.library_sync y USING (owner, library_name)) AS one`,
  );
  const { oldestReadMs, ...counts } = rows[0] ?? NO_LIBRARIES;
  return { ...counts, oldestContentReadAt: oldestReadMs === null ? null : new Date(oldestReadMs) };
}

const NO_LIBRARIES = { live: 0, removed: 0, neverStored: 0, scenarios: 0, oldestReadMs: null };

/** The longest without a good copy first. */
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
    .limit(SHOWN);
  return { total: await drizzle(connection).$count(librarySync, isFailing), shown };
}

/** Grouped by library, kind and code; the most numerous first. */
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
    .limit(SHOWN);
  const total = await drizzle(connection).$count(rejects, isOpen);
  return { total, groups: groups[0]?.groups ?? 0, shown: groups.map(({ groups: _, ...group }) => group) };
}
