import { asDatabaseError } from "../db/db-errors.ts";
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
  const named = asDatabaseError("working with the database", thrown);
  const error = named instanceof Error ? named : new Error(String(named));
  const status = error instanceof SimcatError ? (error.status ?? "failed") : "failed";
  return { status, message: error.message, error };
}
