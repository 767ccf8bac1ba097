import { and, desc, gt, inArray, isNull, sql } from "drizzle-orm";
import { drizzle } from "drizzle-orm/node-postgres";
import type { RunStatus } from "../../model.ts";
import type { Connection } from "../connect.ts";
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

/** The newest first. */
export async function readRecentRuns(connection: Connection, limit: number) {
  return drizzle(connection).select(RUN).from(syncRuns).orderBy(desc(syncRuns.id)).limit(limit);
}

/** The newest run over everything that came to its end; null before the first. */
export async function readLastGoodRun(connection: Connection): Promise<RunRow | null> {
  const isGood = inArray(syncRuns.status, ["ok", "partial", "held"] satisfies RunStatus[]);
  const [run] = await drizzle(connection)
    .select(RUN)
    .from(syncRuns)
    .where(and(isNull(syncRuns.scope), isGood))
    .orderBy(desc(syncRuns.id))
    .limit(1);
  return run ?? null;
}

/** Who holds the lease; null when nobody does, so that a run that is still `running` is dead. */
export async function readHolder(connection: Connection): Promise<string | null> {
  const [lease] = await drizzle(connection)
    .select({ holder: leases.holder })
    .from(leases)
    .where(gt(leases.expiresAt, sql`clock_timestamp()`));
  return lease?.holder ?? null;
}
