import { ContentError } from "../../errors.ts";
import { databaseError, driverError, mayComeFromRows } from "../db-errors.ts";
import type { TransactionOptions } from "../transaction.ts";

/** The database refused rows, and accepts the same statements without any. The cause is its error. */
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
export type LockPatience = Pick<TransactionOptions<unknown>, "lockTimeoutMs" | "lockAttempts">;

/** The first attempt waits once. The statements without rows then show whether a row or the whole table is locked. */
const FIRST: LockPatience = { lockAttempts: 1 };
/** The whole batch has already waited for the lock. */
const PART: LockPatience = { lockTimeoutMs: 500, lockAttempts: 1 };

/**
 * Runs a transaction and determines whether an error concerns only its rows. The rows are the cause if the database accepts
 * the same statements without a row; with a missing table or privilege, or a locked table, it refuses these too.
 * @throws RefusedRows if the rows are the cause, any other error unchanged
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
  /** One transaction. `isPart` is true if an earlier one contained these items. */
  readonly write: (some: readonly T[], patience: LockPatience, isPart: boolean) => Promise<void>;
  /** A transaction with the same statements and no item. */
  readonly writeNothing: () => Promise<unknown>;
  /** Called if the database refuses this item even in a transaction of its own. */
  readonly onRefused: (item: T, error: unknown) => Promise<void>;
}

/**
 * Writes items in one transaction. If the database refuses the rows of an item, it writes the two halves separately, and so on,
 * until each refused item is in a batch of its own and all others are stored. One refused item of n costs 2 log2 n transactions.
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
