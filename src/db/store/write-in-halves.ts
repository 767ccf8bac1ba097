import { mayComeFromRows } from "../db-errors.ts";
import type { TransactionOptions } from "../transaction.ts";

/** The database refused rows, and accepts the same statements without any: the cause is what it answered. */
export class RefusedRows extends Error {
  constructor(cause: unknown) {
    super("the database refused these rows", { cause });
    this.name = "RefusedRows";
  }
}

/** How long a transaction waits for the lock of a row. */
export type LockPatience = Pick<TransactionOptions<unknown>, "lockTimeoutMs" | "lockAttempts">;

/** The first attempt waits once: whether a row or a whole table is locked is found out before any more waiting. */
const FIRST: LockPatience = { lockAttempts: 1 };
/** The whole batch has waited for the lock already. */
const PART: LockPatience = { lockTimeoutMs: 500, lockAttempts: 1 };

/**
 * Runs a transaction, and finds out whether an error concerns its rows or every library: rows cause it if the database
 * accepts the same statements without a row. A missing table or privilege, or a locked table, is refused then too.
 * @throws RefusedRows when the rows cause it, anything else unchanged
 */
export async function attributeError<T>(
  run: (patience: LockPatience) => Promise<T>,
  runWithoutRows: () => Promise<unknown>,
): Promise<T> {
  try {
    return await run(FIRST);
  } catch (error) {
    if (!mayComeFromRows(error)) throw error;
    await runWithoutRows();
    throw new RefusedRows(error);
  }
}

export interface HalvesTools<T> {
  /** One transaction. `isPart`: it is not the first one that has these items. */
  readonly write: (some: readonly T[], patience: LockPatience, isPart: boolean) => Promise<void>;
  /** The same statements in a transaction without any item. */
  readonly writeNothing: () => Promise<unknown>;
  /** The database refuses this item even in a transaction of its own. */
  readonly onRefused: (item: T, error: unknown) => Promise<void>;
}

/**
 * Writes items in one transaction. When the database refuses the rows of one of them, writes the two halves, and so on, until
 * each refused item is by itself: one of n costs 2 log2 n transactions, and all the others are stored.
 */
export async function writeInHalves<T>(items: readonly T[], tools: HalvesTools<T>): Promise<void> {
  const writePart = async (part: readonly T[]): Promise<void> => {
    try {
      await tools.write(part, PART, true);
    } catch (error) {
      if (!mayComeFromRows(error)) throw error;
      await split(part, error);
    }
  };
  const split = async (some: readonly T[], error: unknown): Promise<void> => {
    const [only] = some;
    if (only !== undefined && some.length === 1) return tools.onRefused(only, error);
    const middle = some.length >> 1;
    await writePart(some.slice(0, middle));
    await writePart(some.slice(middle));
  };
  try {
    await attributeError((patience) => tools.write(items, patience, false), tools.writeNothing);
  } catch (error) {
    if (!(error instanceof RefusedRows)) throw error;
    await split(items, error.cause);
  }
}
