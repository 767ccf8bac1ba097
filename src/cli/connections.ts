import type { Config, ServiceConfig } from "../config.ts";
import { type ConnectOptions, connect, disconnect, type Pool } from "../db/connect.ts";
import { asDatabaseError } from "../db/db-errors.ts";
import { migrate } from "../db/migrate.ts";
import { assertTables } from "../db/missing-objects.ts";
import type { ReadSource } from "../db/read/read-source.ts";
import { assertUsable, readVisibleSchemaState } from "../db/schema-state.ts";
import { readSnapshot } from "../db/transaction.ts";
import type { EmbeddedPostgres } from "../embedded-postgres/embedded-postgres.ts";
import { ConfigurationError } from "../errors.ts";
import { clearLine, LONG_WAIT_MS, SHOWN_WAIT_MS } from "../output/progress.ts";
import { databaseSecrets, maskDatabaseUrl } from "../secrets.ts";
import type { Service, ServiceEvent } from "../service/client.ts";
import type { Context } from "./context.ts";
import { notify } from "./notify.ts";

/** Runs `work` with a client of the service, and closes it afterwards. */
export async function withService<T>(
  { environment, version, mask }: Context,
  config: ServiceConfig,
  onEvent: (event: ServiceEvent) => void,
  work: (service: Service) => Promise<T>,
): Promise<T> {
  // Imported here, because most commands connect only to the database.
  const { openService } = await import("../service/client.ts");
  const service = openService({ ...config, environment, version, mask, onEvent });
  return work(service).finally(() => service.close());
}

/**
 * Runs `work` with a connection pool; `source` is what its role may read. `require`: the schema must be current, except for a role that
 * may read only the views, and no embedded database is created. `migrate`: it is migrated first, unless SIMCAT_AUTO_MIGRATE is false.
 * @throws ConfigurationError if the database or its schema is not as required, DatabaseError if the database fails
 */
export async function withDatabase<T>(
  context: Context,
  config: Config,
  use: "migrate" | "require" | "any",
  work: (pool: Pool, source: ReadSource, ensureRunning: DatabaseUrls["ensureRunning"]) => Promise<T>,
): Promise<T> {
  const { stop } = context;
  const missingIn = use === "require" ? await findMissingEmbedded(context, config) : null;
  if (missingIn !== null) {
    throw new ConfigurationError(
      `nothing is stored yet: DATABASE_URL is not set, and there is no embedded database in ${missingIn}`,
      { hint: "run simcat backfill, which creates one, or set DATABASE_URL" },
    );
  }
  return withDatabaseUrls(context, config, async (urls) => {
    const options = announceWaits(context, config);
    let pool: Pool | null = await connect(urls.url, options, stop);
    try {
      // Checked before it is migrated: it is nearly always current, and another connection takes as long as a short run.
      let state = use === "any" ? undefined : await readState(pool, stop);
      if (state?.kind === "behind" && use === "migrate" && config.autoMigrate) {
        // Closed before the migration, because a role may be limited to one connection.
        await disconnect(pool);
        pool = null;
        await migrate(urls.directUrl, stop, options);
        pool = await connect(urls.url, options, stop);
        state = await readState(pool, stop);
        if (state?.kind === "behind") {
          const problem = "the migrations were applied, but not to the database of DATABASE_URL";
          throw new ConfigurationError(problem, { hint: "name the same database in DATABASE_DIRECT_URL" });
        }
      }
      if (state) assertUsable(state);
      // A run would notice a missing table only after it has begun to store.
      if (use === "migrate") await readSnapshot(pool, "looking at the tables", assertTables, stop);
      return await work(pool, state === null ? "views" : "tables", urls.ensureRunning);
    } catch (error) {
      throw asDatabaseError("working with the database", error);
    } finally {
      if (pool !== null) await disconnect(pool);
    }
  });
}

/** Null for a role that may read only the views. */
const readState = (pool: Pool, signal: AbortSignal) =>
  readSnapshot(pool, "looking at the schema", readVisibleSchemaState, signal);

/** Prints or logs waits for the database or the lease: on a terminal above the progress line, otherwise as a log line. */
export function announceWaits(context: Context, config: Config): ConnectOptions {
  const { isErr } = context.terminal;
  return {
    slowAfterMs: isErr ? SHOWN_WAIT_MS : LONG_WAIT_MS,
    onWait({ code, message }) {
      if (isErr) clearLine(context);
      notify(context, config, "info", code, message);
    },
  };
}

export interface DatabaseUrls {
  readonly url: string;
  /** For migrations. */
  readonly directUrl: string;
  /** Starts the embedded Postgres again if it has ended. Other databases are not simcat's to start. */
  readonly ensureRunning: (signal: AbortSignal) => Promise<void>;
}

/** Runs `work` with the database's URLs. The embedded database is started or attached to, and released afterwards. */
export async function withDatabaseUrls<T>(context: Context, config: Config, work: (urls: DatabaseUrls) => Promise<T>) {
  if (config.databaseUrl !== null) {
    const directUrl = config.databaseDirectUrl ?? config.databaseUrl;
    return work({ url: config.databaseUrl, directUrl, ensureRunning: async () => {} });
  }
  const embedded = await openEmbedded(context, config);
  try {
    context.hide([...databaseSecrets(embedded.url), ...databaseSecrets(embedded.readerUrl)]);
    const text = `the embedded database is at ${maskDatabaseUrl(embedded.readerUrl)}, for trials (its OpenSSL is of 2018); simcat db prints its password and keeps it running`;
    notify(context, config, embedded.created ? "info" : "debug", "embedded_database", text);
    return await work({ url: embedded.url, directUrl: embedded.url, ensureRunning: embedded.ensureRunning });
  } finally {
    await embedded.stop();
  }
}

/** Starts the embedded Postgres or attaches to it, and prints or logs its progress. */
export async function openEmbedded(context: Context, { stateDir, ...config }: Config): Promise<EmbeddedPostgres> {
  // Imported here, because most commands connect to a database of their own.
  const { openEmbeddedPostgres } = await import("../embedded-postgres/embedded-postgres.ts");
  const onProgress = (text: string) => notify(context, config, "info", "embedded_database", text);
  const { environment, stop } = context;
  return openEmbeddedPostgres({ stateDir, environment, onProgress }, stop);
}

/** Where a run would create the embedded database; null if there is a database. @throws ConfigurationError if none can be. */
export async function findMissingEmbedded({ environment }: Context, { databaseUrl, stateDir }: Config) {
  if (databaseUrl !== null) return null;
  const { findMissingDatabase } = await import("../embedded-postgres/embedded-postgres.ts");
  return findMissingDatabase({ stateDir, environment });
}
