import type { FailedLibrary } from "../../model.ts";
import type { Connection } from "../connect.ts";
import { saveContentRejects } from "./save-rejects.ts";

/** Once a run, however often the transaction is tried; a failure that lies ahead is one of a clock that has been set back. */
const UPDATE_SYNC = `
UPDATE simcat.library_sync y
SET failures = y.failures + 1, last_error = i.error, last_failed_at = now(), reread_reason = 'failure'
FROM unnest($1::text[], $2::text[], $3::text[]) AS i(owner, library_name, error)
WHERE (y.owner, y.library_name) = (i.owner, i.library_name)
  AND (y.last_failed_at BETWEEN (SELECT started_at FROM simcat.sync_runs WHERE id = $4) AND now()) IS NOT TRUE`;

export async function saveFailures(
  connection: Connection,
  runId: number,
  failures: readonly FailedLibrary[],
): Promise<void> {
  await connection.query(UPDATE_SYNC, [
    failures.map((one) => one.key.owner),
    failures.map((one) => one.key.name),
    failures.map(({ code, message }) => `${code}: ${message}`.replaceAll("\0", "\\u0000").toWellFormed()),
    runId,
  ]);
  const rejected = failures.filter((one) => one.rejects.length > 0);
  if (rejected.length === 0) return;
  await saveContentRejects(
    connection,
    runId,
    rejected.map((one) => one.key),
    rejected.flatMap((one) => one.rejects),
  );
}
