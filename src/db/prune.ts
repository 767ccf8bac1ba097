import { hostname } from "node:os";
import { ConfigurationError } from "../errors.ts";
import type { LibraryKey } from "../model.ts";
import { DAY_MS } from "../units.ts";
import { createClock, readNow } from "./clock.ts";
import { type Connection, oneRow, type Pool } from "./connect.ts";
import { HISTORY_BEGAN_AT } from "./history-start.ts";
import { type Lease, withLease } from "./lease.ts";
import { SYNC_LEASE } from "./lease-names.ts";
import { readSnapshot } from "./transaction.ts";

/** What a prune deletes: the rows that ended before the cutoff, and with `events` also the events before it. */
export interface PruneLimits {
  readonly cutoff: Date;
  readonly events: boolean;
}

/**
 * The rows of a table `t` that are old by themselves; $1 is the cutoff. All rows of an old library but its events are old too. The versions of a
 * removed row need no rule: they ended before it was removed. The tables are in the order in which a library is deleted.
 */
const OLD_ROWS = {
  library_sync: "false",
  scenario_absences: "false",
  rejects: "t.resolved_at < $1",
  scenario_history: "t.valid_to < $1",
  library_history: "t.valid_to < $1",
  scenarios: "t.removed_at < $1",
  libraries: "t.removed_at < $1",
  events: "t.seen_at < $1",
};

type PrunedTable = keyof typeof OLD_ROWS;

/** How many rows of each table are old, or were deleted. */
export type PrunedRows = Record<PrunedTable, number>;

const TABLES = Object.keys(OLD_ROWS) as PrunedTable[];
const LIBRARY_TABLES = TABLES.filter((table) => table !== "events");

const COUNT_PRUNABLE = `
WITH old AS (SELECT owner, library_name FROM simcat.libraries t WHERE ${OLD_ROWS.libraries})
SELECT ${LIBRARY_TABLES.map(
  (table) => `(
  SELECT count(*) FROM simcat.${table} t LEFT JOIN old USING (owner, library_name)
  WHERE ${OLD_ROWS[table]} OR old.owner IS NOT NULL) AS ${table}`,
).join(", ")}, (SELECT count(*) FROM simcat.events t WHERE $2 AND ${OLD_ROWS.events}) AS events`;

/** Rows per transaction, so that neither vacuum nor the next run waits for long. */
const PRUNED_AT_ONCE = 10_000;
/** They contain about PRUNED_AT_ONCE scenarios. */
const BLOCKS_AT_ONCE = 500;

/** Some old libraries with about PRUNED_AT_ONCE scenarios, or one with more. */
const SELECT_OLD_LIBRARIES = `
SELECT owner, library_name AS name FROM (
  SELECT owner, library_name, sum(scenario_count) OVER (ORDER BY owner, library_name) - scenario_count AS before
  FROM simcat.libraries t LEFT JOIN simcat.library_sync USING (owner, library_name) WHERE ${OLD_ROWS.libraries} LIMIT 500
) AS old WHERE coalesce(before, 0) < ${PRUNED_AT_ONCE}`;

/** By `ctid`, because the planner would read the whole table if one library has most of its rows. */
const deleteRows = (table: PrunedTable, ctids: string) =>
  `DELETE FROM simcat.${table} WHERE ctid = ANY (ARRAY(${ctids}))`;

const deleteOfLibraries = (table: PrunedTable) =>
  deleteRows(
    table,
    `SELECT r.ctid FROM unnest($1::text[], $2::text[]) AS k(owner, library_name) CROSS JOIN LATERAL (
  SELECT ctid FROM simcat.${table} r WHERE (r.owner, r.library_name) = (k.owner, k.library_name) OFFSET 0) AS r`,
  );

/** The old versions are found by the index on `valid_to`, the old events by that on `seen_at`. There are too few rejects to need an index. */
const deleteSome = (table: PrunedTable) =>
  deleteRows(table, `SELECT ctid FROM simcat.${table} t WHERE ${OLD_ROWS[table]} LIMIT ${PRUNED_AT_ONCE}`);

