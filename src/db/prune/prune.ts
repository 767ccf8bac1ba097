import { hostname } from "node:os";
import { ConfigurationError } from "../../errors.ts";
import type { LibraryKey } from "../../model.ts";
import { DAY_MS } from "../../units.ts";
import { createClock, readNow } from "../clock.ts";
import { type Connection, oneRow, type Pool } from "../connect.ts";
import { type Lease, withLease } from "../lease.ts";
import { SYNC_LEASE } from "../lease-names.ts";
import { BY_KEY, readSnapshot } from "../transaction.ts";
import * as statements from "./prune-statements.ts";

/** How many rows of each table are old, or were deleted. */
export interface PrunedRows {
  libraries: number;
  scenarios: number;
  libraryHistory: number;
  scenarioHistory: number;
  librarySync: number;
  scenarioAbsences: number;
  rejects: number;
}

/** No row is older than this, and Postgres has no dates for much greater ages. */
const MAX_AGE_MS = 1000 * 365 * DAY_MS;
const LIBRARIES_PER_TRANSACTION = 500;
/** They contain about ROWS_PER_TRANSACTION scenarios. */
const BLOCKS_PER_TRANSACTION = 500;

/**
 * The moment `olderThanMs` ago by the database's clock. Rows that ended before it are old.
 * @throws ConfigurationError if a table is partitioned
 */
export async function readCutoff(pool: Pool, olderThanMs: number, signal: AbortSignal): Promise<Date> {
  const read = async (connection: Connection) => {
    const { rows } = await connection.query<{ name: string }>(statements.SELECT_PARTITIONED);
    return { now: await readNow(connection), partitioned: rows };
  };
  const { now, partitioned } = await readSnapshot(pool, "reading the database's clock", read, signal);
  if (partitioned.length > 0) {
    const names = partitioned.map(({ name }) => name).join(", ");
    throw new ConfigurationError(`prune cannot delete from partitioned tables: ${names}`, {
      hint: "delete old rows by partition, or move them to a table without partitions",
    });
  }
  return new Date(now.getTime() - Math.min(olderThanMs, MAX_AGE_MS));
}

/** Counts the rows that `prune` would delete. */
export function countPrunable(pool: Pool, cutoff: Date, signal: AbortSignal): Promise<PrunedRows> {
  const count = async (connection: Connection) =>
    oneRow(await connection.query<PrunedRows>(statements.COUNT_PRUNABLE, [cutoff]));
  return readSnapshot(pool, "counting old rows", count, signal);
}

/** Since when the history is complete; null before the first run that saw everything. */
export function readHistoryStart(pool: Pool, signal: AbortSignal): Promise<Date | null> {
  const read = async (connection: Connection) =>
    oneRow(await connection.query<{ since: Date | null }>(statements.SELECT_HISTORY_START)).since;
  return readSnapshot(pool, "reading since when the history is complete", read, signal);
}

/** Runs `prune` under the lease of the runs. @throws BusyError if a run is in progress */
export async function pruneUnderLease(
  pool: Pool,
  cutoff: Date,
  onProgress: (rows: number) => void,
  signal: AbortSignal,
): Promise<PrunedRows> {
  const lease = { name: SYNC_LEASE, holder: `${hostname()}:${process.pid} prune` };
  const work = (held: Lease) => prune({ pool, lease: held, cutoff, onProgress }, AbortSignal.any([signal, held.lost]));
  return await withLease(pool, await createClock(pool, signal), lease, work, signal);
}

interface PruneTools {
  readonly pool: Pool;
  readonly lease: Lease;
  /** Rows that ended before it are deleted. */
  readonly cutoff: Date;
  /** Called after each transaction with the number of rows deleted so far. */
  readonly onProgress: (rows: number) => void;
}

/**
 * Deletes removed libraries with all their rows, removed scenarios with their versions, old versions, and resolved
 * rejects. If it is stopped between two transactions, the database is consistent, and the next prune continues.
 */
