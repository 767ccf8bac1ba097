import { databaseError, errorCode, isConnectionLost } from "../db/failures.ts";
import { SimcatError } from "../errors.ts";
import type { RunStatus } from "../model.ts";

/** How a run ended: at its end (no error), or before its time. */
export interface Ending {
  readonly status: RunStatus;
  /** What to tell people about it; null when there is nothing beyond the counts. */
  readonly message: string | null;
  readonly error: Error | null;
}

/** The run came to its end. */
export const came = (status: "ok" | "partial" | "held", message: string | null): Ending => ({
  status,
  message,
  error: null,
});

/** Tells the endings that were foreseen from the database's refusals and from bugs. */
export function toEnding(thrown: unknown): Ending {
  if (thrown instanceof SimcatError) return cut(thrown.status ?? "failed", thrown);
  const error = thrown instanceof Error ? thrown : new Error(String(thrown));
  const isDatabase = /^[0-9A-Z]{5}$/.test(errorCode(error)) || isConnectionLost(error);
  return isDatabase ? cut("database_failed", databaseError("working with the database", error)) : cut("failed", error);
}

const cut = (status: RunStatus, error: Error): Ending => ({ status, message: error.message, error });
