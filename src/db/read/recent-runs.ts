import type { RunStatus } from "../../run-summary.ts";
import { isInSliceSql, SLICE_HASH_SQL } from "../../slice.ts";
import type { Connection } from "../connect.ts";
import { SAW_EVERYTHING } from "../history-began-at.ts";
import { leaseOfScopeSql } from "../lease-names.ts";
import { IS_GOOD, type Scope } from "../runs.ts";
import type { syncRuns } from "../schema.ts";
import { type ReadSource, STORED_ROWS } from "./read-source.ts";

/** A run. The counts are of libraries: null before the run has ended; of an abandoned one, only `read` and `failed` are known. */
export interface RunRow
  extends Pick<typeof syncRuns.$inferSelect, "id" | "kind" | "startedAt" | "finishedAt" | "error">,
    Readonly<Record<"read" | "skipped" | "changed" | "failed" | "removed", number | null>> {
  readonly scope: Scope | null;
  readonly status: RunStatus;
  /** Until now if it has not ended. If its process died, until that was noticed, because nothing records when it died. */
  readonly durationMs: number;
  /** It is still marked as running, but its lease has expired. Null if that is not known: no view shows the leases. */
  readonly isDead: boolean | null;
}

/** The holder of the live lease of a run `r`. */
const LIVE_LEASE = `SELECT holder FROM simcat.leases
  WHERE name = ${leaseOfScopeSql("r.scope")} AND expires_at > clock_timestamp()`;

const countUnless = (states: string, count: string) =>
  `CASE WHEN status NOT IN (${states}) THEN libraries_${count} END AS ${count}`;

/** Not until now(), because a run may begin after the transaction that reads it. 0 if the clock was set back meanwhile. */
const TOOK_MS = "greatest(0, extract(epoch FROM coalesce(finished_at, clock_timestamp()) - started_at) * 1000)::int8";

const selectRuns = (source: ReadSource, condition: string) => `
SELECT id, kind, scope, status, ${source === "views" ? "CASE WHEN status <> 'running' THEN false END" : `status = 'running' AND NOT EXISTS (${LIVE_LEASE})`} AS "isDead",
  started_at AS "startedAt", finished_at AS "finishedAt",
  ${TOOK_MS} AS "durationMs", ${["read", "failed"].map((count) => countUnless("'running'", count))},
  ${["skipped", "changed", "removed"].map((count) => countUnless("'running', 'abandoned'", count))}, error
FROM ${STORED_ROWS[source].sync_runs} r WHERE ${condition} ORDER BY id DESC`;

/** The newest runs, the newest one of all libraries, and all running ones, newest first. */
export async function readRecentRuns(connection: Connection, limit: number, source: ReadSource): Promise<RunRow[]> {
  const runs = STORED_ROWS[source].sync_runs;
  const isNew = `id IN (SELECT id FROM ${runs} n ORDER BY id DESC LIMIT $1)`;
  const isNewestWhole = `id = (SELECT max(id) FROM ${runs} n WHERE scope IS NULL)`;
  const shown = `${isNew} OR ${isNewestWhole} OR status = 'running'`;
  return (await connection.query<RunRow>(selectRuns(source, shown), [limit])).rows;
}

/** The newest good run over the whole organization; null if there is none. */
export async function readLastGoodRun(connection: Connection, source: ReadSource): Promise<RunRow | null> {
  const { rows } = await connection.query<RunRow>(`${selectRuns(source, `scope IS NULL AND ${IS_GOOD}`)} LIMIT 1`);
  return rows[0] ?? null;
}

/** The time as of which the last run that saw everything saw it: its start, or when a cache had stored its listing. Null before it. */
export async function readSeenAsOf(connection: Connection, source: ReadSource): Promise<Date | null> {
  const { rows } = await connection.query<{ seenAsOf: Date }>(
    `SELECT least(started_at, listing_as_of) AS "seenAsOf" FROM ${STORED_ROWS[source].sync_runs} r
     WHERE ${SAW_EVERYTHING} ORDER BY id DESC LIMIT 1`,
  );
  return rows[0]?.seenAsOf ?? null;
}

/** The slices that were read since a run, by good runs; such as 3/8. */
export async function readSlicesSince(connection: Connection, id: number, source: ReadSource): Promise<string[]> {
  const { rows } = await connection.query<{ slice: string }>(
    `SELECT DISTINCT scope->>'slice' AS slice FROM ${STORED_ROWS[source].sync_runs} r
     WHERE id > $1 AND scope->>'slice' IS NOT NULL AND ${IS_GOOD}`,
    [id],
  );
  return rows.map(({ slice }) => slice);
}

/** A run whose lease is live. */
export interface LiveRun {
  readonly id: number;
  readonly holder: string;
  /** How many libraries it has read so far, of those that are known and not removed, in its slice or in all. */
  readonly read: number;
  readonly known: number;
}

/** The runs in progress, by their ids. */
export async function readLiveRuns(connection: Connection, source: ReadSource): Promise<ReadonlyMap<number, LiveRun>> {
  // OFFSET 0 computes the hash of each key once.
  const { rows } = await connection.query<LiveRun>(`
    WITH live AS (
      SELECT * FROM (
        SELECT id, scope->>'slice' AS slice, started_at, ${source === "views" ? `'${NOT_VISIBLE}'` : `(${LIVE_LEASE})`} AS holder
        FROM ${STORED_ROWS[source].sync_runs} r WHERE status = 'running'
      ) AS running WHERE holder IS NOT NULL
    )
    SELECT id, holder, count(content_read_at) FILTER (WHERE content_read_at >= started_at) AS read, count(part) AS known
    FROM live LEFT JOIN (
      SELECT content_read_at, ${SLICE_HASH_SQL} AS part FROM ${STORED_ROWS[source].library_sync} y
      WHERE EXISTS (SELECT FROM live) AND NOT EXISTS (
        SELECT FROM ${STORED_ROWS[source].libraries} l
        WHERE l.owner = y.owner AND l.library_name = y.library_name AND l.removed_at IS NOT NULL
      ) OFFSET 0
    ) AS library
    ON slice IS NULL OR ${isInSliceSql("slice", "part")}
    GROUP BY id, holder`);
  return new Map(rows.map((run) => [run.id, run]));
}

const NOT_VISIBLE = "not visible";

/** The holder of a live lease, which may be a `prune`; null if there is none. */
export async function readHolder(connection: Connection, source: ReadSource): Promise<string | null> {
  if (source === "views") return NOT_VISIBLE;
  const { rows } = await connection.query<{ holder: string }>(
    "SELECT holder FROM simcat.leases WHERE expires_at > clock_timestamp() ORDER BY name LIMIT 1",
  );
  return rows[0]?.holder ?? null;
}

/** The ends of the newest runs of everything after the run `after`, oldest first, with their age in milliseconds. */
export async function readRunEnds(connection: Connection, after: number) {
  const { rows } = await connection.query<{ id: number; status: RunStatus; isGood: boolean; ageMs: number }>(
    `SELECT id, status, ${IS_GOOD} AS "isGood", (extract(epoch FROM now() - finished_at) * 1000)::float8 AS "ageMs"
     FROM simcat.sync_runs WHERE scope IS NULL AND finished_at IS NOT NULL AND id > $1 ORDER BY id DESC LIMIT ${MAX_RUN_ENDS}`,
    [after],
  );
  return rows.reverse();
}

/** Enough to derive which states were reported: a state that lasts longer was. */
const MAX_RUN_ENDS = 500;
