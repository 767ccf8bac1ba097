import type { Connection } from "./connect.ts";
import { SCHEMAS } from "./schema-names.ts";

/**
 * By default `search_path` begins with the schema that is named like the role. A role with the name of the schema of the tables
 * would therefore read tables where it asks for views of the same name. The role gets a `search_path` for this database,
 * unless the role or the database has one without `"$user"`. Without the privilege, nothing happens.
 */
export async function setSearchPath(connection: Connection): Promise<void> {
  await connection.query(`DO $$ BEGIN
    IF to_regrole('${SCHEMAS.tables}') IS NOT NULL AND NOT EXISTS (
      SELECT FROM pg_db_role_setting, unnest(setconfig) AS setting
      WHERE setrole IN (0, to_regrole('${SCHEMAS.tables}')::oid)
        AND setdatabase IN (0, (SELECT oid FROM pg_database WHERE datname = current_database()))
        AND setting ~ '^search_path=' AND setting NOT LIKE '%$user%'
    ) THEN
      EXECUTE format('ALTER ROLE ${SCHEMAS.tables} IN DATABASE %I SET search_path = ${SCHEMAS.views}, public', current_database());
    END IF;
  EXCEPTION WHEN insufficient_privilege THEN NULL;
  END $$`);
}
