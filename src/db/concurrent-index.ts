import type { MigrationMeta } from "drizzle-orm/migrator";
import { DAY_MS } from "../units.ts";
import { type Connection, type Pool, within } from "./connect.ts";

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
    for (const statement of sql) await buildIndex(builder, statement);
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
