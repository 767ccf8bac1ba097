import pg, { type QueryResult } from "pg";
import { withTimeout } from "../async.ts";
import { loadConfig } from "../config.ts";
import { Pool } from "../db/connect.ts";
import { databaseError } from "../db/db-errors.ts";
import { TAKE_READER_RIGHTS } from "../db/transaction.ts";
import { EXIT } from "../errors.ts";
import type { Context } from "./context.ts";

/** Characters of names that are not offered: those that a terminal obeys, or that a selector escapes. */
const UNOFFERED = "[[:cntrl:]\\u0080-\\u009f\\u200e\\u200f\\u2028-\\u202e\\u2066-\\u2069%/]";

/** By the option that they complete. */
const SELECTS = {
  "--owner": `SELECT owner AS name FROM (SELECT DISTINCT owner FROM simcat_report.library_freshness) AS owners
    WHERE owner !~ '${UNOFFERED}' ORDER BY owner`,
  "--library": `SELECT owner || '/' || library_name AS name FROM simcat_report.library_freshness
    WHERE owner || library_name !~ '${UNOFFERED}' ORDER BY owner, library_name`,
};

const NAMES_WITHIN_MS = 2_000;

/**
 * Prints names that complete an option and contain `word`, at most a thousand. A person waits for them, so this loads neither commander
 * nor the logger, does not look at the version of the schema, sends all its statements at once, and gives up soon.
 */
export async function printOfferedNames(context: Context, option: keyof typeof SELECTS, word = ""): Promise<number> {
  const config = loadConfig(context.environment, { service: false, database: true });
  context.hide(config.secrets);
  // Postgres may know only the letters of ASCII. A shell passes a word as it is typed, with its quotes.
  const letters = [...word.toLowerCase()].filter((one) => one > "\x7f" && one.toUpperCase().length === one.length);
  const [to, from] = [letters.join(""), `${letters.join("").toUpperCase()}\\'"`].map(pg.escapeLiteral);
  const fold = (text: string) => `lower(translate(${text}, ${from}, ${to}) COLLATE "default")`;
  const print = async ({ url }: { readonly url: string }) => {
    const pool = new Pool(url, {});
    const answer = pool.query(`
      BEGIN READ ONLY; SET LOCAL statement_timeout = ${NAMES_WITHIN_MS}; SET LOCAL jit = off; ${TAKE_READER_RIGHTS};
      SELECT string_agg(name, E'\\n') AS names FROM (
        SELECT name FROM (${SELECTS[option]}) AS names WHERE strpos(${fold("name")}, ${fold(pg.escapeLiteral(word))}) > 0 LIMIT 1000
      ) AS offered; ROLLBACK`);
    const results: unknown = await withTimeout(answer, NAMES_WITHIN_MS)
      .catch((error) => Promise.reject(databaseError("reading the names", error)))
      .finally(() => pool.closing.abort());
    if (results === "timeout") return EXIT.database_failed;
    // The driver returns the result of each statement.
    const [names] = (results as QueryResult<{ names: string | null }>[]).slice(-2);
    const offered = names?.rows[0]?.names ?? null;
    if (offered !== null) context.print(offered);
    return EXIT.ok;
  };
  if (config.databaseUrl !== null) return print({ url: config.databaseUrl });
  const { findMissingEmbedded, withDatabaseUrls } = await import("./connections.ts");
  if ((await findMissingEmbedded(context, config)) !== null) return EXIT.ok;
  return withDatabaseUrls(context, config, print);
}
