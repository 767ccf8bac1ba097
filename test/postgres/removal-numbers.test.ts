import { expect, test } from "vitest";
import { readRemovalNumbers } from "../../src/db/read/removal-numbers.ts";
import { readSnapshot } from "../../src/db/transaction.ts";
import { useTestDatabase } from "../support/database.ts";
import { openPool } from "../support/pool.ts";

const database = useTestDatabase();

/**
 * The number of libraries in the base, of ten old ones and thirty that were first stored `storedAgo` seconds ago. A complete run
 * started ten seconds ago and ended five seconds ago. Its listing shows the service as it was `asOfAgo` seconds ago.
 */
async function readPeakLive(asOfAgo: number | null, storedAgo: number): Promise<number> {
  await database().query("DELETE FROM simcat.libraries; DELETE FROM simcat.sync_runs");
  await database().query(
    `INSERT INTO simcat.libraries (owner, library_name, first_seen_at, changed_at, run_id)
     SELECT 'ann', i::text, at, at, 1
     FROM (SELECT i, now() - CASE WHEN i <= 10 THEN 864000 ELSE $1 END * interval '1 s' AS at FROM generate_series(1, 40) i) AS rows`,
    [storedAgo],
  );
  await database().query(
    `INSERT INTO simcat.sync_runs (kind, trigger, version, status, listing_complete, started_at, finished_at, listing_as_of)
     SELECT 'sync', 'cli', '0.1.0', 'ok', true, now() - interval '10 s', now() - interval '5 s', now() - $1 * interval '1 s'`,
    [asOfAgo],
  );
  const pool = await openPool(database());
  const never = new AbortController().signal;
  const numbers = await readSnapshot(pool, "reading", (connection) => readRemovalNumbers(connection, null), never);
  return numbers.peakLive;
}

test.each([
  ["stored before the listing count", 10, 20, 40],
  ["stored by the run count, even if its listing seems older by an inexact clock", 10.05, 7, 40],
  ["that a cached listing cannot show do not count, however recent it is (fault 193)", 25, 20, 10],
  ["stored since do not count", 10, 2, 10],
  ["stored since do not count if the clock was set back during the run", -3600, 2, 10],
  ["stored before a run of an earlier version count", null, 7, 40],
])("in the base of the guard, libraries %s", async (_, asOfAgo, storedAgo, peakLive) => {
  expect(await readPeakLive(asOfAgo, storedAgo)).toBe(peakLive);
});
