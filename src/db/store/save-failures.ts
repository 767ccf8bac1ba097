import type { FailedLibrary } from "../../model.ts";
import type { Connection } from "../connect.ts";
import { statement } from "../statement.ts";
import { keyArrays, textArray } from "./columns.ts";
import { saveContentRejects } from "./save-rejects.ts";

/**
 * Counts one failure per run, however often the transaction is repeated. A last failure in the future was recorded by a clock
 * that has been set back since.
 */
const RECORD_FAILURE = statement(`
UPDATE simcat.library_sync y
SET failures = y.failures + 1, last_error = i.error, last_failed_at = now(), reread_reason = 'failure'
FROM unnest($owner::text[], $library_name::text[], $error::text[]) AS i(owner, library_name, error)
WHERE (y.owner, y.library_name) = (i.owner, i.library_name)
  AND (y.last_failed_at BETWEEN (SELECT started_at FROM simcat.sync_runs WHERE id = $run_id) AND now()) IS NOT TRUE`);

export async function saveFailures(
  connection: Connection,
  runId: number,
  failures: readonly FailedLibrary[],
): Promise<void> {
  const error = textArray(
    failures.map(({ code, message }) => `${code}: ${message}`.replaceAll("\0", "\\u0000").toWellFormed()),
  );
  const keys = keyArrays(failures.map(({ key }) => key));
  await connection.query(RECORD_FAILURE({ ...keys, error, run_id: runId }));
  const rejected = failures.filter(({ rejects }) => rejects.length > 0);
  if (rejected.length === 0) return;
  await saveContentRejects(
    connection,
    runId,
    rejected.map(({ key }) => key),
    rejected.flatMap(({ rejects }) => rejects),
  );
}
