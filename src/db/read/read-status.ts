import type { LibraryKey } from "../../model.ts";
import { readNow } from "../clock.ts";
import { type Connection, oneRow, type Pool } from "../connect.ts";
import { readSnapshot } from "../transaction.ts";
import { type ReadSource, STORED_ROWS } from "./read-source.ts";
import {
  readHolder,
  readLastGoodRun,
  readLiveRuns,
  readRecentRuns,
  readSeenAsOf,
  readSlicesSince,
} from "./recent-runs.ts";

const MAX_RUNS = 10;
/** How many failing libraries, and how many groups of rejects, are read; of the others only their number. */
const MAX_SHOWN = 20;

export type StatusRows = Awaited<ReturnType<typeof readStatus>>;

/** The last runs and the state of the copy, from one snapshot. */
export async function readStatus(pool: Pool, source: ReadSource, signal: AbortSignal) {
  const read = async (connection: Connection) => {
    const now = await readNow(connection);
    const lastGoodRun = await readLastGoodRun(connection, source);
    return {
      ...(await readCopyCounts(connection, source)),
      now,
      runs: await readRecentRuns(connection, MAX_RUNS, source),
      liveRuns: await readLiveRuns(connection, source),
      lastGoodRun,
      seenAsOf: await readSeenAsOf(connection, source),
      slices: await readSlicesSince(connection, lastGoodRun?.id ?? 0, source),
      holder: await readHolder(connection, source),
    };
  };
  return readSnapshot(pool, "reading the status", read, signal);
}

/** The state of the copy, without a look at each library. */
export async function readCopyCounts(connection: Connection, source: ReadSource) {
  const { scenarios, ...libraries } = await countLibraries(connection, source);
  return {
    libraries,
    scenarios,
    failing: await readFailing(connection, source),
    rejects: await readOpenRejects(connection, source),
  };
}

/** Sums the scenario counts that the runs keep by library: there may be too many scenarios to count them. */
async function countLibraries(connection: Connection, source: ReadSource) {
  const { libraries, library_sync } = STORED_ROWS[source];
  type Count = "live" | "removed" | "settled" | "neverStored" | "owing" | "scenarios";
  type Time = "oldestContentReadAt" | "cachedContentAsOf";
  const result = await connection.query<Record<Count, number> & Record<Time, Date | null>>(
    `SELECT count(*) FILTER (WHERE is_live) AS live, count(*) FILTER (WHERE removed_at IS NOT NULL) AS removed,
       count(*) FILTER (WHERE is_live AND is_settled) AS settled, count(*) FILTER (WHERE NOT is_stored) AS "neverStored",
       count(*) FILTER (WHERE reread_reason IS NOT NULL) AS owing,
       min(content_read_at) FILTER (WHERE is_live) AS "oldestContentReadAt",
       -- A settled date proves that cached content is the newest.
       min(greatest(content_as_of, 'epoch')) FILTER (WHERE is_live AND NOT is_settled AND reread_reason IS NULL AND content_as_of IS NOT NULL)
         AS "cachedContentAsOf",
       coalesce(sum(scenario_count) FILTER (WHERE is_live), 0)::int8 AS scenarios
     FROM (SELECT l.owner IS NOT NULL AS is_stored, l.owner IS NOT NULL AND l.removed_at IS NULL AS is_live,
             l.removed_at, y.content_read_at, y.content_as_of, y.scenario_count, y.reread_reason,
             y.listed_text = y.bookmark AND y.content_read_at > y.settles_at AND y.suspect_reads = 0
               AND y.reread_reason IS NULL AS is_settled
           FROM ${libraries} l FULL JOIN ${library_sync} y USING (owner, library_name)) AS library`,
  );
  return oneRow(result);
}

/** `last_error` without the name of the library, so that libraries that fail for the same reason have the same text. */
export const FAILURE_REASON = "regexp_replace(last_error, '(GET|HEAD|asked) \\S+?([;)]*)(?=\\s|$)', '\\1 …\\2', 'g')";

type FailureTime = "lastFailedAt" | "lastSuccessAt" | "bookmarkSeenAt" | "removalHeldAt";

export interface FailingLibrary extends LibraryKey, Readonly<Record<FailureTime, Date | null>> {
  readonly failures: number;
  readonly lastError: string | null;
  /** The error without the name of the library. */
  readonly reason?: string | null;
  /** How many libraries fail for this reason, including those that are not shown. */
  readonly alike?: number;
}

/** Those without a good copy for longest first. */
async function readFailing(connection: Connection, source: ReadSource) {
  // The views show no moment at which the date was first listed. The run that lists a new date tries the library at once.
  const seenAt = source === "tables" ? "bookmark_seen_at" : "NULL::timestamptz";
  const { rows } = await connection.query<FailingLibrary & { total: number }>(
    `SELECT owner, library_name AS name, failures, last_failed_at AS "lastFailedAt", last_success_at AS "lastSuccessAt",
       ${seenAt} AS "bookmarkSeenAt", last_error AS "lastError", removal_held_at AS "removalHeldAt",
       ${FAILURE_REASON} AS reason, count(*) OVER (PARTITION BY ${FAILURE_REASON}) AS alike, count(*) OVER () AS total
     FROM ${STORED_ROWS[source].library_sync} y WHERE failures > 0 ORDER BY last_success_at NULLS FIRST, owner, library_name LIMIT ${MAX_SHOWN}`,
  );
  return { total: rows[0]?.total ?? 0, shown: rows.map(({ total: _, ...library }) => library) };
}

/** Grouped by library, kind and code; the largest groups first. */
async function readOpenRejects(connection: Connection, source: ReadSource) {
  type Texts = Record<"kind" | "code", string> & Record<"owner" | "name", string | null>;
  type Counts = Record<"count" | "groups" | "total", number>;
  const { rows } = await connection.query<Texts & Counts & { firstSeenAt: Date | null }>(
    `SELECT owner, library_name AS name, kind, code, count(*) AS count, min(first_seen_at) AS "firstSeenAt",
       count(*) OVER () AS groups, (sum(count(*)) OVER ())::int8 AS total
     FROM ${STORED_ROWS[source].rejects} r WHERE resolved_at IS NULL GROUP BY owner, library_name, kind, code
     ORDER BY count(*) DESC, owner, library_name, kind, code LIMIT ${MAX_SHOWN}`,
  );
  // The numbers of all groups and rejects are in each row; without a row there are none.
  const { total = 0, groups = 0 } = rows[0] ?? {};
  return { total, groups, shown: rows.map(({ groups: _, total: __, ...group }) => group) };
}
