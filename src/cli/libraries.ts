import { type Question, runQuery } from "../db/read/run-query.ts";
import { formatCount } from "../format.ts";
import { formatKey, parsePart } from "../key.ts";
import { assertKnown } from "../sync/assert-known.ts";
import { MINUTE_MS } from "../units.ts";
import { type DefineCommand, ownerOption } from "./command.ts";
import { withDatabase } from "./connections.ts";
import type { Context } from "./context.ts";
import { loadSettings } from "./load-settings.ts";
import { printerOf, type RowOptions, withRowOptions } from "./query.ts";

export const defineLibraries: DefineCommand = (command, run) =>
  withRowOptions(
    command
      .argument("[PATTERN]", "only those whose OWNER/NAME contains this text, in any case; * stands for any text")
      .addOption(ownerOption()),
  ).action(run(printLibraries));

/** Columns that a narrow terminal leaves out, the highest number first, before it cuts names. */
const SPARE = { scenarios: 1, package: 2, last_work_at: 3, results: 4 };

/** The live libraries, and those that are listed but not stored yet. */
const SELECT_LIBRARIES = `
SELECT f.owner, f.library_name, concat_ws(' ', l.package_name, l.package_version) AS package,
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
FROM simcat_report.library_freshness f LEFT JOIN simcat_report.libraries l USING (owner, library_name)
WHERE cardinality($1::text[]) = 0 OR f.owner = ANY ($1)
ORDER BY f.owner, f.library_name`;

/** Exits with 0, also if no library matches. @throws UsageError for an owner that is neither stored nor listed */
async function printLibraries(context: Context, options: RowOptions & { owner: readonly string[] }, pattern = "") {
  const isTable = !options.csv && !options.json && !options.jsonl;
  const config = loadSettings(context, { service: false, database: true });
  await withDatabase(context, config, "require", async (pool, source) => {
    await assertKnown({ libraries: [], owners: options.owner }, { listing: null, pool, source }, context.stop);
    const openPrinter = ofMatching(pattern, printerOf(context, options, SPARE), isTable);
    const question = { sql: SELECT_LIBRARIES, values: [options.owner], timeLimitMs: MINUTE_MS, openPrinter };
    await runQuery(pool, { ...question, operation: "listing the libraries" }, context.stop);
  });
}

/**
 * Prints the libraries whose key matches, as it is or as a command printed it. Postgres would compare letters by its locale, which may
 * know only ASCII. A table for people has one column for the key, as other commands take it, and counts with separators.
 */
function ofMatching(pattern: string, openPrinter: Question["openPrinter"], isTable: boolean): Question["openPrinter"] {
  const texts = [pattern, parsePart(pattern) ?? pattern].map((text) => text.replace(/[\\^$.+?()[\]{}|]/g, "\\$&"));
  const found = new RegExp(texts.join("|").replaceAll("*", "[^]*"), "iu");
  return (columns) => {
    const [, , ...others] = columns;
    const { add, end } = openPrinter(isTable ? [{ name: "library", type: "text" }, ...others] : columns);
    const format = (cell: string | null, at: number) =>
      cell !== null && others[at]?.type === "numeric" ? formatCount(Number(cell)) : cell;
    return {
      add(row) {
        const [owner, name, ...cells] = row;
        if (!found.test(`${owner}/${name}`)) return;
        add(isTable ? [formatKey({ owner: owner ?? "", name: name ?? "" }), ...cells.map(format)] : row);
      },
      end,
    };
  };
}
