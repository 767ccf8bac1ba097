import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { useStoredRows } from "../reporting/stored-rows.ts";

const { query } = useStoredRows();

const SCHEMA_DOC = readFileSync("docs/schema.md", "utf8");

interface Commented {
  readonly name: string;
  readonly nullable: boolean;
  readonly comment: string | null;
}

/** Every schema, table, view, column and function of simcat. */
const readComments = () =>
  query<Commented>(
    `SELECT nspname AS name, false AS nullable, obj_description(oid, 'pg_namespace') AS comment
     FROM pg_namespace WHERE nspname IN ('simcat', 'simcat_report')
     UNION ALL
     SELECT c.oid::regclass || coalesce('.' || a.attname, ''), coalesce(c.relkind = 'r' AND NOT a.attnotnull, false),
       CASE WHEN a.attnum IS NULL THEN obj_description(c.oid, 'pg_class') ELSE col_description(c.oid, a.attnum) END
     FROM pg_class c
     LEFT JOIN (SELECT attrelid, attnum, attname, attnotnull FROM pg_attribute WHERE attnum > 0 AND NOT attisdropped
       UNION ALL SELECT oid, NULL, NULL, NULL FROM pg_class) AS a ON a.attrelid = c.oid
     WHERE c.relnamespace IN ('simcat'::regnamespace, 'simcat_report'::regnamespace) AND c.relkind IN ('r', 'p', 'v', 'm')
     UNION ALL
     SELECT oid::regprocedure::text, false, obj_description(oid, 'pg_proc')
     FROM pg_proc WHERE pronamespace = 'simcat_report'::regnamespace`,
  );

test("each schema, table, view, column and function has a comment, which says what NULL means in a table", async () => {
  const all = await readComments();
  expect(all.length).toBeGreaterThan(300);
  const silent = all.filter(({ comment }) => (comment ?? "").length < 10);
  expect(silent.map(({ name }) => name)).toEqual([]);
  const vague = all.filter(({ nullable, comment }) => nullable && !comment?.includes("NULL"));
  expect(vague.map(({ name }) => name)).toEqual([]);
});

test("the picture of docs/schema.md has each table that is not internal, and no other", async () => {
  const picture = /```mermaid\n([\s\S]*?)```/.exec(SCHEMA_DOC)?.[1] ?? "";
  const drawn = [...picture.matchAll(/^ {2}(\w+) \S+ (\w+) :/gm)].flatMap(([, from = "", to = ""]) => [from, to]);
  const internal = /^.*`(\w+)`, `(\w+)` and `(\w+)` are internal\.$/m.exec(SCHEMA_DOC)?.slice(1) ?? [];
  const tables = await query<{ name: string }>(
    "SELECT relname AS name FROM pg_class WHERE relnamespace = 'simcat'::regnamespace AND relkind IN ('r', 'p')",
  );
  expect([...new Set([...drawn, ...internal])].sort()).toEqual(tables.map(({ name }) => name).sort());
});
