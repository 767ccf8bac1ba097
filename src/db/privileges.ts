import type { Connection, Pool } from "./connect.ts";

/** What a role lacks, and the statement that gives it. */
export interface Lack {
  readonly what: string;
  readonly grant: string;
  /** Without it not even the schema's version can be read. */
  readonly hidesVersion: boolean;
}

/** Asked of the catalogue, so that nothing is refused on the way. Only what is missing comes back. */
const FOR_RUNS = `
WITH tables AS (
  SELECT c.oid, n.nspname AS schema, c.relname AS name, count(*) OVER (PARTITION BY n.nspname) AS siblings
  FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
  WHERE n.nspname IN ('simcat', 'simcat_migrations') AND c.relkind IN ('r', 'p')
), lacking AS (
  SELECT *, ARRAY(
    SELECT need FROM unnest(ARRAY['SELECT', 'INSERT', 'UPDATE', 'DELETE']) WITH ORDINALITY AS n(need, at)
    WHERE (schema = 'simcat' OR need = 'SELECT') AND NOT has_table_privilege(oid, need) ORDER BY at) AS lacks
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

/** CREATE on the database is for the schemas alone: where somebody made them already, CREATE in each of them will do. */
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

/** Only an owner may alter a table; whoever is a member of the owning role counts as one. */
const OWNERS = `
SELECT DISTINCT quote_ident(pg_get_userbyid(c.relowner)) AS owner, quote_ident(current_user) AS role
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE n.nspname IN ('simcat', 'simcat_migrations') AND c.relkind IN ('r', 'p')
  AND NOT pg_has_role(c.relowner, 'USAGE')
ORDER BY owner`;

/** What the role lacks to read and write the tables that are there. */
export function readRunLacks(connection: Connection | Pool): Promise<Lack[]> {
  return readLacks(connection, FOR_RUNS);
}

/** What the role lacks to migrate the schema. */
export async function readMigrationLacks(connection: Connection | Pool): Promise<Lack[]> {
  const { rows } = await connection.query<{ owner: string; role: string }>(OWNERS);
  const owners = rows.map(({ owner, role }) => ({
    what: `ownership of the tables of ${owner}`,
    grant: `GRANT ${owner} TO ${role};`,
    hidesVersion: false,
  }));
  return [...(await readLacks(connection, FOR_MIGRATION)), ...owners];
}

async function readLacks(connection: Connection | Pool, sql: string): Promise<Lack[]> {
  const { rows } = await connection.query<{ rights: string; object: string; role: string }>(sql);
  return rows.map(({ rights, object, role }) => ({
    what: `${rights} on ${object.replace(/^[A-Z ]+ /, (word) => word.toLowerCase())}`,
    grant: `GRANT ${rights} ON ${object} TO ${role};`,
    hidesVersion: object.includes("simcat_migrations"),
  }));
}
