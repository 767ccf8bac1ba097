import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { lifeOf, mergeRows, useStoredRows } from "../reporting/stored-rows.ts";

const { add, query } = useStoredRows();

const SCHEMA_DOC = readFileSync("docs/schema.md", "utf8");

/** The query under each heading. */
const QUERIES = new Map(
  [...SCHEMA_DOC.matchAll(/^### (.+)\n(?:(?!^###? )[\s\S])*?^```sql\n([\s\S]*?)^```$/gm)].map(([, title, sql = ""]) => [
    title,
    sql,
  ]),
);

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

/**
 * Two libraries. "forest" is live; its scenario 1 was renamed at the moment that the example asks for, 2 was removed then,
 * 3 was added then. "lake" was live until then and is removed since. All else happened long before.
 */
const [BEFORE, MOMENT] = ["2026-01-01T00:00:00Z", "2026-03-01T00:00:00Z"];
const STORED = mergeRows([
  lifeOf("library", { library_name: "forest" }, [[BEFORE, {}]]),
  lifeOf("library", { library_name: "lake" }, [
    [BEFORE, {}],
    [MOMENT, null],
  ]),
  lifeOf("scenario", { scenario_id: 1 }, [
    [BEFORE, { scenario_name: "before", is_result: false }],
    [MOMENT, { scenario_name: "after" }],
  ]),
  lifeOf("scenario", { scenario_id: 2 }, [
    [BEFORE, { scenario_name: "gone", is_result: true }],
    [MOMENT, null],
  ]),
  lifeOf("scenario", { scenario_id: 3 }, [[MOMENT, { scenario_name: "came", is_result: true }]]),
  lifeOf("scenario", { library_name: "lake", scenario_id: 1 }, [[BEFORE, { scenario_name: "of the lake" }]]),
  {
    sync_runs: [
      { id: 1, started_at: BEFORE, finished_at: MOMENT, libraries_read: 1 },
      { id: 2, status: "interrupted", started_at: BEFORE, finished_at: MOMENT },
    ],
    library_sync: [
      { library_name: "forest" },
      { library_name: "new", failures: 2, reread_reason: "failure", last_error: "not_found: answered 404" },
    ],
    rejects: [
      { owner: "ann", library_name: "new" },
      { owner: "ann", library_name: "new", resolved_at: MOMENT },
    ],
  },
]);

const A_MICROSECOND_EARLIER = (sql: string) => sql.replace("2026-03-01 00:00:00+00", "2026-02-28 23:59:59.999999+00");
const since = (moment: string) => (sql: string) => sql.replace("now() - interval '7 days'", `timestamptz '${moment}'`);

const CASES = [
  {
    title: "What is there now",
    columns: ["library_name", "scenarios", "results"],
    rows: [["forest", "2", "1"]],
  },
  {
    title: "What was there then",
    columns: ["library_name", "scenario_id", "scenario_name"],
    rows: [
      ["forest", "1", "after"],
      ["forest", "3", "came"],
    ],
  },
  {
    title: "What was there then",
    edit: A_MICROSECOND_EARLIER,
    columns: ["library_name", "scenario_id", "scenario_name"],
    rows: [
      ["forest", "1", "before"],
      ["forest", "2", "gone"],
      ["lake", "1", "of the lake"],
    ],
  },
  {
    title: "What changed since",
    edit: since("2026-03-01Z"),
    columns: ["what", "name", "how"],
    rows: [
      ["scenario", "after", "changed"],
      ["scenario", "gone", "gone"],
      ["scenario", "came", "new"],
      ["library", "lake", "gone"],
    ],
  },
  { title: "What changed since", edit: since("2026-03-01 00:00:00.000001Z"), columns: [], rows: [] },
  {
    title: "Which libraries fail",
    columns: ["library_name", "failures", "reread_reason", "last_error", "open_rejects"],
    rows: [["new", 2, "failure", "not_found: answered 404", "1"]],
  },
  { title: "How fresh it is", columns: ["id", "kind", "status"], rows: [["1", "sync", "ok"]] },
];

test.each(CASES)("the query of docs/schema.md gives the right rows: $title", async ({ title, edit, columns, rows }) => {
  await add(STORED);
  const sql = QUERIES.get(title) ?? "";
  const found = await query(edit ? edit(sql) : sql);
  expect(found.map((row) => columns.map((column) => row[column]))).toEqual(rows);
});

test("each query of docs/schema.md has a case", () => {
  expect(SCHEMA_DOC.match(/^```sql$/gm)).toHaveLength(QUERIES.size);
  expect([...QUERIES.keys()]).toEqual([...new Set(CASES.map(({ title }) => title))]);
});
