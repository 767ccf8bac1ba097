import { describe, expect, test } from "vitest";
import { useTestDatabase } from "../support/database.ts";
import { byTable, documentedTables, exampleQueries, SCHEMA_DOC } from "./schema-doc.ts";

const database = useTestDatabase();

interface Column {
  readonly table: string;
  readonly name: string;
  readonly type: string;
  readonly nullable: boolean;
  readonly comment: string | null;
}

const columns = () =>
  database().query<Column>(
    `SELECT c.relname AS table, a.attname AS name, split_part(format_type(a.atttypid, NULL), ' COLLATE', 1) AS type,
       NOT a.attnotnull AS nullable, col_description(c.oid, a.attnum) AS comment
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
  test("has every table and column with its type and whether it may be NULL, and no other", async () => {
    const say = (name: string, type: string, nullable: boolean) => `${name} ${type} ${nullable ? "null" : "not null"}`;
    const real = (await columns()).map(({ table, name, type, nullable }) => ({
      table,
      text: say(name, type.replace("timestamp with time zone", "timestamptz"), nullable),
    }));
    const documented = [...documentedTables()].map(([table, found]) => [
      table,
      found.map(({ name, type, nullable }) => say(name, type, nullable)).sort(),
    ]);
    expect(Object.fromEntries(documented)).toEqual(byTable(real.sort((a, b) => (a.text < b.text ? -1 : 1))));
  });

  test("repeats the comment of every table and column", async () => {
    const comments = await database().query<{ table: string; comment: string }>(
      `SELECT relname AS table, obj_description(oid, 'pg_class') AS comment
       FROM pg_class WHERE relnamespace = 'simcat'::regnamespace AND relkind = 'r'`,
    );
    const text = SCHEMA_DOC.replaceAll("`", "");
    expect(comments.filter(({ table, comment }) => !text.includes(`## ${table}\n\n${comment}\n`))).toEqual([]);

    const found = await columns();
    const documented = [...documentedTables()].flatMap(([table, described]) =>
      described.map((column) => ({ table, ...column })),
    );
    for (const { table, name, meaning, inheritedFrom } of documented) {
      const { comment } = found.find((column) => column.table === table && column.name === name) ?? {};
      if (inheritedFrom === undefined)
        expect(`${table}.${name}: ${comment}`).toBe(`${table}.${name}: ${meaning.replaceAll("`", "")}`);
      else expect(comment).toContain(`As ${inheritedFrom}.${name}`);
    }
    expect(documented).toHaveLength(found.length);
  });

  test("has no table in its picture that is not there", () => {
    const picture = /```mermaid\n([\s\S]*?)```/.exec(SCHEMA_DOC)?.[1] ?? "";
    const drawn = [...picture.matchAll(/^ {2}(\w+) \{$/gm)].map(([, table]) => table);
    expect(drawn.length).toBeGreaterThan(5);
    expect(drawn.filter((table) => !documentedTables().has(table ?? ""))).toEqual([]);
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
