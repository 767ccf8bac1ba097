import { and, desc, eq, gt, sql } from "drizzle-orm";
import { drizzle } from "drizzle-orm/node-postgres";
import type { RunStatus } from "../../run-report.ts";
import type { Connection } from "../connect.ts";
import { isGoodRun, type RunScope, SYNC_LEASE, WHOLE_SCOPE } from "../runs.ts";
import { leases, syncRuns } from "../schema.ts";

const RUN = {
  id: syncRuns.id,
  kind: syncRuns.kind,
  scope: syncRuns.scope,
  status: sql<RunStatus>`${syncRuns.status}`,
  startedAt: syncRuns.startedAt,
  finishedAt: syncRuns.finishedAt,
  read: syncRuns.librariesRead,
  skipped: syncRuns.librariesSkipped,
  changed: syncRuns.librariesChanged,
  failed: syncRuns.librariesFailed,
  removed: syncRuns.librariesRemoved,
  error: syncRuns.error,
};

export type RunRow = Awaited<ReturnType<typeof readRecentRuns>>[number];

/** Newest first. */
export async function readRecentRuns(connection: Connection, limit: number) {
  return drizzle(connection).select(RUN).from(syncRuns).orderBy(desc(syncRuns.id)).limit(limit);
}

/** The newest completed run of this scope; null if there is none. */
export async function readLastGoodRun(
  connection: Connection,
  scope: RunScope | null = WHOLE_SCOPE,
): Promise<RunRow | null> {
  const [run] = await drizzle(connection)
    .select(RUN)
    .from(syncRuns)
    .where(isGoodRun(scope))
    .orderBy(desc(syncRuns.id))
    .limit(1);
  return run ?? null;
}

/** The holder of the lease; null without one: a run that is still `running` is dead then. */
export async function readHolder(connection: Connection, leaseName = SYNC_LEASE): Promise<string | null> {
  const [lease] = await drizzle(connection)
    .select({ holder: leases.holder })
    .from(leases)
    .where(and(eq(leases.name, leaseName), gt(leases.expiresAt, sql`clock_timestamp()`)));
  return lease?.holder ?? null;
}
