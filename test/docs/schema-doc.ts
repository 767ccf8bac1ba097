import { readFileSync } from "node:fs";

export interface DocumentedColumn {
  readonly name: string;
  readonly type: string;
  readonly nullable: boolean;
  readonly meaning: string;
  /** The table whose section describes it, if that is another one. */
  readonly inheritedFrom?: string;
}

export const SCHEMA_DOC = readFileSync("docs/schema.md", "utf8");

/** The columns of each table in docs/schema.md, by the table name in the heading. */
export function documentedTables(document = SCHEMA_DOC): Map<string, DocumentedColumn[]> {
  const sections = document.matchAll(/^## `(\w+)`\n([\s\S]*?)(?=^## |$(?![\s\S]))/gm);
  const tables = new Map<string, DocumentedColumn[]>();
  for (const [, table = "", text = ""] of sections)
    tables.set(table, [...inheritedIn(text, tables), ...columnsIn(text)]);
  return tables;
}

/** The columns of "All columns of `scenarios` except `owner`", without those that the section documents itself. */
function inheritedIn(section: string, tables: ReadonlyMap<string, DocumentedColumn[]>): DocumentedColumn[] {
  const [, base, exceptions = ""] = /^All columns of `(\w+)`(?: except ([^:]*?), and)?/m.exec(section) ?? [];
  if (base === undefined) return [];
  const own = columnsIn(section).map(({ name }) => name);
  const left = new Set([...own, ...[...exceptions.matchAll(/`(\w+)`/g)].map(([, name]) => name)]);
  const inherited = (tables.get(base) ?? []).filter(({ name }) => !left.has(name));
  return inherited.map((column) => ({ ...column, inheritedFrom: base }));
}

function columnsIn(section: string): DocumentedColumn[] {
  const rows = section.matchAll(/^\| `(\w+)` \| ([^|]+) \| (yes|no) \| ([^|]+) \|$/gm);
  return [...rows].map(([, name = "", type = "", nullable, meaning = ""]) => ({
    name,
    type,
    nullable: nullable === "yes",
    meaning,
  }));
}

/** The texts of each table. */
export function byTable(rows: readonly { readonly table: string; readonly text: string }[]): Record<string, string[]> {
  const tables: Record<string, string[]> = {};
  for (const { table, text } of rows) tables[table] = [...(tables[table] ?? []), text];
  return tables;
}

/** The query under each heading. */
export function exampleQueries(): { readonly title: string; readonly sql: string }[] {
  const blocks = SCHEMA_DOC.matchAll(/^### (.+)\n(?:(?!^###? )[\s\S])*?^```sql\n([\s\S]*?)^```$/gm);
  return [...blocks].map(([, title = "", sql = ""]) => ({ title, sql }));
}
