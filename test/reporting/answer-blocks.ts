import { readFileSync } from "node:fs";

/** A query of a document, or the name of its file, followed by its answer: ```sql … ```, an empty line, ```text … ```. */
const ANSWERED =
  /^(```sql\n((?:(?!^```)[\s\S])*)^```|\[`(examples\/queries\/[\w-]+\.sql)`\].*)\n\n```text\n([\s\S]*?)^```$/gm;

const readQuery = (sql: string | undefined, file: string | undefined): string =>
  sql ?? readFileSync(`${file}`, "utf8").replaceAll(/^--.*\n/gm, "");

/** `line`: in the document, from 1. */
export const answeredQueries = (document: string) =>
  [...document.matchAll(ANSWERED)].map(({ index, 2: sql, 3: file, 4: answer = "" }) => ({
    line: document.slice(0, index).split("\n").length,
    sql: readQuery(sql, file),
    answer,
  }));

/** The document with the answers of `psql`, which is given a query and the heading of level 2 that it is under. */
export function replaceAnswers(document: string, psql: (sql: string, heading: string) => string): string {
  return document.replace(
    ANSWERED,
    (_, question: string, sql: string | undefined, file: string | undefined, before: string, index: number) => {
      const heading = /^## (.*)$/m.exec(document.slice(document.lastIndexOf("\n## ", index) + 1))?.[1] ?? "";
      const answer = shorten((text) => psql(text, heading), readQuery(sql, file), rowsShown(before));
      return `${question}\n\n\`\`\`text\n${answer}\`\`\``;
    },
  );
}

const ROWS_SHOWN = 8;

/** Documents keep the number of rows that they show. */
const rowsShown = (answer: string): number =>
  Number(/^\(the first (\d+) of \d+ rows\)$/m.exec(answer)?.[1] ?? ROWS_SHOWN);

/** The names of the columns, from the line above the rule of an answer. */
export const columnNames = (answer: string): string[] =>
  (/^(.*)\n-[-+]*$/m.exec(answer)?.[1] ?? "").split("|").map((name) => name.trim());

/** The first rows of psql's output, as wide as they need, and how many there are. */
function shorten(psql: (sql: string) => string, sql: string, shown: number): string {
  const whole = parse(psql(sql));
  if (whole.count <= shown) return [...whole.lines, whole.footer, ""].join("\n");
  const first = parse(psql(`SELECT * FROM (\n${sql.trimEnd().replace(/;$/, "")}\n) AS answer LIMIT ${shown}`));
  return [...first.lines, `(the first ${shown} of ${whole.count} rows)`, ""].join("\n");
}

function parse(output: string) {
  const lines = output
    .trimEnd()
    .split("\n")
    .map((line) => line.trimEnd());
  const footer = lines.pop() ?? "";
  const count = Number(/^\((\d+) rows?\)$/.exec(footer)?.[1]);
  if (lines.length !== count + 2) throw new Error(`a value has several lines:\n${output}`);
  return { lines, footer, count };
}
