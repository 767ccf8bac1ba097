import type { MigrationMeta } from "drizzle-orm/migrator";
import { createSchema, runStatements } from "./apply-migration.ts";
import type { Connection } from "./connect.ts";

/** Statements that create a view or function of schema `simcat_report` and its comments; for the schema only its comment. */
interface ViewDefinition {
  /** Such as `view simcat_report.libraries`. */
  readonly name: string;
  readonly statements: readonly string[];
}

/**
 * Ordered so that each one uses only earlier ones. The order of creation is not enough: a later migration may make an old view
 * use a new function.
 */
const SELECT_DEFINITIONS = `
WITH RECURSIVE object AS (
  SELECT oid, 'SCHEMA' AS kind, nspname::text AS name, NULL AS definition FROM pg_namespace WHERE nspname = 'simcat_report'
  UNION ALL
  SELECT oid, 'VIEW', 'simcat_report.' || quote_ident(relname),
    'CREATE VIEW simcat_report.' || quote_ident(relname) || ' AS ' || pg_get_viewdef(oid)
  FROM pg_class WHERE relnamespace = 'simcat_report'::regnamespace AND relkind = 'v'
  UNION ALL
  SELECT oid, 'FUNCTION', 'simcat_report.' || quote_ident(proname) || '(' || oidvectortypes(proargtypes) || ')',
    pg_get_functiondef(oid)
  FROM pg_proc WHERE pronamespace = 'simcat_report'::regnamespace
), uses AS (
  SELECT r.ev_class AS oid, d.refobjid AS used
  FROM pg_depend d JOIN pg_rewrite r ON r.oid = d.objid WHERE d.classid = 'pg_rewrite'::regclass
  UNION
  -- A function that returns a view's rows uses its type.
  SELECT d.objid, coalesce(nullif(t.typrelid, 0), d.refobjid)
  FROM pg_depend d LEFT JOIN pg_type t ON t.oid = d.refobjid AND d.refclassid = 'pg_type'::regclass
  WHERE d.classid = 'pg_proc'::regclass
), level AS (
  SELECT oid, 0 AS level FROM object
  UNION
  SELECT u.oid, l.level + 1 FROM level l JOIN uses u ON u.used = l.oid JOIN object o ON o.oid = u.oid WHERE u.oid <> u.used
)
SELECT lower(kind) || ' ' || name AS name, array_remove(ARRAY[definition], NULL) || ARRAY(
    SELECT CASE d.objsubid WHEN 0 THEN format('COMMENT ON %s %s IS %L', o.kind, o.name, d.description)
      ELSE format('COMMENT ON COLUMN %s.%I IS %L', o.name, a.attname, d.description) END
    FROM pg_description d LEFT JOIN pg_attribute a ON a.attrelid = d.objoid AND a.attnum = d.objsubid
    WHERE d.objoid = o.oid AND d.classoid IN ('pg_class'::regclass, 'pg_proc'::regclass, 'pg_namespace'::regclass) ORDER BY d.objsubid
  ) AS statements
FROM object o ORDER BY (SELECT max(l.level) FROM level l WHERE l.oid = o.oid), oid`;

/** Creates these views and functions again, in the caller's transaction. */
export async function recreateViews(
  connection: Connection,
  migrations: readonly MigrationMeta[],
  names: readonly string[],
): Promise<void> {
  if (names.length === 0) return;
  const missing = new Set(names);
  const definitions = await readDefinitions(connection, migrations);
  if (await createSchema(connection, "simcat_report")) missing.add("schema simcat_report");
  for (const { statements } of definitions.filter(({ name }) => missing.has(name))) {
    for (const statement of statements) await connection.query(statement);
  }
}

/**
 * Reads the definitions that all migrations together lead to. A single migration's view may use a column that a later one
 * renamed. So the schemas are set aside, the migrations build new ones, and after reading all of that is rolled back.
 */
async function readDefinitions(
  connection: Connection,
  migrations: readonly MigrationMeta[],
): Promise<readonly ViewDefinition[]> {
  await connection.query("SAVEPOINT set_aside");
  const { rows: schemas } = await connection.query<{ name: string }>(
    "SELECT nspname AS name FROM pg_namespace WHERE nspname IN ('simcat', 'simcat_report')",
  );
  for (const { name } of schemas) await connection.query(`ALTER SCHEMA ${name} RENAME TO ${name}_set_aside`);
  for (const migration of migrations) await runStatements(connection, migration);
  const { rows } = await connection.query<ViewDefinition>(SELECT_DEFINITIONS);
  await connection.query("ROLLBACK TO SAVEPOINT set_aside");
  return rows;
}
