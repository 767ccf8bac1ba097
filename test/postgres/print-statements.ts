/** `npm run sql`, `npm run sql -- NAME`: prints the statements that store and compare rows, with named parameters. */
import { COMPARE } from "../../src/db/read/compare-rows.ts";
import type { BoundStatement, StatementParameters } from "../../src/db/statement.ts";
import { MERGE_LIBRARIES } from "../../src/db/store/save-libraries.ts";
import { REMOVE_LIBRARIES, RESTORE_LIBRARIES } from "../../src/db/store/save-listing.ts";
import { MARK_MISSING, MERGE_SCENARIOS } from "../../src/db/store/save-scenarios.ts";

/** Statements about scenarios are printed as for a batch of libraries; a staged list differs only in its source. */
const STATEMENTS: Readonly<Record<string, (parameters: StatementParameters) => BoundStatement>> = {
  MERGE_LIBRARIES,
  REMOVE_LIBRARIES,
  RESTORE_LIBRARIES,
  MERGE_SCENARIOS: MERGE_SCENARIOS.memory,
  MARK_MISSING: MARK_MISSING.memory,
  COMPARE_LIBRARIES: COMPARE.tables.libraries,
  COMPARE_SCENARIOS: COMPARE.tables.scenarios,
};

const WIDTH = 120;
/** Has every parameter; its value is the parameter's name. */
const named: StatementParameters = new Proxy({}, { get: (_, name) => `$${String(name)}` });

function wrap(line: string): string {
  const indentation = `${/^ */.exec(line)?.[0]}  `;
  const lines = [""];
  for (const part of line.split(/(?<=, )/)) {
    const last = lines.at(-1) ?? "";
    if (last !== "" && last.length + part.length > WIDTH) lines.push(indentation + part);
    else lines[lines.length - 1] = last + part;
  }
  return lines.map((text) => text.trimEnd()).join("\n");
}

const wanted = process.argv[2] ?? "";
const chosen = Object.entries(STATEMENTS).filter(([name]) => name.includes(wanted));
if (chosen.length === 0) throw new Error(`choose one of ${Object.keys(STATEMENTS).join(", ")}`);
for (const [name, bind] of chosen) {
  const { text, values } = bind(named);
  const sql = text.trim().replaceAll(/\$(\d+)/g, (_, number) => String(values[Number(number) - 1]));
  console.log(`-- ${name}\n${sql.split("\n").map(wrap).join("\n")};\n`);
}
