import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { useTestDatabase } from "../support/database.ts";
import { answeredQueries, columnNames } from "./answer-blocks.ts";

const DOC = readFileSync("docs/reporting.md", "utf8");
const QUESTIONS = readFileSync("docs/questions.md", "utf8");
const blocks = [DOC, QUESTIONS]
  .flatMap((document) => [...document.matchAll(/^```sql\n([\s\S]*?)^```$/gm)])
  .map(([, sql = ""], at) => ({ at: at + 1, sql }));
const answered = [
  ...answeredQueries(DOC).map((query) => ({ document: "docs/reporting.md", ...query })),
  ...answeredQueries(QUESTIONS).map((query) => ({ document: "docs/questions.md", ...query })),
];

const database = useTestDatabase();

interface Column {
  readonly view: string;
  readonly name: string;
  readonly comment: string;
}

const viewComments = async () => {
  const rows = await database().query<{ view: string; comment: string }>(
    `SELECT relname AS view, obj_description(oid, 'pg_class') AS comment
     FROM pg_class WHERE relnamespace = 'simcat_report'::regnamespace`,
  );
  return new Map(rows.map(({ view, comment }) => [view, comment]));
};

const columns = () =>
  database().query<Column>(
    `SELECT c.relname AS view, a.attname AS name, col_description(c.oid, a.attnum) AS comment
     FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
     WHERE c.relnamespace = 'simcat_report'::regnamespace ORDER BY c.relname, a.attnum`,
  );

/** The part of the document under the heading, up to the next one of any level. */
const section = (heading: string) => DOC.split(`\n### \`${heading}`)[1]?.split(/\n##+ /)[0] ?? "";

test("each view has a section with a question, its comment, an example with its output, and its columns as commented", async () => {
  const all = await columns();
  const comments = await viewComments();
  for (const view of new Set(all.map((column) => column.view))) {
    const found = all.filter((column) => column.view === view);
    const text = section(`${view}\``);
    expect(text, view).toMatch(/^\n\n\*[A-Z].*\?\*/);
    expect(text, view).toContain(`?* ${comments.get(view)}\n`);
    expect(text, view).toMatch(/```sql\n[\s\S]*```text\n/);
    const documented = [...text.matchAll(/^\| `(\w+)` \| (.*) \|$/gm)].map(([, name, comment]) => ({
      view,
      name,
      comment,
    }));
    expect(documented).toEqual(found);
  }
});

test("each function has a section with a question, its comment, and an example with its output", async () => {
  const functions = await database().query<{ name: string; comment: string }>(
    "SELECT proname AS name, obj_description(oid, 'pg_proc') AS comment FROM pg_proc WHERE pronamespace = 'simcat_report'::regnamespace",
  );
  for (const { name, comment } of functions) {
    expect(section(`${name}(`), name).toContain(`?* ${comment}\n`);
    expect(section(`${name}(`), name).toMatch(/\*[A-Z].*\?\*[\s\S]*```sql\n[\s\S]*```text\n/);
  }
});

test("the picture and the table of measurements have every view", async () => {
  const views = [...new Set((await columns()).map(({ view }) => view))];
  const picture = /```mermaid\n([\s\S]*?)```/.exec(DOC)?.[1] ?? "";
  const measured = DOC.split("## How fast it is")[1] ?? "";
  expect(views.filter((view) => !new RegExp(`\\b${view}\\b`).test(picture) && view !== "run_history")).toEqual([]);
  expect(views.filter((view) => !measured.includes(`| \`${view}\``))).toEqual([]);
});

test("there are twenty questions, each of a file", () => {
  const questions = [...QUESTIONS.matchAll(/^### (\d+)\. (.+\?)\n\n\[`(examples\/queries\/[\w-]+\.sql)`\]/gm)];
  expect(questions.map(([, number]) => Number(number))).toEqual(Array.from({ length: 20 }, (_, at) => at + 1));
  for (const [, , question, file = ""] of questions) {
    expect(readFileSync(file, "utf8").split("\n")[0]).toBe(`-- ${question}`);
  }
});

test.each(blocks)("its query $at runs and uses only the report's views", async ({ sql }) => {
  expect(sql).not.toMatch(/\bsimcat\./);
  await database().query(sql);
});

// `npm run docs:reporting` writes the answers.
test.each(answered)("the answer at $document:$line has the columns that its query has now", async ({ sql, answer }) => {
  const { fields } = await database().pool.query(sql);
  expect(columnNames(answer)).toEqual(fields.map(({ name }) => name));
});
