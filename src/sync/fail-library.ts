import { databaseError, driverError } from "../db/db-errors.ts";
import type { FailureWrite } from "../db/store/save-failures.ts";
import { ContentError } from "../errors.ts";
import type { LibraryKey } from "../model.ts";
import type { RunEvent } from "./run-event.ts";
import type { Tally } from "./tally.ts";

export interface FailTools {
  readonly tally: Tally;
  readonly mask: (message: string) => string;
  readonly tell: (event: RunEvent) => void;
}

/** Counts and logs a library that failed. Returns what to record of it. */
export function failLibrary({ tally, mask, tell }: FailTools, key: LibraryKey, error: ContentError): FailureWrite {
  const { code, rejects } = error;
  const message = mask(error.message);
  tally.failed({ key, code, message });
  tally.rejected(rejects);
  tell({ kind: "failed", key, code, message });
  if (rejects.length > 0) tell({ kind: "rejected", key, rejects });
  return { key, error: `${code}: ${message}`, rejects };
}

/** The database refused rows of this library. `operation`: "storing the library". */
export function unstorable(operation: string, error: unknown): ContentError {
  return new ContentError("rejected_by_database", databaseError(operation, driverError(error)).message, {
    cause: error,
  });
}