export async function prune({ pool, lease, cutoff, onProgress }: PruneTools, signal: AbortSignal): Promise<PrunedRows> {
  const pruned = noRows();
  const record = createPruneRecorder(cutoff);
  const write = async (
    work: (connection: Connection) => Promise<Partial<PrunedRows>>,
    { byKey = false } = {},
  ): Promise<number> => {
    signal.throwIfAborted();
    const deleted = await lease.write({ operation: "deleting old rows", byKey }, async (connection) => {
      const rows = await work(connection);
      await record(connection, rows);
      return rows;
    });
    for (const [table, rows] of Object.entries(deleted)) pruned[table as keyof PrunedRows] += rows;
    onProgress(sumOf(pruned));
    return sumOf(deleted);
  };

  const { libraries, blocks } = await readSnapshot(
    pool,
    "looking for old rows",
    (connection) => readOld(connection, cutoff),
    signal,
  );
  for (const keys of groupByRows(libraries)) {
    await write((connection) => deleteLibraries(connection, keys, cutoff), { byKey: true });
  }
  for (let block = 0; block < blocks; block += BLOCKS_PER_TRANSACTION) {
    await write((connection) => deleteScenarios(connection, block, cutoff));
  }
  for (const [table, text] of Object.entries(statements.DELETE_OLDEST)) {
    const deleteOldest = async (connection: Connection) => ({
      [table]: await countDeleted(connection, text, [cutoff]),
    });
    while ((await write(deleteOldest)) === statements.ROWS_PER_TRANSACTION);
  }
  return pruned;
}

/** Versions of libraries and of scenarios among these rows; a removed row is the last version of its item. */
export function versionsOf(rows: Partial<PrunedRows>) {
  return {
    ofLibraries: (rows.libraries ?? 0) + (rows.libraryHistory ?? 0),
    ofScenarios: (rows.scenarios ?? 0) + (rows.scenarioHistory ?? 0),
  };
}

/**
 * Records in `prunes` that history is deleted, in the transaction that deletes it: the first one inserts the row, later ones
 * add to its counts. If the first COMMIT was not answered and failed, the repetition inserts it again.
 */
function createPruneRecorder(cutoff: Date) {
  let id: number | null = null;
  return async (connection: Connection, rows: Partial<PrunedRows>): Promise<void> => {
    const { ofLibraries, ofScenarios } = versionsOf(rows);
    if (ofLibraries + ofScenarios === 0) return;
    if (id !== null) {
      const { rowCount } = await connection.query(statements.ADD_TO_PRUNE, [id, ofLibraries, ofScenarios]);
      if (rowCount !== 0) return;
    }
    const inserted = await connection.query<{ id: number }>(statements.INSERT_PRUNE, [
      cutoff,
      ofLibraries,
      ofScenarios,
    ]);
    id = oneRow(inserted).id;
  };
}

async function readOld(connection: Connection, cutoff: Date) {
  await connection.query(BY_KEY);
  const libraries = await connection.query<RemovedLibrary>(statements.SELECT_REMOVED_LIBRARIES, [cutoff]);
  const { blocks } = oneRow(await connection.query<{ blocks: number }>(statements.COUNT_SCENARIO_BLOCKS));
  return { libraries: libraries.rows, blocks };
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

export const sumOf = (rows: Partial<PrunedRows>) => Object.values(rows).reduce((sum, count) => sum + count, 0);

interface RemovedLibrary extends LibraryKey {
  readonly rows: number;
}

/** Groups small libraries for one transaction; a large library is its own group. */
function* groupByRows(libraries: readonly RemovedLibrary[]): Generator<LibraryKey[]> {
  let group: LibraryKey[] = [];
  let rows = 0;
  for (const library of libraries) {
    const isFull = rows + library.rows > statements.ROWS_PER_TRANSACTION || group.length === LIBRARIES_PER_TRANSACTION;
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
 * Deletes all rows of these libraries in one transaction. If a bookmark outlived some scenarios, a library that returns
 * unchanged would be skipped without them.
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
  const result = await connection.query<Pick<PrunedRows, "scenarios" | "scenarioHistory">>(
    statements.DELETE_SCENARIOS,
    [cutoff, `(${block},0)`, `(${block + BLOCKS_PER_TRANSACTION},0)`],
  );
  return oneRow(result);
}

async function countDeleted(connection: Connection, text: string, values: unknown[]): Promise<number> {
  const { rowCount } = await connection.query(text, values);
  if (rowCount === null) throw new Error("DELETE returned no row count");
  return rowCount;
}
