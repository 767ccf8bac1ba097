import { readFileSync } from "node:fs";

export const SCHEMA_DOC = readFileSync("docs/schema.md", "utf8");

/** The query under each heading. */
export function exampleQueries(): { readonly title: string; readonly sql: string }[] {
  const blocks = SCHEMA_DOC.matchAll(/^### (.+)\n(?:(?!^###? )[\s\S])*?^```sql\n([\s\S]*?)^```$/gm);
  return [...blocks].map(([, title = "", sql = ""]) => ({ title, sql }));
}
