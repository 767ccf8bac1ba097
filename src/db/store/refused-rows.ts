import { is } from "drizzle-orm";
import { getTableConfig, PgTable } from "drizzle-orm/pg-core";
import { ContentError } from "../../errors.ts";
import type { Connection } from "../connect.ts";
import { databaseError, driverError, isLockTimeout, mayComeFromRows } from "../db-errors.ts";
import { type HeldLease, withLease } from "../lease.ts";
import * as schema from "../schema.ts";
import type { TransactionOptions } from "../transaction.ts";

/** The database refused rows, although its tables can be written. The cause is its error. */
export class RefusedRows extends Error {
  constructor(cause: unknown) {
    super("the database refused these rows", { cause });
    this.name = "RefusedRows";
  }
}

/** The failure of a library whose rows the database refuses. `operation` begins its message. */
export function refusedByDatabase(operation: string, error: unknown): ContentError {
  return new ContentError("rejected_by_database", databaseError(operation, driverError(error)).message, {
    cause: error,
  });
}

/** Limits of the time that a transaction waits for the lock of a row. */
export type LockPatience = Pick<TransactionOptions, "lockTimeoutMs" | "lockAttempts">;

/** The first attempt waits once. Afterwards PROBE shows whether a row or the whole table is locked, and waits for a table. */
const FIRST: LockPatience = { lockAttempts: 1 };
/** The whole batch has already waited for the lock. */
const PART: LockPatience = { lockTimeoutMs: 500, lockAttempts: 1 };
/** With FIRST, a locked table is waited for five times, as in any other transaction. */
const PROBING: LockPatience = { lockAttempts: 4 };

/** Statements that need a table with its key, all its columns and all privileges, and write no row. */
function probe(table: PgTable): string {
  const { name, columns, primaryKeys, indexes } = getTableConfig(table);
  const written = columns.filter((column) => column.generatedIdentity === undefined);
  const names = written.map((column) => column.name).join(", ");
  const nulls = written.map((column) => `NULL::${column.getSQLType()}`);
  const key = primaryKeys[0]?.columns ?? indexes.find((index) => index.config.unique)?.config.columns;
  const conflict = key ? `(${key.map((column) => ("name" in column ? column.name : "")).join(", ")})` : "";
  return `
INSERT INTO simcat.${name} (${names}) SELECT ${nulls.join(", ")} WHERE false ON CONFLICT ${conflict} DO NOTHING;
UPDATE simcat.${name} SET (${names}) = ROW(${nulls.join(", ")}) WHERE false;
DELETE FROM simcat.${name} WHERE false`;
}

/** The database refuses these statements if a table, a key, a column or a privilege is missing or differs, or if a table is locked. */
const PROBE = Object.values(schema)
  .filter((table) => is(table, PgTable))
  .map(probe)
  .join(";");

/**
 * Runs a transaction and determines whether an error concerns only its rows: they are the cause if all tables can be written.
 * `save` is called again after a lock time-out, because the probe may have waited for the end of a lock on a whole table.
 * @throws RefusedRows if the rows are the cause, any other error unchanged
 */
export async function detectRefusedRows<T>(
  lease: HeldLease,
  operation: string,
  save: (patience: LockPatience) => Promise<T>,
): Promise<T> {
  const probeTables = async (error: unknown) => {
    if (!mayComeFromRows(error)) throw error;
    await withLease(lease, { operation, ...PROBING }, (connection) => connection.query(PROBE));
  };
  try {
    return await save(FIRST);
  } catch (error) {
    await probeTables(error);
    if (!isLockTimeout(driverError(error))) throw new RefusedRows(error);
  }
  try {
    return await save(PART);
  } catch (error) {
    await probeTables(error);
    throw new RefusedRows(error);
  }
}

/**
 * Writes items in one transaction, by `work`; no items need none. If the database refuses the rows of an item, it writes the two halves
 * separately, and so on, until each refused item is in a batch of its own and all others are stored. One refused item of n costs
 * 2 log2 n transactions.
 * @returns each transaction that was committed, with its result, and the items whose rows were refused
 */
export async function saveInHalves<T, Result>(
  items: readonly T[],
  lease: HeldLease,
  options: TransactionOptions,
  work: (connection: Connection, items: readonly T[]) => Promise<Result>,
) {
  const written: { readonly items: readonly T[]; readonly result: Result }[] = [];
  const refused: { readonly item: T; readonly error: unknown }[] = [];
  const write = async (some: readonly T[], patience: LockPatience) => {
    const result = await withLease(lease, { ...options, ...patience }, (connection) => work(connection, some));
    written.push({ items: some, result });
  };
  const split = async (some: readonly T[], error: unknown): Promise<void> => {
    const [only] = some;
    if (only !== undefined && some.length === 1) {
      refused.push({ item: only, error });
      return;
    }
    const middle = some.length >> 1;
    for (const half of [some.slice(0, middle), some.slice(middle)]) {
      try {
        await write(half, PART);
      } catch (refusal) {
        if (!mayComeFromRows(refusal)) throw refusal;
        await split(half, refusal);
      }
    }
  };
  if (items.length === 0) return { written, refused };
  try {
    await detectRefusedRows(lease, options.operation, (patience) => write(items, patience));
  } catch (error) {
    if (!(error instanceof RefusedRows)) throw error;
    await split(items, error.cause);
  }
  return { written, refused };
}
