import type { Config } from "../../config.ts";
import { connect, disconnect, type Pool } from "../../db/connect.ts";
import { databaseError } from "../../db/db-errors.ts";
import { readMigrationLacks } from "../../db/privileges.ts";
import { readSchemaState } from "../../db/schema-state.ts";
import { readServer } from "../../db/server.ts";
import { SimcatError } from "../../errors.ts";
import type { CheckLine } from "../../report/check.ts";
import { maskDatabaseUrl } from "../../secrets.ts";
import type { DatabaseUrls } from "../with-database.ts";
import { ok, warn } from "./lines.ts";
import { judgePrivileges } from "./schema.ts";
import { type Lines, PATIENCE_MS, readBounded } from "./url.ts";

const CHECK = "direct";

/** What DATABASE_DIRECT_URL leads to, where it is set apart: the same database, by a role that may migrate it. */
export async function* checkDirectUrl(config: Config, { url, directUrl }: DatabaseUrls, signal: AbortSignal): Lines {
  const pool = await connect(directUrl, { max: 1, retryForMs: PATIENCE_MS }, signal);
  try {
    yield await checkDirectPool(pool, config, { url, directUrl }, signal);
  } catch (error) {
    throw error instanceof SimcatError ? error : databaseError("asking the database of DATABASE_DIRECT_URL", error);
  } finally {
    await disconnect(pool);
  }
}

async function checkDirectPool(
  pool: Pool,
  { autoMigrate }: Config,
  { url, directUrl }: DatabaseUrls,
  signal: AbortSignal,
): Promise<CheckLine> {
  const where = maskDatabaseUrl(directUrl);
  const state = await readBounded(pool, readSchemaState, signal);
  const lacks = autoMigrate && state.kind === "behind" ? await readBounded(pool, readMigrationLacks, signal) : [];
  if (lacks.length > 0) return { ...judgePrivileges(lacks), check: CHECK };
  if (!(await isElsewhere(pool, url, signal))) return ok(CHECK, `${where} answered`);
  const hint = "let both name the same one: what is migrated must be what runs write to";
  return warn(CHECK, `${where} answered, but is another database than that of DATABASE_URL`, hint);
}

/** Whether `url` leads to another database; false where it does not answer, which the other lines tell. */
async function isElsewhere(pool: Pool, url: string, signal: AbortSignal): Promise<boolean> {
  const other = await connect(url, { max: 1, retryForMs: PATIENCE_MS }, signal).catch(() => null);
  if (other === null) return false;
  try {
    const [here, there] = [await readServer(pool), await readServer(other)];
    return here.startedAt !== there.startedAt || here.database !== there.database;
  } finally {
    await disconnect(other);
  }
}
