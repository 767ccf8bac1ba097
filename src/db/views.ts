import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { ConfigurationError, hasErrorCode } from "../errors.ts";
import type { Connection } from "./connect.ts";

/** A file of migrations/views: it creates or replaces the view or function of its name, with its comments. */
export type ViewFile = ReturnType<typeof toViewFile>;

/** All views and functions of schema `simcat_report`, and the comment of the schema itself. */
export type Views = ReturnType<typeof loadViews>;

/** The hashes of the applied files by name. */
export type ViewHashes = Readonly<Record<string, string>>;

export function loadViews(folder: string) {
  const directory = join(folder, "views");
  const names = readdirSync(directory).flatMap((file) => /^(\w+)\.sql$/.exec(file)?.[1] ?? []);
  const left = new Set(["simcat_report", ...names.sort()]);
  /** Ordered so that each one uses only earlier ones. */
  const files: ViewFile[] = [];
  const add = (name: string) => {
    if (!left.delete(name)) return;
    const sql = readFileSync(join(directory, `${name}.sql`), "utf8");
    for (const used of namesUsedIn(sql)) add(used);
    files.push(toViewFile(name, sql));
  };
  for (const name of [...left]) add(name);
  /** `changedAt`: when the files were last changed, as Unix time in milliseconds: a later version of simcat has a greater one. */
  const meta: { readonly changedAt: number } = JSON.parse(readFileSync(join(folder, "meta/_views.json"), "utf8"));
  return { files, ...meta };
}

/** No search_path is set, so a definition names the schema of each view that it uses. Its comments come after it. */
function namesUsedIn(sql: string): string[] {
  const [definition = ""] = sql.split(/^COMMENT ON/m);
  return [...definition.matchAll(/\bsimcat_report\.(\w+)/g)].map(([, name = ""]) => name);
}

/** Its label is for messages, such as `view simcat_report.libraries`. */
function toViewFile(name: string, sql: string) {
  const kind = /^CREATE OR REPLACE (VIEW|FUNCTION)\b/m.exec(sql)?.[1]?.toLowerCase();
  const label = kind === undefined ? `schema ${name}` : `${kind} simcat_report.${name}`;
  return { name, label, sql, hash: createHash("sha256").update(sql).digest("hex").slice(0, 16) };
}

export function hashViews({ files }: Views): ViewHashes {
  return Object.fromEntries(files.map(({ name, hash }) => [name, hash]));
}

/**
 * Creates or replaces, in the caller's transaction, the views and functions whose files differ from what is `recorded`, and
 * drops those without a file. One that cannot be replaced, because a column or a parameter changes, is dropped with those
 * that use it, and all of them are created again.
 * @throws ConfigurationError if an object that is not simcat's uses one that must be dropped
 */
export async function applyViews(connection: Connection, { files }: Views, recorded: ViewHashes): Promise<void> {
  const own = new Set(files.map(({ name }) => name));
  const names = new Set([...Object.keys(recorded), ...own]);
  const due = new Set(files.flatMap(({ name, hash }) => (recorded[name] === hash ? [] : name)));
  for (const file of files) {
    if (!due.has(file.name) || (await tryCreate(connection, file))) continue;
    for (const dropped of await dropWithUsers(connection, file.name, names)) due.add(dropped);
    await connection.query(file.sql);
  }
  for (const name of names) if (!own.has(name)) await dropWithUsers(connection, name, names);
}

/** @returns false, and changes nothing, if the file cannot replace what has its name */
async function tryCreate(connection: Connection, { name, sql }: ViewFile): Promise<boolean> {
  await connection.query("SAVEPOINT view");
  try {
    await connection.query(sql);
    // A function with other parameters does not replace the earlier one: both exist.
    if ((await readObjects(connection, name)).length <= 1) return true;
  } catch (error) {
    // A column of a view or the result of a function would change.
    if (!hasErrorCode(error, "42P16", "42P13")) throw error;
  }
  await connection.query("ROLLBACK TO SAVEPOINT view");
  return false;
}

/** @returns the names of the dropped views and functions */
async function dropWithUsers(connection: Connection, name: string, known: ReadonlySet<string>): Promise<string[]> {
  const dropped = [name];
  const users = await connection.query<{ user: string; view: string | null }>(SELECT_USERS, [name]);
  for (const { user, view } of users.rows) {
    if (view === null || !known.has(view))
      throw new ConfigurationError(
        `${user} uses simcat_report.${name}, which this version of simcat must drop or create again; nothing was changed`,
        { hint: `save the definition of ${user}, drop it, run simcat migrate, and create it again` },
      );
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

/** Objects that use a view, its row type or a function directly; a view by its rule. `view`: its name in `simcat_report`, or null. */
const SELECT_USERS = `
SELECT DISTINCT i.type || ' ' || i.identity AS "user",
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

/** A privilege of a role on a view or function of schema `simcat_report`, as statements. */
type ViewGrant = Readonly<Record<"view" | "grant" | "revoke", string>>;

/** Every view and function has at least the privileges of its owner. The texts lack the parameters of functions, which may change. */
const SELECT_GRANTS = `
SELECT view, 'GRANT ' || privilege || ' TO ' || role || CASE WHEN is_grantable THEN ' WITH GRANT OPTION' ELSE '' END AS grant,
  'REVOKE ' || privilege || ' FROM ' || role AS revoke
FROM (
  SELECT relname AS view, 'TABLE' AS kind, '' AS columns, relowner AS owner, coalesce(relacl, acldefault('r', relowner)) AS acl
  FROM pg_class WHERE relnamespace = to_regnamespace('simcat_report') AND relkind = 'v'
  UNION ALL
  SELECT relname, 'TABLE', format(' (%I)', attname), relowner, attacl
  FROM pg_class c JOIN pg_attribute ON attrelid = c.oid
  WHERE relnamespace = to_regnamespace('simcat_report') AND relkind = 'v' AND attacl IS NOT NULL
  UNION ALL
  SELECT proname, 'FUNCTION', '', proowner, coalesce(proacl, acldefault('f', proowner))
  FROM pg_proc WHERE pronamespace = to_regnamespace('simcat_report')
) AS object,
LATERAL (
  SELECT is_grantable, privilege_type || columns || ' ON ' || kind || ' simcat_report.' || view AS privilege,
    CASE grantee WHEN 0 THEN 'PUBLIC' WHEN owner THEN 'CURRENT_USER' ELSE quote_ident(pg_get_userbyid(grantee)) END AS role
  FROM aclexplode(acl)
) AS one`;

export async function readViewGrants(connection: Connection): Promise<ViewGrant[]> {
  return (await connection.query<ViewGrant>(SELECT_GRANTS)).rows;
}

/** Gives the views and functions that were created again the privileges that the earlier ones had, and no others. */
export async function restoreViewGrants(connection: Connection, before: readonly ViewGrant[]): Promise<void> {
  const after = await readViewGrants(connection);
  const lackedBy = (others: readonly ViewGrant[]) => {
    const [views, grants] = [new Set(others.map(({ view }) => view)), new Set(others.map(({ grant }) => grant))];
    return ({ view, grant }: ViewGrant) => views.has(view) && !grants.has(grant);
  };
  for (const { revoke } of after.filter(lackedBy(before))) await connection.query(revoke);
  for (const { grant } of before.filter(lackedBy(after))) await connection.query(grant);
}
