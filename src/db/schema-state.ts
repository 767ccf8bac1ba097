import { fileURLToPath } from "node:url";
import { type MigrationMeta, readMigrationFiles } from "drizzle-orm/migrator";
import { ConfigurationError, toError } from "../errors.ts";
import type { Connection } from "./connect.ts";
import { hashViews, loadViews, type ViewHashes, type Views } from "./views.ts";

export const MIGRATIONS_FOLDER = fileURLToPath(new URL("../../migrations", import.meta.url));
/** drizzle's table of the applied migrations. */
export const JOURNAL = "simcat_migrations.__drizzle_migrations";

/** The fifteen migrations of before the baseline, which replaced them: how many, and the `folderMillis` of the last. */
const REPLACED = { count: 15, last: 1_795_422_592_494 };

/** What this program's schema consists of. */
export type Schema = ReturnType<typeof loadSchema>;

/** What a database records of its schema. */
type Journal = Awaited<ReturnType<typeof readJournal>>;

/**
 * The schema of a database compared with this program's. `version`: how many migrations were applied, 0 for a database without simcat.
 * `newer`: it has migrations or views that this program does not know. `older`: it has some, but not all, of those that the baseline
 * replaced. `missing`: views that differ count as one migration.
 */
export type SchemaState = { readonly version: number } & (
  | { readonly kind: "current" }
  | { readonly kind: "newer" | "older" }
  | { readonly kind: "behind"; readonly missing: number }
);

/** A long-running program loads `schema` once, because an update may replace the installed files. */
export async function readSchemaState(connection: Connection, schema: Schema = loadSchema()): Promise<SchemaState> {
  return toSchemaState(schema, await readJournal(connection));
}

/**
 * The same; null for a role that may read neither the journal nor the tables, such as a reader of the views.
 * @throws ConfigurationError if there are no views for such a role
 */
export async function readVisibleSchemaState(connection: Connection): Promise<SchemaState | null> {
  const { rows } = await connection.query<{ visible: boolean; hasViews: boolean }>(
    `SELECT has_schema_privilege(n.oid, 'USAGE') AND coalesce(has_table_privilege(c.oid, 'SELECT'), true)
         OR EXISTS (SELECT FROM pg_namespace t WHERE t.nspname = 'simcat' AND has_schema_privilege(t.oid, 'USAGE')) AS visible,
       EXISTS (SELECT FROM pg_class v WHERE v.relkind = 'v' AND v.relnamespace::regnamespace::text = 'simcat_report') AS "hasViews"
     FROM pg_namespace n LEFT JOIN pg_class c ON c.relnamespace = n.oid AND c.relname = '__drizzle_migrations'
     WHERE n.nspname = 'simcat_migrations'`,
  );
  const [journal] = rows;
  if (journal === undefined || journal.visible) return readSchemaState(connection);
  if (journal.hasViews) return null;
  throw new ConfigurationError("the database has no views of simcat yet; run: simcat migrate");
}

/**
 * Loads the migrations in their order, of which the first is the baseline, and the views.
 * @throws ConfigurationError if a file is missing
 */
export function loadSchema(folder = MIGRATIONS_FOLDER) {
  try {
    return { migrations: readMigrationFiles({ migrationsFolder: folder }), views: loadViews(folder) };
  } catch (cause) {
    const problem = `the schema cannot be read from ${folder}: ${toError(cause).message}`;
    throw new ConfigurationError(problem, { hint: "reinstall simcat", cause });
  }
}

