import type { Connection, Pool } from "./connect.ts";

/** A privilege that a role lacks, and the statement that grants it. */
export interface Lack {
  readonly what: string;
  readonly grant: string;
  /** Without the privilege, even the schema's version cannot be read. */
  readonly hidesVersion: boolean;
}

/** Privileges that a run needs and the role lacks, read from the catalogue. */
const FOR_RUNS = `
WITH tables AS (
  SELECT c.oid, n.nspname AS schema, c.relname AS name, count(*) OVER (PARTITION BY n.nspname) AS siblings
  FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
  WHERE n.nspname IN ('simcat', 'simcat_migrations') AND c.relkind IN ('r', 'p')
), lacking AS (
  SELECT *, ARRAY(
    SELECT need FROM unnest(ARRAY['SELECT', 'INSERT', 'UPDATE', 'DELETE']) WITH ORDINALITY AS n(need, position)
    WHERE (schema = 'simcat' OR need = 'SELECT') AND NOT has_table_privilege(oid, need) ORDER BY position) AS lacks
  FROM tables
)
SELECT 'USAGE' AS rights, 'SCHEMA ' || nspname AS object, quote_ident(current_user) AS role
FROM pg_namespace WHERE nspname IN ('simcat', 'simcat_migrations') AND NOT has_schema_privilege(oid, 'USAGE')
UNION ALL
SELECT array_to_string(lacks, ', '),
  CASE count(*) WHEN min(siblings) THEN 'ALL TABLES IN SCHEMA ' || schema
    ELSE string_agg(schema || '.' || quote_ident(name), ', ' ORDER BY name) END,
  quote_ident(current_user)
FROM lacking WHERE lacks <> '{}' GROUP BY schema, lacks ORDER BY object, rights`;

/** CREATE on the database is needed only while a schema is missing; afterwards CREATE on each schema. */
const FOR_MIGRATION = `
WITH schemas AS (
  SELECT name, n.oid FROM unnest(ARRAY['simcat', 'simcat_migrations', 'simcat_report']) AS name
  LEFT JOIN pg_namespace n ON n.nspname = name
)
SELECT 'CREATE' AS rights, 'DATABASE ' || quote_ident(current_database()) AS object, quote_ident(current_user) AS role
WHERE NOT has_database_privilege(current_database(), 'CREATE') AND EXISTS (SELECT FROM schemas WHERE oid IS NULL)
UNION ALL
SELECT 'CREATE', 'SCHEMA ' || name, quote_ident(current_user)
FROM schemas WHERE NOT has_schema_privilege(oid, 'CREATE')`;

/** Owners of tables that the role may not alter: it must own them or be a member of their owner. */
const OWNERS = `
SELECT DISTINCT quote_ident(pg_get_userbyid(c.relowner)) AS owner, quote_ident(current_user) AS role
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE n.nspname IN ('simcat', 'simcat_migrations') AND c.relkind IN ('r', 'p')
  AND NOT pg_has_role(c.relowner, 'USAGE')
ORDER BY owner`;

/** The privileges that the role lacks to read and write the existing tables. */
export async function readRunLacks(connection: Connection | Pool): Promise<Lack[]> {
  const { rows } = await connection.query<LackRow>(FOR_RUNS);
  return rows.map(toLack);
}

/** The privileges that the role lacks to migrate the schema. */
export async function readMigrationLacks(connection: Connection | Pool): Promise<Lack[]> {
  const created = await connection.query<LackRow>(FOR_MIGRATION);
  const { rows } = await connection.query<{ owner: string; role: string }>(OWNERS);
  const owners = rows.map(({ owner, role }) => ({
    what: `ownership of the tables of ${owner}`,
    grant: `GRANT ${owner} TO ${role};`,
    hidesVersion: false,
  }));
  return [...created.rows.map(toLack), ...owners];
}

interface LackRow {
  readonly rights: string;
  readonly object: string;
  readonly role: string;
}

function toLack({ rights, object, role }: LackRow): Lack {
  return {
    what: `${rights} on ${object.replace(/^[A-Z ]+ /, (word) => word.toLowerCase())}`,
    grant: `GRANT ${rights} ON ${object} TO ${role};`,
    hidesVersion: object.includes("simcat_migrations"),
  };
}
