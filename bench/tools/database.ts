import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Pool } from "../../src/db/connect.ts";
import { connect, disconnect, migrate, openEmbeddedPostgres } from "../built.ts";

export interface Database {
  readonly url: string;
  readonly pool: Pool;
  /** Empties all tables and forces a checkpoint, so that no round writes the pages of an earlier one. */
  reset(): Promise<void>;
  /** The newest transaction that wrote a row of these tables: it stays the same while nothing is written. */
  newestWrite(tables: readonly string[]): Promise<string>;
}

const TABLES = `
SELECT string_agg(format('simcat.%I', tablename), ', ') AS tables FROM pg_tables
WHERE schemaname = 'simcat' AND tablename <> 'leases'`;

const never = new AbortController().signal;

/** Starts a Postgres for the benches, with default durability, and calls `work` with its URL. */
export async function withServer<T>(work: (url: string) => Promise<T>): Promise<T> {
  const stateDir = join(tmpdir(), `simcat-bench-${process.pid}`);
  const embedded = await openEmbeddedPostgres({ stateDir, environment: process.env, superuser: true }, never);
  try {
    await migrate(embedded.url, never);
    return await work(embedded.url);
  } finally {
    await embedded.stop();
    await rm(stateDir, { recursive: true, force: true });
  }
}

export async function withDatabase<T>(url: string, work: (database: Database) => Promise<T>): Promise<T> {
  const pool = await connect(url, {}, never);
  try {
    return await work(toDatabase(url, pool));
  } finally {
    await disconnect(pool);
  }
}

function toDatabase(url: string, pool: Pool): Database {
  return {
    url,
    pool,
    async reset() {
      const { rows } = await pool.query<{ tables: string }>(TABLES);
      await pool.query(`TRUNCATE ${rows[0]?.tables}`);
      await pool.query("CHECKPOINT");
    },
    async newestWrite(tables) {
      const newest = tables.map((table) => `(SELECT max(xmin::text::int8) FROM simcat.${table})::text`);
      const { rows } = await pool.query<{ newest: string }>(`SELECT concat_ws(' ', ${newest.join(", ")}) AS newest`);
      return rows[0]?.newest ?? "";
    },
  };
}
