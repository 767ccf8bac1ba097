import type { Config } from "../../config.ts";
import { openClock } from "../../db/clock.ts";
import { connect, disconnect, type Pool } from "../../db/connect.ts";
import { databaseError } from "../../db/failures.ts";
import { readSchemaState } from "../../db/migrate.ts";
import { readMigrationLacks, readRunLacks } from "../../db/privileges.ts";
import { readServer } from "../../db/server.ts";
import { ConfigurationError, SimcatError } from "../../errors.ts";
import type { CheckLine } from "../../report/check.ts";
import { maskDatabaseUrl } from "../../secrets.ts";
import type { DatabaseUrls } from "../with-database.ts";
import { ok, skipped } from "./lines.ts";
import { judgePrivileges, judgeSchema } from "./schema.ts";
import { judgeClock, judgeServer } from "./server.ts";

/** A check tells how things are now; a run waits for a database that does not answer. */
export const PATIENCE_MS = 0;

export type Lines = AsyncGenerator<CheckLine, void>;

/** What DATABASE_URL leads to. */
export async function* checkUrl(config: Config, { url }: DatabaseUrls, signal: AbortSignal): Lines {
  const where = config.databaseUrl === null ? "the embedded database" : maskDatabaseUrl(url);
  let pool: Pool;
  try {
    pool = await connect(url, { max: 1, patienceMs: PATIENCE_MS }, signal);
  } catch (error) {
    // It answered, but with an encoding that will not do.
    if (error instanceof ConfigurationError) yield ok("database", `${where} answered`);
    throw error;
  }
  try {
    yield* checkPool(pool, where, config, signal);
  } catch (error) {
    throw error instanceof SimcatError ? error : databaseError("asking the database", error);
  } finally {
    await disconnect(pool);
  }
}

async function* checkPool(pool: Pool, where: string, config: Config, signal: AbortSignal): Lines {
  const server = await readServer(pool);
  yield judgeServer(server, where);
  yield ok("encoding", `${server.encoding}, which holds every name`);
  const lacks = await readRunLacks(pool);
  if (lacks.some(({ hidesVersion }) => hidesVersion)) {
    yield skipped("schema", "the privileges must be given first");
    yield judgePrivileges(lacks);
  } else {
    const state = await readSchemaState(pool);
    yield judgeSchema(state, config.autoMigrate);
    const migratesHere = config.autoMigrate && config.databaseDirectUrl === config.databaseUrl;
    const more = migratesHere && state.kind === "behind" ? await readMigrationLacks(pool) : [];
    yield judgePrivileges([...lacks, ...more]);
  }
  const clock = await openClock(pool, signal);
  yield judgeClock(Date.now(), clock.now());
}