/**
 * The old scenarios in the blocks from $2 up to $3. No index covers removed scenarios: reading block by block reads each block
 * once; a LIMIT would read the whole table for each transaction.
 */
const DELETE_SCENARIOS = `DELETE FROM simcat.scenarios t WHERE ctid >= $2::tid AND ctid < $3::tid AND ${OLD_ROWS.scenarios}`;

const COUNT_SCENARIO_BLOCKS =
  "SELECT pg_relation_size('simcat.scenarios') / current_setting('block_size')::int8 AS blocks";

/** $1: the cutoff, $2 and $3: deleted versions of libraries and of scenarios, $4: whether events go too. Each prune has its own cutoff. */
const RECORD_PRUNE = `
WITH recorded AS (
  UPDATE simcat.prunes SET library_versions = library_versions + $2, scenario_versions = scenario_versions + $3
  WHERE cutoff = $1 RETURNING 1
)
INSERT INTO simcat.prunes (pruned_at, cutoff, library_versions, scenario_versions, events)
SELECT now(), $1, $2, $3, $4 WHERE NOT EXISTS (SELECT FROM recorded)`;

/** As the view `data_complete_as_of` has it, read from the tables: the role of a prune may have no rights on the views. */
const SELECT_HISTORY_START = `
SELECT CASE WHEN began.at IS NOT NULL THEN greatest(began.at, (SELECT max(cutoff) FROM simcat.prunes)) END AS since
FROM (SELECT ${HISTORY_BEGAN_AT} AS at) AS began`;

/** A `ctid` is unique only within one partition, so the statements would delete other rows of a partitioned table. */
const SELECT_PARTITIONED = `SELECT string_agg(oid::regclass::text, ', ') AS names
FROM pg_class WHERE relnamespace = to_regnamespace('simcat') AND relkind = 'p'`;

/** No row is older than this, and Postgres has no dates for much greater ages. */
const MAX_AGE_MS = 1000 * 365 * DAY_MS;

/**
 * A prune of the rows that ended more than `olderThanMs` ago by the database's clock. `historyStart`: since when the history is
 * complete before it; null before the first run that saw everything.
 * @throws ConfigurationError if a table is partitioned
 */
export function planPrune(pool: Pool, olderThanMs: number, events: boolean, signal: AbortSignal) {
  const plan = async (connection: Connection) => {
    const { names } = oneRow(await connection.query<{ names: string | null }>(SELECT_PARTITIONED));
    if (names !== null) {
      const hint = "delete old rows by partition, or move them to a table without partitions";
      throw new ConfigurationError(`prune cannot delete from partitioned tables: ${names}`, { hint });
    }
    const { since: historyStart } = oneRow(await connection.query<{ since: Date | null }>(SELECT_HISTORY_START));
    const now = await readNow(connection);
    return { cutoff: new Date(now.getTime() - Math.min(olderThanMs, MAX_AGE_MS)), events, historyStart };
  };
  return readSnapshot(pool, "planning a prune", plan, signal);
}

type PrunePlan = Awaited<ReturnType<typeof planPrune>>;

/** Since when the history is complete after a prune of these rows. */
export const historyStartAfter = ({ cutoff, historyStart }: PrunePlan, pruned: PrunedRows) =>
  historyStart !== null && historyStart < cutoff && deletesHistory(pruned) ? cutoff : historyStart;

/** Counts the rows that `prune` would delete. */
export function countPrunable(pool: Pool, { cutoff, events }: PruneLimits, signal: AbortSignal): Promise<PrunedRows> {
  const count = async (connection: Connection) =>
    oneRow(await connection.query<PrunedRows>(COUNT_PRUNABLE, [cutoff, events]));
  return readSnapshot(pool, "counting old rows", count, signal);
}

