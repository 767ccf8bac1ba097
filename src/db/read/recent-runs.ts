import type { RunStatus } from "../../run-summary.ts";
import type { Connection } from "../connect.ts";
import { IS_GOOD, type Scope, SYNC_LEASE } from "../runs.ts";
import { type ReadSource, STORED_ROWS } from "./read-source.ts";

export interface RunRow {
  readonly id: number;
  readonly kind: string;
  readonly scope: Scope | null;
  readonly status: RunStatus;
  readonly startedAt: Date;
  readonly finishedAt: Date | null;
  /** Numbers of libraries. */
  readonly read: number;
  readonly skipped: number;
  readonly changed: number;
  readonly failed: number;
  readonly removed: number;
  readonly error: string | null;
}

const selectRuns = (source: ReadSource, condition: string) => `
SELECT id, kind, scope, status, started_at AS "startedAt", finished_at AS "finishedAt", libraries_read AS read,
  libraries_skipped AS skipped, libraries_changed AS changed, libraries_failed AS failed, libraries_removed AS removed, error
FROM ${STORED_ROWS[source].sync_runs} r WHERE ${condition} ORDER BY id DESC LIMIT $1`;

/** Newest first. */
export async function readRecentRuns(
  connection: Connection,
  limit: number,
  source: ReadSource = "tables",
): Promise<RunRow[]> {
  return (await connection.query<RunRow>(selectRuns(source, "true"), [limit])).rows;
}

/** The newest good run over the whole organization; null if there is none. */
export async function readLastGoodRun(connection: Connection, source: ReadSource = "tables"): Promise<RunRow | null> {
  const { rows } = await connection.query<RunRow>(selectRuns(source, `scope IS NULL AND ${IS_GOOD}`), [1]);
  return rows[0] ?? null;
}

/**
 * The holder of the lease; null without one: a run that is still `running` is dead then. No view shows the lease, so for a
 * reader of the views a run in progress counts as alive.
 */
export async function readHolder(connection: Connection, source: ReadSource): Promise<string | null> {
  if (source === "views") return "not visible";
  const { rows } = await connection.query<{ holder: string }>(
    "SELECT holder FROM simcat.leases WHERE name = $1 AND expires_at > clock_timestamp()",
    [SYNC_LEASE],
  );
  return rows[0]?.holder ?? null;
}
