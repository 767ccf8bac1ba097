import type { MigrationMeta } from "drizzle-orm/migrator";
import type { Connection } from "./connect.ts";
import { SCHEMAS } from "./schema-names.ts";
import { JOURNAL } from "./schema-state.ts";

const CONCURRENTLY = /\bINDEX CONCURRENTLY\b/;

/** Whether a migration builds an index concurrently, which no transaction may do. */
export const isConcurrent = ({ sql }: MigrationMeta) => sql.some((statement) => CONCURRENTLY.test(statement));

/** Runs a migration's statements in the caller's transaction. Builds its indexes there too, not concurrently. */
export async function runStatements(connection: Connection, { sql }: MigrationMeta): Promise<void> {
  for (const statement of sql) {
    const schema = /^(?:--.*\n|\s)*CREATE SCHEMA IF NOT EXISTS "?(\w+)"?;?\s*$/.exec(statement)?.[1];
    if (schema === undefined) await connection.query(statement.replace(CONCURRENTLY, "INDEX"));
    else await createSchema(connection, schema);
  }
}

/**
 * Creates the schema if it is missing. IF NOT EXISTS demands CREATE on the database even if the schema exists.
 * @returns whether it was missing
 */
export async function createSchema(connection: Connection, name: string): Promise<boolean> {
  const { rowCount } = await connection.query("SELECT FROM pg_namespace WHERE nspname = $1", [name]);
  if (rowCount !== 0) return false;
  await connection.query(`CREATE SCHEMA ${name}`);
  return true;
}

export async function createJournal(connection: Connection): Promise<void> {
  await createSchema(connection, SCHEMAS.journal);
  await connection.query(
    `CREATE TABLE IF NOT EXISTS ${JOURNAL} (id serial PRIMARY KEY, hash text NOT NULL, created_at bigint)`,
  );
}

/** Records in the journal that a migration was applied. */
export async function recordMigration(connection: Connection, { hash, folderMillis }: MigrationMeta): Promise<void> {
  await connection.query(`INSERT INTO ${JOURNAL} (hash, created_at) VALUES ($1, $2)`, [hash, folderMillis]);
}
