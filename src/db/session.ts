import { Socket } from "node:net";
import { TLSSocket } from "node:tls";
import { type Connection, oneRow } from "./connect.ts";

/** Facts about the server of a session. */
export interface SessionServer {
  /** As Postgres counts: 180004 is 18.4. */
  readonly versionNumber: number;
  readonly version: string;
  readonly database: string;
  readonly role: string;
  readonly encoding: string;
  /** True on a standby, and in a session that may not write. */
  readonly readOnly: boolean;
  /** The start of the server, in seconds; two servers differ in it. */
  readonly startedAt: string;
}

export async function readSessionServer(connection: Connection): Promise<SessionServer> {
  const result = await connection.query<SessionServer>(
    `SELECT current_setting('server_version_num')::int AS "versionNumber", current_setting('server_version') AS version,
       current_database() AS database, current_user AS role, current_setting('server_encoding') AS encoding,
       current_setting('transaction_read_only') = 'on' AS "readOnly",
       extract(epoch FROM pg_postmaster_start_time())::text AS "startedAt"`,
  );
  return oneRow(result);
}

/** The IP address of the server if the connection is not encrypted. Null if it is, or if it is a Unix-domain socket. */
export function unencryptedAddress({ connection: { stream } }: Pick<Connection, "connection">): string | null {
  return stream instanceof Socket && !(stream instanceof TLSSocket) ? (stream.remoteAddress ?? null) : null;
}

/** A privilege that the session's role lacks. */
export interface Lack {
  /** Such as `INSERT on TABLE simcat.leases`. */
  readonly what: string;
  /** The statement that grants it. */
  readonly grant: string;
  /** Without the privilege, even the schema's version cannot be read. */
  readonly hidesVersion: boolean;
}

/** $rights: a query of the rights that the role lacks, and the objects. */
const selectLacks = (rights: string) => `
SELECT rights || ' on ' || object AS what, 'GRANT ' || rights || ' ON ' || object || ' TO ' || quote_ident(current_user) || ';' AS grant,
  object LIKE '%simcat_migrations%' AS "hidesVersion"
FROM (${rights}) AS lacking(rights, object)`;

const FOR_RUNS = selectLacks(`
SELECT 'USAGE', 'SCHEMA ' || nspname
FROM pg_namespace WHERE nspname IN ('simcat', 'simcat_migrations') AND NOT has_schema_privilege(oid, 'USAGE')
UNION ALL
SELECT array_to_string(lacks, ', '),
  CASE count(*) WHEN min(siblings) THEN 'ALL TABLES IN SCHEMA ' || schema
    ELSE 'TABLE ' || string_agg(name, ', ' ORDER BY name) END
FROM (
  SELECT format('%s.%I', nspname, relname) AS name, nspname AS schema, count(*) OVER (PARTITION BY nspname) AS siblings, ARRAY(
    SELECT need FROM unnest(ARRAY['SELECT', 'INSERT', 'UPDATE', 'DELETE']) WITH ORDINALITY AS n(need, position)
    WHERE (nspname = 'simcat' OR need = 'SELECT') AND NOT has_table_privilege(c.oid, need) ORDER BY position) AS lacks
  FROM pg_class c JOIN pg_namespace n ON n.oid = relnamespace
  WHERE nspname IN ('simcat', 'simcat_migrations') AND relkind IN ('r', 'p')
) AS tables WHERE lacks <> '{}' GROUP BY schema, lacks`);

/** CREATE on the database is needed only while a schema is missing. To alter tables, a role must be a member of their owner. */
const FOR_MIGRATION = `
${selectLacks(`
SELECT 'CREATE', 'DATABASE ' || quote_ident(current_database())
FROM unnest(ARRAY['simcat', 'simcat_migrations', 'simcat_report']) AS name
WHERE to_regnamespace(name) IS NULL AND NOT has_database_privilege(current_database(), 'CREATE') GROUP BY 2
UNION ALL
SELECT need, 'SCHEMA ' || nspname FROM pg_namespace, unnest(ARRAY['CREATE', 'USAGE']) AS need
WHERE nspname IN ('simcat', 'simcat_migrations', 'simcat_report') AND NOT has_schema_privilege(oid, need)`)}
UNION
SELECT 'ownership of the tables of ' || owner, 'GRANT ' || owner || ' TO ' || quote_ident(current_user) || ';', false
FROM pg_class, quote_ident(pg_get_userbyid(relowner)) AS owner
WHERE relnamespace IN (to_regnamespace('simcat'), to_regnamespace('simcat_migrations')) AND relkind IN ('r', 'p')
  AND NOT pg_has_role(relowner, 'USAGE')`;

/** The privileges that the role lacks to read and write the existing tables, to migrate the schema, or to do both. */
export async function readLacks(connection: Connection, ...uses: readonly ("run" | "migration")[]): Promise<Lack[]> {
  const statement = uses.map((use) => (use === "run" ? FOR_RUNS : FOR_MIGRATION)).join(" UNION ");
  return (await connection.query<Lack>(`${statement} ORDER BY what`)).rows;
}

/** The tables whose rows the policies of row-level security may hide from this role, or refuse. */
export async function readSecuredTables(connection: Connection): Promise<string[]> {
  const { rows } = await connection.query<{ name: string }>(
    `SELECT format('%s.%I', relnamespace::regnamespace, relname) AS name FROM pg_class
     WHERE relnamespace IN (to_regnamespace('simcat'), to_regnamespace('simcat_migrations')) AND row_security_active(oid) ORDER BY name`,
  );
  return rows.map(({ name }) => name);
}