/** Reads what the database records; nothing if there is no journal. */
export async function readJournal(connection: Connection) {
  const { rows } = await connection.query<{ journal: string | null }>("SELECT to_regclass($1)::text AS journal", [
    JOURNAL,
  ]);
  if (rows[0]?.journal == null) return { migrations: [], views: null };
  const applied = await connection.query<{ when: number; hashes: ViewHashes | null }>(
    `SELECT created_at AS when, substring(hash FROM '^views (.*)')::json AS hashes FROM ${JOURNAL} ORDER BY id`,
  );
  const views = applied.rows.find(({ hashes }) => hashes !== null);
  return {
    /** The applied migrations by their `folderMillis`. */
    migrations: applied.rows.filter(({ hashes }) => hashes === null).map(({ when }) => when),
    /** The applied views, with `changedAt` of the program that applied them. */
    views: views?.hashes ? { changedAt: views.when, hashes: views.hashes } : null,
  };
}

/** Saves which views the database has, in one row of the journal. */
export async function saveViews(connection: Connection, views: Views): Promise<void> {
  await connection.query(`DELETE FROM ${JOURNAL} WHERE hash LIKE 'views %'`);
  const hash = `views ${JSON.stringify(hashViews(views))}`;
  await connection.query(`INSERT INTO ${JOURNAL} (hash, created_at) VALUES ($1, $2)`, [hash, views.changedAt]);
}

/** Whether the database has exactly the schema that the baseline creates, made by the migrations that it replaced. */
export function isReplaced({ migrations }: Journal): boolean {
  return migrations.length === REPLACED.count && migrations.every((when) => when <= REPLACED.last);
}

export function toSchemaState({ migrations, views }: Schema, journal: Journal): SchemaState {
  const version = journal.migrations.length;
  if (!isReplaced(journal) && journal.migrations.some((when) => when <= REPLACED.last))
    return { kind: "older", version };
  const applied = isReplaced(journal) ? migrations.slice(0, 1).map(toMillis) : journal.migrations;
  const hasViews = JSON.stringify(journal.views?.hashes) === JSON.stringify(hashViews(views));
  const known = new Set(migrations.map(toMillis));
  if (applied.some((when) => !known.has(when)) || (!hasViews && (journal.views?.changedAt ?? 0) > views.changedAt)) {
    return { kind: "newer", version };
  }
  const missing = migrations.length - applied.length + (hasViews ? 0 : 1);
  return missing === 0 ? { kind: "current", version } : { kind: "behind", version, missing };
}

const toMillis = ({ folderMillis }: MigrationMeta) => folderMillis;

/** What is wrong with the schema of a database, and what to do; null if it is current. `code` is part of the public interface. */
export function schemaFault(state: SchemaState) {
  switch (state.kind) {
    case "current":
      return null;
    case "newer": {
      const problem = "the database's schema is newer than this simcat: a later version has migrated it";
      return { code: "schema_newer", problem, hint: "run that version, or a later one" };
    }
    case "older": {
      const problem = "the database's schema is from before simcat's migrations were merged into one";
      const hint = "run simcat migrate of version 0.1.0 (commit 2e454b1) once, then this version";
      return { code: "schema_older", problem, hint };
    }
    case "behind": {
      const { version, missing } = state;
      const lack = `the database's schema lacks ${missing} of simcat's migrations`;
      const problem = version === 0 ? "the database has no simcat schema yet" : lack;
      return { code: "schema_behind", problem, hint: "run: simcat migrate" };
    }
  }
}

/** @throws ConfigurationError if the schema is newer than this program, or too old for it */
export function assertMigratable(
  state: SchemaState,
): asserts state is Exclude<SchemaState, { readonly kind: "newer" | "older" }> {
  const fault = state.kind === "behind" ? null : schemaFault(state);
  if (fault !== null) throw new ConfigurationError(`${fault.problem}; nothing was written`, { hint: fault.hint });
}

/** @throws ConfigurationError unless the schema is that of this program */
export function assertUsable(state: SchemaState): void {
  assertMigratable(state);
  const fault = schemaFault(state);
  if (fault === null) return;
  const hint = `${fault.hint} (if SIMCAT_AUTO_MIGRATE is true, simcat sync, backfill and start migrate it themselves)`;
  throw new ConfigurationError(fault.problem, { hint });
}
