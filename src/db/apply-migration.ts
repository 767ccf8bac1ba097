import type { MigrationMeta } from "drizzle-orm/migrator";
import { DAY_MS } from "../units.ts";
import { type Connection, type Pool, within } from "./connect.ts";
import { ANNOUNCE_AFTER_MS } from "./retry-transient.ts";
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
  await createSchema(connection, "simcat_migrations");
  await connection.query(
    `CREATE TABLE IF NOT EXISTS ${JOURNAL} (id serial PRIMARY KEY, hash text NOT NULL, created_at bigint)`,
  );
}

/** Records in the journal that a migration was applied. */
export async function saveMigration(connection: Connection, { hash, folderMillis }: MigrationMeta): Promise<void> {
  await connection.query(`INSERT INTO ${JOURNAL} (hash, created_at) VALUES ($1, $2)`, [hash, folderMillis]);
}

/** Records this migration alone, because it replaced all that were applied. */
export async function replaceJournal(connection: Connection, baseline: MigrationMeta): Promise<void> {
  await connection.query(`DELETE FROM ${JOURNAL}`);
  await saveMigration(connection, baseline);
}

/**
 * Builds the indexes of a migration on a second connection, outside of a transaction. This may take hours on a
 * large table. `connection` holds the migration's lock meanwhile. The build does not wait for its transaction, which has no
 * snapshot between two statements.
 */
export async function buildIndexes(connection: Connection, pool: Pool, { sql }: MigrationMeta): Promise<void> {
  await connection.query("SET LOCAL idle_in_transaction_session_timeout = 0");
  const builder = await pool.connect();
  try {
    await builder.query("SET statement_timeout = 0; SET lock_timeout = 0");
    for (const statement of sql) {
      const [name = "of a migration"] = /(?<=INDEX CONCURRENTLY (?:IF NOT EXISTS )?"?)\w+/.exec(statement) ?? [];
      const message = `building the index ${name}; this may take hours on a large table, and other work on it goes on`;
      const announcing = setTimeout(() => pool.announce({ code: "waiting_for_index", message }), ANNOUNCE_AFTER_MS);
      await buildIndex(builder, statement).finally(() => clearTimeout(announcing));
    }
    // A pooler gives this session to another client afterwards.
    await builder.query("RESET statement_timeout; RESET lock_timeout");
  } finally {
    builder.release(true);
  }
}

/** Builds the index unless it exists. Drops the invalid index of an interrupted build first. */
async function buildIndex(builder: Connection, statement: string): Promise<void> {
  const [, name, schema] =
    /CREATE (?:UNIQUE )?INDEX CONCURRENTLY (?:IF NOT EXISTS )?"?(\w+)"? ON "?(\w+)"?\./.exec(statement) ?? [];
  if (name !== undefined) {
    const index = `${schema}."${name}"`;
    const { rows } = await builder.query<{ isValid: boolean }>(
      `SELECT indisvalid AS "isValid" FROM pg_index WHERE indexrelid = to_regclass($1)`,
      [index],
    );
    if (rows[0]?.isValid === true) return;
    if (rows[0]?.isValid === false) await builder.query(within(DAY_MS, `DROP INDEX CONCURRENTLY ${index}`));
  }
  await builder.query(within(DAY_MS, statement));
}
