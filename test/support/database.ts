import { randomUUID } from "node:crypto";
import pg from "pg";
import { afterAll, beforeAll, inject, onTestFinished } from "vitest";

export type TestDatabase = Awaited<ReturnType<typeof createTestDatabase>>;

interface TestDatabaseOptions {
  /** Without the project's schema. */
  readonly empty?: boolean;
  /** The database to clone, if it is not the one with the project's schema and no rows. */
  readonly template?: string | undefined;
}

/** Any constant: clones are made one at a time, because each needs the template exclusively. */
const CLONE_LOCK = 4_417_300_209;

/** A separate database. The caller drops it. */
export async function createTestDatabase({ empty = false, template }: TestDatabaseOptions = {}) {
  const { url: adminUrl, template: schema, prefix } = inject("testDatabases");
  const name = prefix + randomUUID().replaceAll("-", "").slice(0, 12);
  await withClient(adminUrl, async (admin) => {
    await admin.query("SELECT pg_advisory_lock($1)", [CLONE_LOCK]);
    await admin.query(`CREATE DATABASE ${name} TEMPLATE ${template ?? (empty ? "template0" : schema)}`);
  });
  const url = new URL(adminUrl);
  url.pathname = `/${name}`;
  const pool = new pg.Pool({ connectionString: url.href, max: 10 });
  pool.on("error", () => {}); // Tests cut connections on purpose; the user of a connection receives the error.
  return {
    name,
    url: url.href,
    pool,
    query: async <T = Record<string, unknown>>(sql: string, parameters: readonly unknown[] = []) =>
      (await pool.query(sql, [...parameters])).rows as T[],
    /** Each row as one text: its values with blanks between them. For texts, numbers and booleans; NULL is `NULL`. */
    lines: async (text: string, parameters: readonly unknown[] = []) => {
      const { rows } = await pool.query<unknown[]>({ text, values: [...parameters], rowMode: "array" });
      return rows.map((row) => row.map((value) => value ?? "NULL").join(" "));
    },
    /** Fails when a connection of the pool was not released. */
    drop: async () => {
      const kept = pool.totalCount - pool.idleCount;
      const ended = pool.end();
      await withClient(adminUrl, (admin) => admin.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`));
      // Waiting for the pool would never end.
      if (kept > 0) throw new Error(`${kept} connections of the test's pool were not given back`);
      await ended;
    },
  };
}

/** One database for a test file, shared by its tests. */
export function useTestDatabase(options: TestDatabaseOptions = {}): () => TestDatabase {
  let database: TestDatabase | undefined;
  beforeAll(async () => {
    database = await createTestDatabase(options);
  });
  afterAll(() => database?.drop());
  return () => {
    if (database === undefined) throw new Error("the test database is there in tests and in hooks after this one only");
    return database;
  };
}

/** A database for a single test. */
export async function freshTestDatabase(options: TestDatabaseOptions = {}): Promise<TestDatabase> {
  const database = await createTestDatabase(options);
  onTestFinished(() => database.drop());
  return database;
}

/** Calls `work` in a transaction that begins with these statements, and undoes all. */
export async function inUndone<T>(
  { pool }: TestDatabase,
  statements: string,
  work: (client: pg.PoolClient) => Promise<T>,
): Promise<T> {
  const client = await pool.connect();
  try {
    await client.query(`BEGIN; ${statements}`);
    return await work(client);
  } finally {
    await client.query("ROLLBACK");
    client.release();
  }
}

/** Calls `work` with a session of its own. */
export async function withClient<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: url });
  client.on("error", () => {});
  try {
    await client.connect();
    return await work(client);
  } finally {
    await client.end();
  }
}
