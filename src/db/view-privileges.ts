import type { Connection } from "./connect.ts";
import { SCHEMAS } from "./schema-names.ts";

/** The views and functions of schema `simcat_report`, with the privileges on them that roles other than the owner have. */
export interface ViewPrivileges {
  readonly names: ReadonlySet<string>;
  readonly grants: readonly Grant[];
}

interface Grant {
  readonly view: string;
  /** Such as `SELECT (owner) ON TABLE simcat_report.libraries`. */
  readonly privilege: string;
  readonly role: string;
  readonly option: string;
}

/** Without the parameters of functions, which a new version of simcat may change. $1: schema */
const SELECT_PRIVILEGES = `
SELECT o.name AS view, a.privilege_type || o.columns || ' ON ' || o.kind || ' ' || $1::text || '.' || o.name AS privilege,
  CASE a.grantee WHEN 0 THEN 'PUBLIC' ELSE quote_ident(pg_get_userbyid(a.grantee)) END AS role,
  CASE WHEN a.is_grantable THEN ' WITH GRANT OPTION' ELSE '' END AS option
FROM (
  SELECT 'TABLE' AS kind, relname AS name, '' AS columns, relowner AS owner, coalesce(relacl, acldefault('r', relowner)) AS acl
  FROM pg_class WHERE relnamespace = to_regnamespace($1) AND relkind = 'v'
  UNION ALL
  SELECT 'TABLE', c.relname, format(' (%I)', a.attname), c.relowner, a.attacl
  FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
  WHERE c.relnamespace = to_regnamespace($1) AND c.relkind = 'v' AND a.attacl IS NOT NULL
  UNION ALL
  SELECT 'FUNCTION', proname, '', proowner, coalesce(proacl, acldefault('f', proowner))
  FROM pg_proc WHERE pronamespace = to_regnamespace($1)
) AS o
LEFT JOIN LATERAL aclexplode(o.acl) AS a ON a.grantee <> o.owner`;

export async function readViewPrivileges(connection: Connection): Promise<ViewPrivileges> {
  const { rows } = await connection.query<Grant>(SELECT_PRIVILEGES, [SCHEMAS.views]);
  return {
    names: new Set(rows.map(({ view }) => view)),
    grants: rows.filter(({ privilege }) => privilege !== null),
  };
}

/** Gives the views and functions that were created again the privileges that the earlier ones had, and no others. */
export async function restoreViewPrivileges(connection: Connection, before: ViewPrivileges): Promise<void> {
  const after = await readViewPrivileges(connection);
  const lackedBy = (others: ViewPrivileges) => {
    const known = new Set(others.grants.map((grant) => JSON.stringify(grant)));
    return (grant: Grant) => others.names.has(grant.view) && !known.has(JSON.stringify(grant));
  };
  for (const { privilege, role } of after.grants.filter(lackedBy(before))) {
    await connection.query(`REVOKE ${privilege} FROM ${role}`);
  }
  for (const { privilege, role, option } of before.grants.filter(lackedBy(after))) {
    await connection.query(`GRANT ${privilege} TO ${role}${option}`);
  }
}
