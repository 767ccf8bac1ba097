import { runQuery } from "../db/read/run-query.ts";
import { EXIT } from "../errors.ts";
import { explainWords } from "../output/words.ts";
import { assertKnown } from "../sync/assert-known.ts";
import { type DefineCommand, ownerOption } from "./command.ts";
import { withDatabase } from "./connections.ts";
import { type Context, printText } from "./context.ts";
import { printerOf, type RowOptions, withRowOptions } from "./query.ts";
import { loadSettings } from "./settings.ts";

interface LibrariesOptions extends RowOptions {
  readonly owner: readonly string[];
}

export const defineLibraries: DefineCommand = (command, run) =>
  withRowOptions(
    command
      .argument("[PATTERN]", "only those whose OWNER/NAME contains this text, in any case; * stands for any text")
      .addOption(ownerOption()),
  ).action(run(printLibraries));

const TIME_LIMIT_MS = 60_000;

/** Columns that a narrow terminal leaves out, the highest number first, before it cuts names. */
const SPARE = { scenarios: 1, package: 2, last_work_at: 3, results: 4 };

/** `OWNER/NAME` as in `formatKey`. */
const KEY = ["owner", "library_name"]
  .map((part) => `replace(replace(f.${part}, '%', '%25'), '/', '%2F')`)
  .join(" || '/' || ");

/** The live libraries, and those that are listed but not stored yet. */
const selectLibraries = (key: string) => `
SELECT ${key}, concat_ws(' ', l.package_name, l.package_version) AS package,
  l.scenario_count AS scenarios, l.result_count AS results,
  date_trunc('second', l.last_work_at) AS last_work_at, date_trunc('second', f.complete_as_of) AS complete_as_of,
  CASE
    WHEN f.removal_held_at IS NOT NULL THEN 'removal held'
    WHEN f.failures > 0 THEN 'failing'
    WHEN NOT f.is_stored THEN 'not stored yet'
    WHEN f.owes IS NOT NULL THEN 'owes a read: ' || f.owes
    WHEN NOT f.settled THEN 'not settled yet'
    ELSE 'settled'
  END AS state
FROM library_freshness f LEFT JOIN libraries l USING (owner, library_name)
WHERE ($1::text IS NULL OR f.owner || '/' || f.library_name ILIKE $1 COLLATE "default" OR ${KEY} ILIKE $1 COLLATE "default") AND (cardinality($2::text[]) = 0 OR f.owner = ANY ($2))
ORDER BY f.owner, f.library_name`;

/** Exits with 0, also if no library matches. @throws UsageError for an owner that is neither stored nor listed */
async function printLibraries(context: Context, options: LibrariesOptions, pattern?: string): Promise<number> {
  const isTable = !options.csv && !options.json && !options.jsonl;
  const sql = selectLibraries(isTable ? `${KEY} AS library` : "f.owner, f.library_name");
  const values = [pattern === undefined ? null : toLike(pattern), options.owner];
  const config = loadSettings(context, { service: false, database: true });
  await withDatabase(context, config, "require", async (pool, source) => {
    await assertKnown({ libraries: [], owners: options.owner }, { listing: null, pool, source }, context.stop);
    const openPrinter = printerOf(context, options, SPARE);
    const question = { sql, values, timeLimitMs: TIME_LIMIT_MS, openPrinter, operation: "listing the libraries" };
    await runQuery(pool, question, context.stop);
  });
  if (isTable && context.terminal.isOut) printText(context, explainWords("settled, owes").join("\n"), []);
  return EXIT.ok;
}

/** A pattern of LIKE: its own signs are escaped. */
const toLike = (pattern: string) => `%${pattern.replace(/[\\%_]/g, "\\$&").replaceAll("*", "%")}%`;
