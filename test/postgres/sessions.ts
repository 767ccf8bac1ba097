import type pg from "pg";
import { expect, onTestFinished, vi } from "vitest";
import type { Query } from "../process/service-rows.ts";
import type { TestDatabase } from "../support/database.ts";

/** simcat's sessions in this database that match the condition on `pg_stat_activity`. */
export function sessionsWhere(query: Query, condition: string) {
  return query<{ pid: number; state: string; query: string }>(
    `SELECT pid, state, query FROM pg_stat_activity
     WHERE datname = current_database() AND application_name = 'simcat' AND (${condition})`,
  );
}

/** Waits until there is such a session. */
export function untilSession(query: Query, condition: string) {
  return vi.waitFor(
    async () => {
      const [session] = await sessionsWhere(query, condition);
      expect(session, `a session of simcat's where ${condition}`).toBeDefined();
      if (session === undefined) throw new Error("none");
      return session;
    },
    { timeout: 25_000, interval: 15 },
  );
}

export const WAITS_FOR_LOCK = "wait_event_type = 'Lock'";

/** Begins a transaction with these statements. Its locks are held until it ends, at the latest after the test. */
export async function holdLocks({ pool }: TestDatabase, statements: string): Promise<pg.PoolClient> {
  const holder = await pool.connect();
  onTestFinished(() => holder.release());
  await holder.query(`BEGIN; ${statements}`);
  return holder;
}
