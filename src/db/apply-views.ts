import { ConfigurationError } from "../errors.ts";
import type { Connection } from "./connect.ts";
import { isIncompatible } from "./db-errors.ts";
import type { ViewFile, ViewHashes, Views } from "./views.ts";

/**
 * Creates or replaces, in the caller's transaction, the views and functions whose files changed since `recorded` or that
 * `missing` names, and drops those without a file. One that cannot be replaced, because a column or a parameter changes, is
 * dropped with those that use it, and all of them are created again.
 * @throws ConfigurationError if an object that is not simcat's uses one that must be dropped
 */
export async function applyViews(
  connection: Connection,
  { files }: Views,
  recorded: ViewHashes,
  missing: ReadonlySet<string>,
): Promise<void> {
  const names = new Set([...Object.keys(recorded), ...files.map(({ name }) => name)]);
  const due = new Set(files.filter(({ name, hash }) => missing.has(name) || recorded[name] !== hash).map(toName));
  for (const file of files) {
    if (!due.has(file.name) || (await tryCreate(connection, file))) continue;
    for (const dropped of await dropWithUsers(connection, file.name, names)) due.add(dropped);
    await connection.query(file.sql);
  }
  const current = new Set(files.map(toName));
  for (const name of Object.keys(recorded)) if (!current.has(name)) await dropWithUsers(connection, name, names);
}

const toName = ({ name }: ViewFile) => name;

/** @returns false, and changes nothing, if the file cannot replace what has its name */
async function tryCreate(connection: Connection, { name, sql }: ViewFile): Promise<boolean> {
  await connection.query("SAVEPOINT view");
  try {
    await connection.query(sql);
    // A function with other parameters does not replace the earlier one: both exist.
    if ((await readObjects(connection, name)).length <= 1) return true;
  } catch (error) {
    if (!isIncompatible(error)) throw error;
  }
  await connection.query("ROLLBACK TO SAVEPOINT view");
  return false;
}

/** @returns the names of the dropped views and functions */
async function dropWithUsers(connection: Connection, name: string, known: ReadonlySet<string>): Promise<string[]> {
  const dropped = [name];
  for (const { view, description } of (await connection.query<ViewUser>(SELECT_USERS, [name])).rows) {
    if (view === null || !known.has(view)) throw foreignUser(name, description);
    dropped.push(...(await dropWithUsers(connection, view, known)));
  }
  for (const object of await readObjects(connection, name)) await connection.query(`DROP ${object}`);
  return dropped;
}

/** Views, and functions with their parameters. $1: name */
const OBJECTS = `
SELECT 'pg_class'::regclass::oid AS class, oid, reltype AS type FROM pg_class
WHERE relnamespace = to_regnamespace('simcat_report') AND relname = $1
UNION ALL
SELECT 'pg_proc'::regclass, oid, 0 FROM pg_proc WHERE pronamespace = to_regnamespace('simcat_report') AND proname = $1`;

/** The objects of this name as DROP takes them, such as `view simcat_report.libraries`. */
async function readObjects(connection: Connection, name: string): Promise<string[]> {
  const { rows } = await connection.query<{ object: string }>(
    `SELECT i.type || ' ' || i.identity AS object FROM (${OBJECTS}) AS o, pg_identify_object(o.class, o.oid, 0) AS i`,
    [name],
  );
  return rows.map(({ object }) => object);
}

interface ViewUser {
  /** Such as `view anna.mine`. */
  readonly description: string;
  /** The name of a view or function of schema `simcat_report`; null for other objects. */
  readonly view: string | null;
}

/** The objects that use a view, its row type or a function directly. A view uses others through its rule. */
const SELECT_USERS = `
SELECT DISTINCT i.type || ' ' || i.identity AS description,
  CASE WHEN i.schema = 'simcat_report' THEN coalesce(c.relname, p.proname) END AS view
FROM (${OBJECTS}) AS o
JOIN pg_depend d ON d.deptype = 'n'
  AND (d.refclassid, d.refobjid) IN ((o.class, o.oid), ('pg_type'::regclass::oid, o.type))
LEFT JOIN pg_rewrite r ON d.classid = 'pg_rewrite'::regclass AND r.oid = d.objid
LEFT JOIN pg_class c ON c.oid = CASE d.classid WHEN 'pg_class'::regclass THEN d.objid ELSE r.ev_class END
LEFT JOIN pg_proc p ON d.classid = 'pg_proc'::regclass AND p.oid = d.objid
CROSS JOIN LATERAL pg_identify_object(
  CASE WHEN c.oid IS NULL THEN d.classid ELSE 'pg_class'::regclass::oid END, coalesce(c.oid, d.objid), 0) AS i
WHERE coalesce(c.oid, d.objid) <> o.oid ORDER BY 1`;

function foreignUser(name: string, user: string): ConfigurationError {
  return new ConfigurationError(
    `${user} uses simcat_report.${name}, which this version of simcat must drop or create again; nothing was changed. Save the definition of ${user}, drop it, run simcat migrate, and create it again`,
  );
}

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

/** Without the parameters of functions, which a new version of simcat may change. */
const SELECT_PRIVILEGES = `
SELECT o.name AS view, a.privilege_type || o.columns || ' ON ' || o.kind || ' simcat_report.' || o.name AS privilege,
  CASE a.grantee WHEN 0 THEN 'PUBLIC' ELSE quote_ident(pg_get_userbyid(a.grantee)) END AS role,
  CASE WHEN a.is_grantable THEN ' WITH GRANT OPTION' ELSE '' END AS option
FROM (
  SELECT 'TABLE' AS kind, relname AS name, '' AS columns, relowner AS owner, coalesce(relacl, acldefault('r', relowner)) AS acl
  FROM pg_class WHERE relnamespace = to_regnamespace('simcat_report') AND relkind = 'v'
  UNION ALL
  SELECT 'TABLE', c.relname, format(' (%I)', a.attname), c.relowner, a.attacl
  FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
  WHERE c.relnamespace = to_regnamespace('simcat_report') AND c.relkind = 'v' AND a.attacl IS NOT NULL
  UNION ALL
  SELECT 'FUNCTION', proname, '', proowner, coalesce(proacl, acldefault('f', proowner))
  FROM pg_proc WHERE pronamespace = to_regnamespace('simcat_report')
) AS o
LEFT JOIN LATERAL aclexplode(o.acl) AS a ON a.grantee <> o.owner`;

export async function readViewPrivileges(connection: Connection): Promise<ViewPrivileges> {
  const { rows } = await connection.query<Grant>(SELECT_PRIVILEGES);
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
