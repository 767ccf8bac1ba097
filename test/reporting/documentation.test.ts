import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { useTestDatabase } from "../support/database.ts";
import { answeredQueries, columnNames } from "./answer-blocks.ts";

const DOC = readFileSync("docs/reporting.md", "utf8");
const QUESTIONS = readFileSync("docs/questions.md", "utf8");
const blocks = [DOC, QUESTIONS]
  .flatMap((document) => [...document.matchAll(/^```sql\n([\s\S]*?)^```$/gm)])
  .map(([, sql = ""], at) => ({ at: at + 1, sql }));
const database = useTestDatabase();

test("each view and function has a question and, if it is a view, a measurement", async () => {
  const found = await database().query<{ name: string; isView: boolean }>(
    `SELECT relname AS name, true AS "isView" FROM pg_class WHERE relnamespace = 'simcat_report'::regnamespace
     UNION ALL SELECT proname, false FROM pg_proc WHERE pronamespace = 'simcat_report'::regnamespace`,
  );
  const rows = [...(DOC.split("## Which view do I need?")[1] ?? "").matchAll(/^\| [A-Z].*\? \| (.*) \|$/gm)];
  const asked = new Set(rows.flatMap(([, cell = ""]) => [...cell.matchAll(/`(\w+)/g)].map(([, name]) => name)));
  expect(found.filter(({ name }) => !asked.has(name))).toEqual([]);
  const measured = DOC.split("## How fast it is")[1] ?? "";
  expect(found.filter(({ name, isView }) => isView && !measured.includes(`| \`${name}\``))).toEqual([]);
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

// `npm run docs:questions` writes the answers.
test.each(answeredQueries(QUESTIONS))(
  "the answer at line $line has the columns that its query has now",
  async ({ sql, answer }) => {
    const { fields } = await database().pool.query(sql);
    expect(columnNames(answer)).toEqual(fields.map(({ name }) => name));
  },
);
