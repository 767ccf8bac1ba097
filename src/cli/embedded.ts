import type { Config } from "../config.ts";
import type { EmbeddedPostgres } from "../embedded-postgres/embedded-postgres.ts";
import type { Context } from "./context.ts";
import { tellBeside } from "./tell-beside.ts";

/** The directory in which a run would create the embedded database; null where there is a database. Creates nothing. */
export async function findMissingEmbedded(
  { environment }: Context,
  { databaseUrl, stateDir }: Config,
): Promise<string | null> {
  if (databaseUrl !== null) return null;
  const { findMissingDatabase } = await import("../embedded-postgres/embedded-postgres.ts");
  return findMissingDatabase({ stateDir, environment });
}

/** The embedded Postgres, started or attached to, telling what it does beside the command's work. */
export async function openEmbedded(context: Context, config: Config): Promise<EmbeddedPostgres> {
  // Most commands have a database of their own, and need nothing of it.
  const { openEmbeddedPostgres } = await import("../embedded-postgres/embedded-postgres.ts");
  const tell = (level: "info" | "warn") => (text: string) =>
    tellBeside(context, config, level, "embedded_database", text);
  const { environment, stop } = context;
  const { stateDir } = config;
  return openEmbeddedPostgres({ stateDir, environment, onProgress: tell("info"), onRestart: tell("warn") }, stop);
}
