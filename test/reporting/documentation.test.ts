import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { useTestDatabase } from "../support/database.ts";
import { answeredQueries, columnNames } from "./answer-blocks.ts";
import { addRows } from "./stored-rows.ts";

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

test("its queries have no rows of a time before the history, and a job that follows the copy misses no first read (fault 387)", async () => {
  const hoursAgo = (hours: number) => new Date(Date.now() - hours * 3_600_000);
  await addRows(database(), "libraries", [{ library_name: "forest", package_version: "1.0", changed_at: hoursAgo(1) }]);
  await addRows(database(), "sync_runs", [
    { id: 1, status: "failed", started_at: hoursAgo(3), finished_at: hoursAgo(3) },
    { id: 2, started_at: hoursAgo(2), finished_at: hoursAgo(2) },
    { id: 3, status: "running", started_at: hoursAgo(1) },
  ]);
  await addRows(database(), "events", [{ kind: "loaded", seen_at: hoursAgo(1) }]);
  const answers: Record<string, unknown>[][] = [];
  for (const { sql } of blocks.filter((block) => /_as_of\(/.test(block.sql))) answers.push(await database().query(sql));
  expect(answers).toMatchObject([[], [{ run_id: "2", libraries: "0" }]]);
  const follows = blocks.find(({ sql }) => sql.includes("max(seen_at)"))?.sql ?? "";
  expect(await database().query(follows)).toMatchObject([{ owner: "ann", library_name: "forest" }]);
});
