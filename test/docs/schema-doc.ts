import { readFileSync } from "node:fs";

export interface DocumentedColumn {
  readonly name: string;
  readonly type: string;
  readonly nullable: boolean;
  readonly meaning: string;
}

export const SCHEMA_DOC = readFileSync("docs/schema.md", "utf8");

/** The column tables of docs/schema.md, by the table name in their heading. */
export function documentedTables(): Map<string, DocumentedColumn[]> {
  const sections = [...SCHEMA_DOC.matchAll(/^## `(\w+)`\n([\s\S]*?)(?=^## |$(?![\s\S]))/gm)];
  return new Map(sections.map(([, table = "", text = ""]) => [table, columnsIn(text)]));
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

/** The texts of each table, in order. */
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
