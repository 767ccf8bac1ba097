import { describe, expect, test } from "vitest";
import { useTestDatabase } from "../support/database.ts";
import { exampleQueries, SCHEMA_DOC } from "./schema-doc.ts";

const database = useTestDatabase();

interface Column {
  readonly table: string;
  readonly name: string;
  readonly nullable: boolean;
  readonly comment: string | null;
}

const columns = () =>
  database().query<Column>(
    `SELECT c.relname AS table, a.attname AS name, NOT a.attnotnull AS nullable, col_description(c.oid, a.attnum) AS comment
     FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
     WHERE c.relnamespace = 'simcat'::regnamespace AND c.relkind IN ('r', 'p', 'v', 'm')
     ORDER BY c.relname, a.attnum`,
  );

describe("the comments in the database", () => {
  test("exist for the schema and every table", async () => {
    const named = await database().query<{ name: string; comment: string | null }>(
      `SELECT 'schema ' || nspname AS name, obj_description(oid, 'pg_namespace') AS comment
       FROM pg_namespace WHERE nspname = 'simcat'
       UNION ALL
       SELECT relname, obj_description(oid, 'pg_class') FROM pg_class
       WHERE relnamespace = 'simcat'::regnamespace AND relkind IN ('r', 'p', 'v', 'm')`,
    );
    expect(named.length).toBeGreaterThan(10);
    expect(named.filter(({ comment }) => !comment).map(({ name }) => name)).toEqual([]);
  });

  test("exist for every column", async () => {
    const silent = (await columns()).filter(({ comment }) => !comment);
    expect(silent.map(({ table, name }) => `${table}.${name}`)).toEqual([]);
  });

  test("say of every column that may be NULL what NULL means", async () => {
    const vague = (await columns()).filter(({ nullable, comment }) => nullable && !comment?.includes("NULL"));
    expect(vague.map(({ table, name }) => `${table}.${name}`)).toEqual([]);
  });
});

describe("docs/schema.md", () => {
  test("has each table in its picture or among the internal ones, and no other", async () => {
    const picture = /```mermaid\n([\s\S]*?)```/.exec(SCHEMA_DOC)?.[1] ?? "";
    const drawn = [...picture.matchAll(/^ {2}(\w+) \S+ (\w+) :/gm)].flatMap(([, from = "", to = ""]) => [from, to]);
    const internal = /^.*`(\w+)`, `(\w+)` and `(\w+)` are internal\.$/m.exec(SCHEMA_DOC)?.slice(1) ?? [];
    const tables = await database().query<{ name: string }>(
      "SELECT relname AS name FROM pg_class WHERE relnamespace = 'simcat'::regnamespace AND relkind IN ('r', 'p')",
    );
    expect([...new Set([...drawn, ...internal])].sort()).toEqual(tables.map(({ name }) => name).sort());
  });

  test("has five example queries, each of which is found", () => {
    expect(exampleQueries().map(({ title }) => title)).toEqual([
      "What is there now",
      "What was there then",
      "What changed since",
      "Which libraries fail",
      "How fresh it is",
    ]);
    expect(SCHEMA_DOC.match(/^```sql$/gm)).toHaveLength(5);
  });

  test.each(exampleQueries())("has a query that runs: $title", async ({ sql }) => {
    await database().query(sql);
  });
});
