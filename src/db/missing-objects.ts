import { is } from "drizzle-orm";
import type { MigrationMeta } from "drizzle-orm/migrator";
import { getTableConfig, PgTable } from "drizzle-orm/pg-core";
import type { Connection, Pool } from "./connect.ts";
import * as schema from "./schema.ts";

/** Tables, columns and views that the migrations made and that are gone. */
export interface MissingObjects {
  /** Such as `table simcat.leases` or `column simcat.libraries.listed`. */
  readonly names: readonly string[];
  /** The tables of simcat's that are left. */
  readonly tables: readonly string[];
}

/** Compares the catalogue with what the program expects. */
export async function readMissingObjects(
  connection: Connection | Pool,
  migrations: readonly MigrationMeta[],
): Promise<MissingObjects> {
  const { rows } = await connection.query<{ name: string; columns: string[] }>(
    `SELECT n.nspname || '.' || c.relname AS name,
       ARRAY(SELECT attname::text FROM pg_attribute WHERE attrelid = c.oid AND attnum > 0 AND NOT attisdropped) AS columns
     FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
     WHERE n.nspname IN ('simcat', 'simcat_report') AND c.relkind IN ('r', 'p', 'v', 'm')`,
  );
  const found = new Map(rows.map(({ name, columns }) => [name, new Set(columns)]));
  const declared: readonly unknown[] = Object.values(schema);
  const tables = declared
    .filter((value) => is(value, PgTable))
    .map(getTableConfig)
    .map(({ schema = "", name, columns }) => ({ name: `${schema}.${name}`, columns }));
  const inTables = tables.flatMap(({ name, columns }) => {
    const there = found.get(name);
    if (there === undefined) return [`table ${name}`];
    return columns.filter((column) => !there.has(column.name)).map((column) => `column ${name}.${column.name}`);
  });
  const views = [...createdViews(migrations)].filter((name) => !found.has(name)).map((name) => `view ${name}`);
  return { names: [...inTables, ...views], tables: tables.map(({ name }) => name).filter((name) => found.has(name)) };
}

/** The views that are there when all migrations have been applied. */
function createdViews(migrations: readonly MigrationMeta[]): Set<string> {
  const views = new Set<string>();
  const statements = migrations.flatMap(({ sql }) => sql).join(";\n");
  for (const [, created, dropped] of statements.matchAll(
    /^\s*(?:CREATE (?:OR REPLACE )?VIEW ([\w."]+)|DROP VIEW (?:IF EXISTS )?([\w.", ]+))/gm,
  )) {
    if (created !== undefined) views.add(created.replaceAll('"', ""));
    for (const name of dropped?.split(",") ?? []) views.delete(name.replaceAll('"', "").trim().split(" ")[0] ?? "");
  }
  return views;
}

const SHOWN = 5;

/** The first few names. */
export function formatMissing({ names }: MissingObjects): string {
  const more = names.length > SHOWN ? ` and ${names.length - SHOWN} more` : "";
  return names.slice(0, SHOWN).join(", ") + more;
}

/** How to get them back. */
export function hintForMissing({ tables }: MissingObjects): string {
  const startOver =
    "DROP SCHEMA IF EXISTS simcat, simcat_report, simcat_migrations CASCADE; then run simcat migrate and simcat backfill";
  return tables.length === 0
    ? `no table is left, so start over: ${startOver}`
    : `restore them from a backup; to start over instead, which deletes the history: ${startOver}`;
}
