import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { useTestDatabase } from "../support/database.ts";

const database = useTestDatabase();

interface Column {
  readonly name: string;
  readonly type: string;
  readonly comment: string;
  /** Of a table; false in views. */
  readonly isNullable: boolean;
}

interface Relation {
  readonly name: string;
  readonly comment: string;
  /** The definitions of its keys, the primary key first. */
  readonly keys: readonly string[];
  readonly columns: readonly Column[];
}

const readRelations = (schema: string) =>
  database().query<Relation>(
    `SELECT c.relname AS name, coalesce(obj_description(c.oid, 'pg_class'), '') AS comment,
       coalesce((SELECT json_agg(pg_get_constraintdef(k.oid) ORDER BY k.contype = 'p' DESC, k.conname)
         FROM pg_constraint k WHERE k.conrelid = c.oid AND k.contype IN ('p', 'u', 'f')), '[]') AS keys,
       (SELECT json_agg(json_build_object('name', a.attname, 'comment', coalesce(col_description(c.oid, a.attnum), ''),
           'isNullable', c.relkind <> 'v' AND NOT a.attnotnull,
           'type', replace(split_part(format_type(a.atttypid, NULL), ' COLLATE', 1), 'timestamp with time zone', 'timestamptz'))
         ORDER BY a.attnum)
        FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped) AS columns
     FROM pg_class c WHERE c.relnamespace = '${schema}'::regnamespace AND c.relkind IN ('r', 'p', 'v', 'm') ORDER BY c.relname`,
  );

const readRoutines = () =>
  database().query<Record<"name" | "parameters" | "comment", string>>(
    `SELECT proname AS name, pg_get_function_identity_arguments(oid) AS parameters, obj_description(oid, 'pg_proc') AS comment
     FROM pg_proc WHERE pronamespace = 'simcat_report'::regnamespace ORDER BY proname`,
  );

const row = (...cells: readonly string[]) => `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`;

const tableOf = (columns: readonly Column[]): string =>
  [
    "| Column | Type | Meaning |",
    "|---|---|---|",
    ...columns.map(({ name, type, comment }) => row(`\`${name}\``, type, comment)),
  ].join("\n");

const codes = (columns: readonly Column[]) => columns.map(({ name }) => `\`${name}\``).join(", ");

/** Columns that several relations have with the same meaning: of each name, the most frequent one. */
function findShared(relations: readonly Relation[]): readonly Column[] {
  const all = relations.flatMap(({ columns }) => columns);
  const count = (one: Column) => all.filter((other) => other.name === one.name && other.comment === one.comment).length;
  const byName = new Map<string, Column>();
  for (const column of all) {
    const best = byName.get(column.name);
    if (count(column) > Math.max(1, best === undefined ? 0 : count(best))) byName.set(column.name, column);
  }
  return [...byName.values()];
}

function formatRelation({ name, comment, keys, columns }: Relation, shared: readonly Column[]): string {
  const isShared = (column: Column) =>
    shared.some((other) => other.name === column.name && other.comment === column.comment);
  const base = (column: Column) => /^As (\w+)\.(\w+), in this version\b/.exec(column.comment);
  const sameAs = columns.filter((column) => base(column)?.[2] === column.name);
  const own = columns.filter((column) => !isShared(column) && !sameAs.includes(column));
  return [
    `## \`${name}\``,
    comment,
    keys.length === 0 ? "" : `${keys.join("; ")}.`,
    ...(sameAs[0] === undefined ? [] : [`As in \`${base(sameAs[0])?.[1]}\`, in this version: ${codes(sameAs)}.`]),
    columns.some(isShared) ? `[Shared](#shared-columns): ${codes(columns.filter(isShared))}.` : "",
    own.length === 0 ? "" : tableOf(own),
  ]
    .filter((part) => part !== "")
    .join("\n\n");
}

test("each schema, table, view, column and function has a comment, which says what NULL means in a table", async () => {
  const relations = [...(await readRelations("simcat")), ...(await readRelations("simcat_report"))];
  const columns = relations.flatMap((one) =>
    one.columns.map((column) => ({ ...column, name: `${one.name}.${column.name}` })),
  );
  const schemas = await database().query<{ name: string; comment: string | null }>(
    `SELECT nspname AS name, obj_description(oid, 'pg_namespace') AS comment
     FROM pg_namespace WHERE nspname IN ('simcat', 'simcat_report')`,
  );
  const all = [...schemas, ...relations, ...columns, ...(await readRoutines())];
  expect(all.length).toBeGreaterThan(300);
  expect(all.filter(({ comment }) => (comment ?? "").length < 10).map(({ name }) => name)).toEqual([]);
  const vague = columns.filter(({ isNullable, comment }) => isNullable && !comment.includes("NULL"));
  expect(vague.map(({ name }) => name)).toEqual([]);
});

test("the picture of docs/schema.md has each table that is not internal, and no other", async () => {
  const document = readFileSync("docs/schema.md", "utf8");
  const picture = /```mermaid\n([\s\S]*?)```/.exec(document)?.[1] ?? "";
  const drawn = [...picture.matchAll(/^ {2}(\w+) \S+ (\w+) :/gm)].flatMap(([, from = "", to = ""]) => [from, to]);
  const internal = /^.*`(\w+)`, `(\w+)` and `(\w+)` are internal\.$/m.exec(document)?.slice(1) ?? [];
  const tables = await readRelations("simcat");
  expect([...new Set([...drawn, ...internal])].sort()).toEqual(tables.map(({ name }) => name).sort());
});

const GENERATED = "This page is made from the comments in the database by `npm run docs:reference`.";

test("docs/reference/views.md has each view and function of simcat_report, as commented", async () => {
  const views = await readRelations("simcat_report");
  const shared = findShared(views);
  const routines = await readRoutines();
  expect(views.length).toBeGreaterThan(15);
  const page = [
    "# Views and functions of simcat_report",
    `${GENERATED} [reporting.md](../reporting.md) says which view answers which question.`,
    "## Shared columns",
    "Several views have these columns with the same meaning.",
    tableOf(shared),
    ...views.map((view) => formatRelation(view, shared)),
    "## Functions",
    ["| Function | Meaning |", "|---|---|"]
      .concat(routines.map(({ name, parameters, comment }) => row(`\`${name}(${parameters})\``, comment)))
      .join("\n"),
  ];
  await expect(`${page.join("\n\n")}\n`).toMatchFileSnapshot("../../docs/reference/views.md");
});

test("docs/reference/tables.md has each table of simcat, as commented", async () => {
  const tables = await readRelations("simcat");
  const shared = findShared(tables);
  expect(tables.length).toBeGreaterThan(10);
  const page = [
    "# Tables of simcat",
    `${GENERATED} [schema.md](../schema.md) explains versions and joins. Reports use the views of \`simcat_report\` instead.`,
    "## Shared columns",
    "Several tables have these columns with the same meaning.",
    tableOf(shared),
    ...tables.map((table) => formatRelation(table, shared)),
  ];
  await expect(`${page.join("\n\n")}\n`).toMatchFileSnapshot("../../docs/reference/tables.md");
});
