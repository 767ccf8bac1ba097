import type { Config } from "../config.ts";
import { connect, disconnect, type Pool } from "../db/connect.ts";
import { namingDatabase } from "../db/failures.ts";
import { assertUsable, migrate, readSchemaState } from "../db/migrate.ts";
import { readSnapshot } from "../db/snapshot.ts";
import { databaseSecrets } from "../secrets.ts";
import type { Context } from "./context.ts";
import { tellBeside } from "./tell-beside.ts";

/** What a command does to the schema before it works. */
export type SchemaUse =
  /** Migrates it, unless SIMCAT_AUTO_MIGRATE is false; then it must be current. */
  | "migrate"
  /** Must be current. */
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
  const { openEmbeddedPostgres } = await import("../db/embedded/open.ts");
  const { stateDir } = config;
  const { environment } = context;
  const tell = (level: "info" | "warn") => (text: string) =>
    tellBeside(context, config, level, "embedded_database", text);
  const embedded = await openEmbeddedPostgres(
    { stateDir, environment, onProgress: tell("info"), onRevival: tell("warn") },
    context.stop,
  );
  try {
    context.hide(databaseSecrets(embedded.url));
    return await work({ url: embedded.url, directUrl: embedded.url });
  } finally {
    await embedded.stop();
  }
}

/** A pool on a database whose schema is as the command needs it. */
export function withDatabase<T>(
  context: Context,
  config: Config,
  use: SchemaUse,
  work: (pool: Pool) => Promise<T>,
): Promise<T> {
  return withDatabaseUrls(context, config, async ({ url, directUrl }) => {
    const mayMigrate = use === "migrate" && config.autoMigrate;
    const pool = await (mayMigrate ? connectMigrated(url, directUrl, context.stop) : connect(url, {}, context.stop));
    try {
      if (use !== "any") assertUsable(await look(pool, context.stop));
      return await work(pool);
    } catch (error) {
      throw namingDatabase("working with the database", error);
    } finally {
      await disconnect(pool);
    }
  });
}

const look = (pool: Pool, signal: AbortSignal) => readSnapshot(pool, "looking at the schema", readSchemaState, signal);

/** Looks before it migrates: nearly always there is nothing to do, and a connection more costs as much as a short run. */
async function connectMigrated(url: string, directUrl: string, signal: AbortSignal): Promise<Pool> {
  const pool = await connect(url, {}, signal);
  try {
    const { kind } = await look(pool, signal);
    if (kind !== "behind") return pool;
  } catch (error) {
    await disconnect(pool);
    throw error;
  }
  // Closed before: a role may be limited to one connection.
  await disconnect(pool);
  await migrate(directUrl, signal);
  return connect(url, {}, signal);
}
