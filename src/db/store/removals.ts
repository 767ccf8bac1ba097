import type { LibraryKey } from "../../model.ts";
import type { Connection } from "../connect.ts";
import { statement } from "../statement.ts";
import { keyArrays, ofKeys } from "./columns.ts";
import { REMOVE_LIBRARIES } from "./library-statements.ts";

/** A library that is no longer listed is neither read nor held. */
const FORGIVE = statement(`
UPDATE simcat.library_sync y SET reread_reason = NULL, failures = 0, last_error = NULL, removal_held_at = NULL
FROM ${ofKeys("y")}`);

const RESOLVE = statement(`
UPDATE simcat.rejects r SET resolved_at = now() FROM ${ofKeys("r")} AND r.resolved_at IS NULL`);

const FORGET = statement(`DELETE FROM simcat.library_sync y USING ${ofKeys("y")}`);

/**
 * Marks libraries as removed; their scenarios' rows are not touched.
 * @returns how many were marked
 */
export async function markLibrariesRemoved(
  connection: Connection,
  runId: number,
  libraries: readonly LibraryKey[],
): Promise<number> {
  const keys = keyArrays(libraries);
  const { rowCount } = await connection.query(REMOVE_LIBRARIES({ ...keys, run_id: runId }));
  await connection.query(FORGIVE(keys));
  await connection.query(RESOLVE(keys));
  return rowCount ?? 0;
}

/** Deletes the state of libraries that were listed, never stored, and are no longer listed. */
export async function forgetLibraries(connection: Connection, libraries: readonly LibraryKey[]): Promise<void> {
  const keys = keyArrays(libraries);
  await connection.query(FORGET(keys));
  await connection.query(RESOLVE(keys));
}

const HOLD = statement(`
UPDATE simcat.library_sync y SET removal_held_at = coalesce(to_timestamp($held_since::float8), now())
FROM ${ofKeys("y")}`);

/** Records for later runs that the removal of these libraries is held, since `heldSince` (database ms, null for now). */
export async function holdRemovals(
  connection: Connection,
  libraries: readonly LibraryKey[],
  heldSince: number | null,
): Promise<void> {
  const held_since = heldSince === null ? null : heldSince / 1000;
  await connection.query(HOLD({ ...keyArrays(libraries), held_since }));
}
