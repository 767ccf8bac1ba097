import { hostname } from "node:os";
import { ConfigurationError } from "../errors.ts";
import { DAY_MS } from "../units.ts";
import { createClock } from "./clock.ts";
import { type Connection, oneRow, type Pool } from "./connect.ts";
import { HISTORY_BEGAN_AT } from "./history-began-at.ts";
import { acquireLease } from "./lease.ts";
import { SYNC_LEASE } from "./lease-names.ts";
import { readSnapshot, withTransaction } from "./transaction.ts";

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

/** In each transaction, so that neither vacuum nor the next run waits for long. */
const PRUNED_AT_ONCE = 20_000;
const LIBRARIES_AT_ONCE = 50;

/**
 * All rows of some old libraries, in one statement: if a bookmark outlived some scenarios, a library that returns unchanged
 * would be skipped without them. By `ctid`, because the planner would read the whole table if one library has most of its rows.
 */
const DELETE_LIBRARIES = `
WITH old AS (SELECT owner, library_name FROM simcat.libraries t WHERE ${OLD_ROWS.libraries} LIMIT ${LIBRARIES_AT_ONCE}),
${LIBRARY_TABLES.map(
  (table) => `${table} AS (
  DELETE FROM simcat.${table} WHERE ctid = ANY (ARRAY(SELECT r.ctid FROM old CROSS JOIN LATERAL (
    SELECT ctid FROM simcat.${table} r WHERE (r.owner, r.library_name) = (old.owner, old.library_name) OFFSET 0) AS r))
  RETURNING 1)`,
).join(",\n")}
SELECT ${LIBRARY_TABLES.map((table) => `(SELECT count(*) FROM ${table}) AS ${table}`).join(", ")}`;

/** Versions and events are found by an index on their time. The others are read from the start each time. */
const deleteSome = (table: PrunedTable) => `
WITH ${table} AS (DELETE FROM simcat.${table} WHERE ctid = ANY (ARRAY(
  SELECT ctid FROM simcat.${table} t WHERE ${OLD_ROWS[table]} LIMIT ${PRUNED_AT_ONCE})) RETURNING 1)
SELECT count(*) AS ${table} FROM ${table}`;

/** $1: the cutoff, $2 and $3: deleted versions of libraries and of scenarios, $4: whether events go too. Each prune has its own cutoff. */
const SAVE_PRUNE = `
WITH saved AS (
  UPDATE simcat.prunes SET library_versions = library_versions + $2, scenario_versions = scenario_versions + $3
  WHERE cutoff = $1 RETURNING 1
)
INSERT INTO simcat.prunes (pruned_at, cutoff, library_versions, scenario_versions, events)
SELECT now(), $1, $2, $3, $4 WHERE NOT EXISTS (SELECT FROM saved)`;

/** No row is older than this, and Postgres has no dates for much greater ages. */
const MAX_AGE_MS = 1000 * 365 * DAY_MS;

/**
 * $1: the age in milliseconds. The start of the history is that of the view `data_complete_as_of`, read from the tables, because
 * the role of a prune may have no rights on the views. A `ctid` is unique only within one partition, so the statements would
 * delete other rows of a partitioned table.
 */
const SELECT_PLAN = `
SELECT clock_timestamp() - least($1, ${MAX_AGE_MS})::float8 * interval '1 ms' AS cutoff,
  CASE WHEN began.at IS NOT NULL THEN greatest(began.at, (SELECT max(cutoff) FROM simcat.prunes)) END AS "historyStart",
  (SELECT string_agg('simcat.' || relname, ', ') FROM pg_class
   WHERE relnamespace = to_regnamespace('simcat') AND relkind = 'p') AS partitioned
FROM (SELECT ${HISTORY_BEGAN_AT} AS at) AS began`;

/**
 * A prune of the rows that ended more than `olderThanMs` ago by the database's clock; with `events` also of events.
 * `historyStart`: since when the history is complete before it; null before the first run that saw everything.
 * @throws ConfigurationError if a table is partitioned
 */
export async function planPrune(pool: Pool, olderThanMs: number, events: boolean, signal: AbortSignal) {
  type Row = { readonly cutoff: Date; readonly historyStart: Date | null; readonly partitioned: string | null };
  const read = (connection: Connection) => connection.query<Row>(SELECT_PLAN, [olderThanMs]);
  const { partitioned, ...plan } = oneRow(await readSnapshot(pool, "planning a prune", read, signal));
  if (partitioned === null) return { ...plan, events };
  const hint = "delete old rows by partition, or move them to a table without partitions";
  throw new ConfigurationError(`prune cannot delete from partitioned tables: ${partitioned}`, { hint });
}

type PrunePlan = Awaited<ReturnType<typeof planPrune>>;
type PruneLimits = Omit<PrunePlan, "historyStart">;

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
  const holder = { name: SYNC_LEASE, holder: `${hostname()}:${process.pid} prune` };
  const { lease } = await acquireLease(pool, await createClock(pool, signal), holder, async () => null, signal);
  const stop = AbortSignal.any([signal, lease.lost]);
  /** @returns how many rows this transaction deleted */
  const execute = async (statement: string, byKey: boolean) => {
    const options = { operation: "deleting old rows", byKey, fence: lease };
    const work = async (connection: Connection) => {
      const rows = { ...NOTHING_PRUNED, ...oneRow(await connection.query<Partial<PrunedRows>>(statement, [cutoff])) };
      const versions = [rows.libraries + rows.library_history, rows.scenarios + rows.scenario_history];
      if (deletesHistory(rows)) await connection.query(SAVE_PRUNE, [cutoff, ...versions, events]);
      return rows;
    };
    const deleted = await withTransaction(pool, options, work, stop);
    for (const table of TABLES) pruned[table] += deleted[table];
    onProgress(sumOf(pruned));
    return sumOf(deleted);
  };
  try {
    while ((await execute(DELETE_LIBRARIES, true)) > 0);
    const tables = ["scenarios", "library_history", "scenario_history", "rejects"] as const;
    for (const table of events ? ([...tables, "events"] as const) : tables)
      while ((await execute(deleteSome(table), false)) === PRUNED_AT_ONCE);
    return pruned;
  } finally {
    await lease.release();
  }
}

const NOTHING_PRUNED = Object.fromEntries(TABLES.map((table) => [table, 0])) as PrunedRows;

/** Whether these rows contain versions or events. A removed row is its item's last version. */
const deletesHistory = (rows: PrunedRows) => sumOf(rows) > rows.rejects;

export const sumOf = (rows: PrunedRows) => Object.values(rows).reduce((sum, count) => sum + count, 0);
