import type { Config } from "../../config.ts";
import type { CheckLine } from "../../report/check.ts";
import type { Context } from "../context.ts";
import { findMissingEmbedded } from "../embedded.ts";
import { type DatabaseUrls, withDatabaseUrls } from "../with-database.ts";
import { loadEssential } from "./configuration.ts";
import { checkDirectUrl } from "./direct-url.ts";
import { failedBy, ok, skipped } from "./lines.ts";
import { checkUrl } from "./url.ts";

/** In the order in which they are told. */
const CHECKS = ["database", "encoding", "schema", "privileges", "clock"];

/** Does the database answer, can it hold what the service sends, is its schema ours, and may we write? */
export async function checkDatabase(context: Context): Promise<CheckLine[]> {
  const config = loadEssential(context, { service: false, database: true }, ["DATABASE_URL"]);
  if (config === null) return CHECKS.map((check) => skipped(check, "the configuration must be mended first"));
  try {
    const missingIn = await findMissingEmbedded(context, config);
    if (missingIn !== null) return notCreated(missingIn);
    return await withDatabaseUrls(context, config, (urls) => checkUrls(config, urls, context.stop));
  } catch (error) {
    context.stop.throwIfAborted();
    return endedBy(CHECKS, error);
  }
}

/** A check creates nothing. */
function notCreated(stateDir: string): CheckLine[] {
  const [database = "database", ...rest] = CHECKS;
  const text = `DATABASE_URL is not set: the first run creates an embedded database in ${stateDir}`;
  return [ok(database, text), ...rest.map((check) => skipped(check, "there is no database yet"))];
}

async function checkUrls(config: Config, urls: DatabaseUrls, signal: AbortSignal): Promise<CheckLine[]> {
  const lines = await gather(CHECKS, checkUrl(config, urls, signal), signal);
  if (config.databaseDirectUrl === config.databaseUrl) return lines;
  return [...lines, ...(await gather(["direct"], checkDirectUrl(config, urls, signal), signal))];
}

/** The lines as they come. An error fails the check that would have been the next, and those behind it cannot be made. */
async function gather(
  checks: readonly string[],
  found: AsyncIterable<CheckLine>,
  signal: AbortSignal,
): Promise<CheckLine[]> {
  const lines: CheckLine[] = [];
  try {
    for await (const line of found) lines.push(line);
    return lines;
  } catch (error) {
    signal.throwIfAborted();
    return [...lines, ...endedBy(checks.slice(lines.length), error)];
  }
}

function endedBy([failed = "database", ...rest]: readonly string[], error: unknown): CheckLine[] {
  return [failedBy(failed, error), ...rest.map((check) => skipped(check, `${failed} must be mended first`))];
}
