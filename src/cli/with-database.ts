import type { Config } from "../config.ts";
import { type ConnectOptions, connect, disconnect, type Pool } from "../db/connect.ts";
import { asDatabaseError } from "../db/db-errors.ts";
import { migrate } from "../db/migrate.ts";
import { assertUsable, readSchemaState } from "../db/schema-state.ts";
import { readSnapshot } from "../db/transaction.ts";
import { ConfigurationError } from "../errors.ts";
import { databaseSecrets, maskDatabaseUrl } from "../secrets.ts";
import type { Context } from "./context.ts";
import { findMissingEmbedded, openEmbedded } from "./embedded.ts";
import { tellBeside } from "./tell-beside.ts";

/** What a command does to the schema before it works. */
export type SchemaUse =
  /** Migrates it, unless SIMCAT_AUTO_MIGRATE is false; then it must be current. */
  | "migrate"
  /** Must be current; an embedded database is not created for it. */
  | "require"
  /** Anything: the command looks by itself. */
  | "any";

export interface DatabaseUrls {
  readonly url: string;
  /** For migrations. */
  readonly directUrl: string;
}

/** Where the database is; for the embedded one, started or attached to, and let go of afterwards. */
export async function withDatabaseUrls<T>(
  context: Context,
  config: Config,
  work: (urls: DatabaseUrls) => Promise<T>,
): Promise<T> {
  if (config.databaseUrl !== null) {
    return work({ url: config.databaseUrl, directUrl: config.databaseDirectUrl ?? config.databaseUrl });
  }
  const embedded = await openEmbedded(context, config);
  try {
    context.hide(databaseSecrets(embedded.url));
    const told = `the embedded database is at ${maskDatabaseUrl(embedded.url)}; simcat db prints its password, and keeps it up`;
    tellBeside(context, config, "info", "embedded_database", told);
    return await work({ url: embedded.url, directUrl: embedded.url });
  } finally {
    await embedded.stop();
  }
}

/** A pool on a database whose schema is as the command needs it. */
export async function withDatabase<T>(
  context: Context,
  config: Config,
  use: SchemaUse,
  work: (pool: Pool) => Promise<T>,
): Promise<T> {
  const { stop } = context;
  if (use === "require") await assertDatabase(context, config);
  return withDatabaseUrls(context, config, async (urls) => {
    const mayMigrate = use === "migrate" && config.autoMigrate;
    const options = { onWait: printWaits(context, config) };
    const pool = await (use === "any"
      ? connect(urls.url, options, stop)
      : connectUsable(urls, options, mayMigrate, stop));
    try {
      return await work(pool);
    } catch (error) {
      throw asDatabaseError("working with the database", error);
    } finally {
      await disconnect(pool);
    }
  });
}

/** @throws ConfigurationError where no run has created the embedded database yet */
async function assertDatabase(context: Context, config: Config): Promise<void> {
  const missingIn = await findMissingEmbedded(context, config);
  if (missingIn === null) return;
  throw new ConfigurationError(
    `nothing is stored yet: DATABASE_URL is not set, and there is no embedded database in ${missingIn}; run simcat backfill, which creates one, or set DATABASE_URL`,
  );
}

/**
 * Connects to a database whose schema is current. Looks before it migrates: nearly always there is nothing to do, and a
 * connection more costs as much as a short run.
 */
async function connectUsable(
  urls: DatabaseUrls,
  options: ConnectOptions,
  mayMigrate: boolean,
  signal: AbortSignal,
): Promise<Pool> {
  const pool = await connect(urls.url, options, signal);
  try {
    const state = await readSnapshot(pool, "looking at the schema", readSchemaState, signal);
    if (state.kind !== "behind" || !mayMigrate) {
      assertUsable(state);
      return pool;
    }
  } catch (error) {
    await disconnect(pool);
    throw error;
  }
  // Closed before: a role may be limited to one connection.
  await disconnect(pool);
  await migrate(urls.directUrl, signal, options);
  return connectUsable(urls, options, false, signal);
}

/** Prints why the command does not go on: a line on a terminal, above the progress line if there is one; else a log line. */
export function printWaits(context: Context, config: Config): NonNullable<ConnectOptions["onWait"]> {
  return ({ code, message }) => {
    if (context.terminal.isErr) context.draw("\r\x1b[K");
    tellBeside(context, config, "info", code, message);
  };
}
