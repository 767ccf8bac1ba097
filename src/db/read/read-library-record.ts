import { and, desc, eq, isNull } from "drizzle-orm";
import { drizzle } from "drizzle-orm/node-postgres";
import type { LibraryKey } from "../../model.ts";
import { readNow } from "../clock.ts";
import type { Connection, Pool } from "../connect.ts";
import { libraries, libraryHistory, librarySync, rejects, scenarioHistory, scenarios } from "../schema.ts";
import { readSnapshot } from "../transaction.ts";
import { readLastGoodRun } from "./recent-runs.ts";
import { readStoredLibrary } from "./stored-libraries.ts";

/** How many open rejects are read; of the others only their number. */
const MAX_SHOWN = 20;

export type LibraryRows = Awaited<ReturnType<typeof readLibraryRecord>>;

/** Everything that is stored of one library, from one snapshot. */
export async function readLibraryRecord(pool: Pool, key: LibraryKey, signal: AbortSignal) {
  const read = async (connection: Connection) => ({
    key,
    now: await readNow(connection),
    lastGoodRun: await readLastGoodRun(connection),
    stored: await readStoredLibrary(connection, key),
    library: await readRow(connection, key),
    reads: await readReads(connection, key),
    scenarios: await countOf(connection, scenarios, key, isNull(scenarios.removedAt)),
    versions: {
      library: await countOf(connection, libraryHistory, key),
      scenarios: await countOf(connection, scenarioHistory, key),
    },
    rejects: await readRejects(connection, key),
  });
  return readSnapshot(pool, "reading what is stored of the library", read, signal);
}

type Keyed =
  | typeof libraries
  | typeof librarySync
  | typeof rejects
  | typeof scenarios
  | typeof libraryHistory
  | typeof scenarioHistory;

const isOf = (table: Keyed, { owner, name }: LibraryKey) => and(eq(table.owner, owner), eq(table.libraryName, name));

function countOf(
  connection: Connection,
  table: Keyed,
  key: LibraryKey,
  condition?: ReturnType<typeof isNull>,
): Promise<number> {
  return drizzle(connection).$count(table, and(isOf(table, key), condition));
}

async function readRow(connection: Connection, key: LibraryKey) {
  const { lastModified, firstSeenAt, changedAt, removedAt } = libraries;
  const [row] = await drizzle(connection)
    .select({ lastModified, firstSeenAt, changedAt, removedAt })
    .from(libraries)
    .where(isOf(libraries, key));
  return row ?? null;
}

async function readReads(connection: Connection, key: LibraryKey) {
  const { lastError, lastFailedAt, lastSuccessAt } = librarySync;
  const [row] = await drizzle(connection)
    .select({ lastError, lastFailedAt, lastSuccessAt })
    .from(librarySync)
    .where(isOf(librarySync, key));
  return row ?? { lastError: null, lastFailedAt: null, lastSuccessAt: null };
}

async function readRejects(connection: Connection, key: LibraryKey) {
  const { kind, code, path, reason, firstSeenAt, lastSeenAt, resolvedAt } = rejects;
  const shown = await drizzle(connection)
    .select({ kind, code, path, reason, firstSeenAt, lastSeenAt })
    .from(rejects)
    .where(and(isOf(rejects, key), isNull(resolvedAt)))
    .orderBy(desc(lastSeenAt), rejects.id)
    .limit(MAX_SHOWN);
  const open = await countOf(connection, rejects, key, isNull(resolvedAt));
  return { open, resolved: (await countOf(connection, rejects, key)) - open, shown };
}