/**
 * Deletes removed libraries with all their rows, removed scenarios, old versions, resolved rejects, and with `events` old
 * events, under the lease of the runs. If it is stopped between two transactions, the database is consistent, and the next prune continues.
 * @param onProgress is called after each transaction with the number of rows deleted so far
 * @throws BusyError if a run is in progress
 */
export async function pruneUnderLease(
  pool: Pool,
  { cutoff, events }: PruneLimits,
  onProgress: (rows: number) => void,
  signal: AbortSignal,
): Promise<PrunedRows> {
  const pruned = { ...NOTHING_PRUNED };
  const prune = async (lease: Lease) => {
    const stop = AbortSignal.any([signal, lease.lost]);
    /** @returns how many rows this transaction deleted */
    const write = async (work: (connection: Connection) => Promise<Partial<PrunedRows>>, byKey = false) => {
      stop.throwIfAborted();
      // After a first attempt that was committed, the last one deletes the next rows, often none.
      const afterLostCommit = (first: PrunedRows, last: PrunedRows) => (sumOf(first) > sumOf(last) ? first : last);
      const options = { operation: "deleting old rows", byKey, afterLostCommit };
      const deleted = await lease.write(options, async (connection) => {
        const rows = { ...NOTHING_PRUNED, ...(await work(connection)) };
        const versions = [rows.libraries + rows.library_history, rows.scenarios + rows.scenario_history];
        if (deletesHistory(rows)) await connection.query(RECORD_PRUNE, [cutoff, ...versions, events]);
        return rows;
      });
      for (const table of TABLES) pruned[table] += deleted[table];
      onProgress(sumOf(pruned));
      return sumOf(deleted);
    };
    const execute = (table: PrunedTable, statement: string, values: unknown[]) =>
      write(async (connection) => ({ [table]: (await connection.query(statement, values)).rowCount ?? 0 }));

    while ((await write((connection) => deleteLibraries(connection, cutoff), true)) > 0);
    const countBlocks = (connection: Connection) => connection.query<{ blocks: number }>(COUNT_SCENARIO_BLOCKS);
    const { blocks } = oneRow(await readSnapshot(pool, "looking for old rows", countBlocks, stop));
    for (let block = 0; block < blocks; block += BLOCKS_AT_ONCE)
      await execute("scenarios", DELETE_SCENARIOS, [cutoff, `(${block},0)`, `(${block + BLOCKS_AT_ONCE},0)`]);
    const tables = ["library_history", "scenario_history", "rejects"] as const;
    for (const table of events ? ([...tables, "events"] as const) : tables)
      while ((await execute(table, deleteSome(table), [cutoff])) === PRUNED_AT_ONCE);
  };
  const holder = { name: SYNC_LEASE, holder: `${hostname()}:${process.pid} prune` };
  await withLease(pool, await createClock(pool, signal), holder, prune, signal);
  return pruned;
}

const NOTHING_PRUNED = Object.fromEntries(TABLES.map((table) => [table, 0])) as PrunedRows;

/**
 * Deletes all rows of some old libraries in one transaction. If a bookmark outlived some scenarios, a library that returns
 * unchanged would be skipped without them.
 */
async function deleteLibraries(connection: Connection, cutoff: Date): Promise<Partial<PrunedRows>> {
  const { rows } = await connection.query<LibraryKey>(SELECT_OLD_LIBRARIES, [cutoff]);
  const keys = [rows.map(({ owner }) => owner), rows.map(({ name }) => name)];
  const deleted: Partial<PrunedRows> = {};
  for (const table of LIBRARY_TABLES)
    deleted[table] = (await connection.query(deleteOfLibraries(table), keys)).rowCount ?? 0;
  return deleted;
}

/** Whether these rows contain versions or events. A removed row is its item's last version. */
const deletesHistory = ({ libraries, scenarios, library_history, scenario_history, events }: PrunedRows) =>
  libraries + scenarios + library_history + scenario_history + events > 0;

export const sumOf = (rows: PrunedRows) => Object.values(rows).reduce((sum, count) => sum + count, 0);
