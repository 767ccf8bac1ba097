import type { LibraryKey } from "../../model.ts";
import { DAY_MS } from "../../units.ts";
import type { Connection, Pool } from "../connect.ts";
import { fencedWrites } from "../fenced-writes.ts";
import type { Lease } from "../lease.ts";
import { readNow, readSnapshot } from "../snapshot.ts";
import { BY_KEY } from "../transaction.ts";
import * as statements from "./prune-statements.ts";

/** How many rows of each table are old enough to be deleted, or were deleted. */
export interface PrunedRows {
  libraries: number;
  scenarios: number;
  libraryHistory: number;
  scenarioHistory: number;
  librarySync: number;
  scenarioAbsences: number;
  rejects: number;
}

/** Nothing is older than this, and Postgres has no dates for much greater ages. */
const OLDEST_MS = 1000 * 365 * DAY_MS;
const LIBRARIES_AT_ONCE = 500;
/** Holds about ROWS_AT_ONCE scenarios. */
const BLOCKS_AT_ONCE = 500;

/** The moment so long ago, by the database's clock: what ended before it is old. */
export async function readCutoff(pool: Pool, olderThanMs: number, signal: AbortSignal): Promise<Date> {
  const now = await readSnapshot(pool, "asking the database for its time", readNow, signal);
  return new Date(now.getTime() - Math.min(olderThanMs, OLDEST_MS));
}

/** How much `prune` would delete. */
export function countPrunable(pool: Pool, cutoff: Date, signal: AbortSignal): Promise<PrunedRows> {
  const count = async (connection: Connection) => {
    const { rows } = await connection.query<PrunedRows>(statements.COUNT_PRUNABLE, [cutoff]);
    return rows[0] ?? noRows();
  };
  return readSnapshot(pool, "counting what is old", count, signal);
}

export interface PruneTools {
  readonly pool: Pool;
  readonly lease: Lease;
  /** What ended before it is deleted. */
  readonly cutoff: Date;
  /** Hears after each transaction how many rows are gone. */
  readonly tell: (rows: number) => void;
}

/**
 * Deletes removed libraries with all that is kept of them, removed scenarios with their versions, old versions, and
 * resolved rejects. Stopped between two transactions it leaves a consistent database, and the next prune goes on.
 */
export async function prune({ pool, lease, cutoff, tell }: PruneTools, signal: AbortSignal): Promise<PrunedRows> {
  const pruned = noRows();
  const inTransaction = fencedWrites(pool, lease);
  const write = async (
    work: (connection: Connection) => Promise<Partial<PrunedRows>>,
    { byKey = false } = {},
  ): Promise<number> => {
    signal.throwIfAborted();
    const some = await inTransaction({ doing: "deleting what is old", byKey }, work);
    for (const [table, rows] of Object.entries(some)) pruned[table as keyof PrunedRows] += rows;
    tell(sumOf(pruned));
    return sumOf(some);
  };

  const { libraries, blocks } = await readSnapshot(
    pool,
    "looking for what is old",
    (connection) => readOld(connection, cutoff),
    signal,
  );
  for (const keys of groupByRows(libraries)) {
    await write((connection) => deleteLibraries(connection, keys, cutoff), { byKey: true });
  }
  for (let block = 0; block < blocks; block += BLOCKS_AT_ONCE) {
    await write((connection) => deleteScenarios(connection, block, cutoff));
  }
  for (const [table, text] of Object.entries(statements.DELETE_OLDEST)) {
    const some = async (connection: Connection) => ({ [table]: await countDeleted(connection, text, [cutoff]) });
    while ((await write(some)) === statements.ROWS_AT_ONCE);
  }
  return pruned;
}

async function readOld(connection: Connection, cutoff: Date) {
  await connection.query(BY_KEY);
  const libraries = await connection.query<RemovedLibrary>(statements.SELECT_REMOVED_LIBRARIES, [cutoff]);
  const { rows } = await connection.query<{ blocks: number }>(statements.COUNT_SCENARIO_BLOCKS);
  return { libraries: libraries.rows, blocks: rows[0]?.blocks ?? 0 };
}

const noRows = (): PrunedRows => ({
  libraries: 0,
  scenarios: 0,
  libraryHistory: 0,
  scenarioHistory: 0,
  librarySync: 0,
  scenarioAbsences: 0,
  rejects: 0,
});

export const sumOf = (rows: Partial<PrunedRows>) => Object.values(rows).reduce((sum, some) => sum + some, 0);

interface RemovedLibrary extends LibraryKey {
  readonly rows: number;
}

/** Many small libraries together, a large one alone. */
function* groupByRows(libraries: readonly RemovedLibrary[]): Generator<LibraryKey[]> {
  let group: LibraryKey[] = [];
  let rows = 0;
  for (const library of libraries) {
    const isFull = rows + library.rows > statements.ROWS_AT_ONCE || group.length === LIBRARIES_AT_ONCE;
    if (isFull && group.length > 0) {
      yield group;
      group = [];
      rows = 0;
    }
    group.push(library);
    rows += library.rows;
  }
  if (group.length > 0) yield group;
}

/**
 * All that is kept of these libraries in one transaction: with its bookmark still there and some scenarios gone already,
 * a library that comes back unchanged would pass for one that is stored.
 */
async function deleteLibraries(connection: Connection, keys: readonly LibraryKey[], cutoff: Date): Promise<PrunedRows> {
  const values = [cutoff, keys.map((key) => key.owner), keys.map((key) => key.name)];
  const deleteOf = (table: string) => countDeleted(connection, statements.deleteOfLibraries(table), values);
  return {
    librarySync: await deleteOf("library_sync"),
    scenarioAbsences: await deleteOf("scenario_absences"),
    rejects: await deleteOf("rejects"),
    scenarioHistory: await deleteOf("scenario_history"),
    libraryHistory: await deleteOf("library_history"),
    scenarios: await deleteOf("scenarios"),
    libraries: await countDeleted(connection, statements.DELETE_LIBRARIES, values),
  };
}

async function deleteScenarios(connection: Connection, block: number, cutoff: Date): Promise<Partial<PrunedRows>> {
  const { rows } = await connection.query<Pick<PrunedRows, "scenarios" | "scenarioHistory">>(
    statements.DELETE_SCENARIOS,
    [cutoff, `(${block},0)`, `(${block + BLOCKS_AT_ONCE},0)`],
  );
  return rows[0] ?? {};
}

async function countDeleted(connection: Connection, text: string, values: unknown[]): Promise<number> {
  return (await connection.query(text, values)).rowCount ?? 0;
}
