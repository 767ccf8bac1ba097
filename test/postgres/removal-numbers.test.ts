import { expect, onTestFinished, test } from "vitest";
import { connect, disconnect } from "../../src/db/connect.ts";
import { readRemovalNumbers } from "../../src/db/read/removal-numbers.ts";
import { readSnapshot } from "../../src/db/transaction.ts";
import { freshTestDatabase } from "../support/database.ts";

const never = new AbortController().signal;

/** In seconds before now: when a complete run started and ended, and as of when its listing shows the service. */
interface LastRun {
  readonly startedAgo: number;
  readonly endedAgo: number;
  readonly asOfAgo: number | null;
}

/** Ten libraries are old, and thirty were first stored that many seconds ago. */
async function readPeakLive({ startedAgo, endedAgo, asOfAgo }: LastRun, storedAgo: number): Promise<number> {
  const database = await freshTestDatabase();
  await database.query(
    `INSERT INTO simcat.libraries (owner, library_name, first_seen_at, changed_at, run_id)
     SELECT 'ann', i::text, at, at, 1
     FROM (SELECT i, now() - CASE WHEN i <= 10 THEN 864000 ELSE $1 END * interval '1 s' AS at FROM generate_series(1, 40) i) AS rows`,
    [storedAgo],
  );
  await database.query(
    `INSERT INTO simcat.sync_runs (kind, trigger, version, status, listing_complete, started_at, finished_at, listing_as_of)
     SELECT 'sync', 'cli', '0.1.0', 'ok', true, now() - $1 * interval '1 s', now() - $2 * interval '1 s', now() - $3 * interval '1 s'`,
    [startedAgo, endedAgo, asOfAgo],
  );
  const pool = await connect(database.url, {}, never);
  onTestFinished(() => disconnect(pool));
  const numbers = await readSnapshot(pool, "reading", (connection) => readRemovalNumbers(connection, null), never);
  return numbers.peakLive;
}

test.each([
  ["stored before the listing count", { startedAgo: 10, endedAgo: 5, asOfAgo: 10 }, 20, 40],
  [
    "stored by the run count, even if its listing seems older by an inexact clock",
    { startedAgo: 10, endedAgo: 5, asOfAgo: 10.05 },
    7,
    40,
  ],
  [
    "that a cached listing cannot show do not count, however recent it is (fault 193)",
    { startedAgo: 10, endedAgo: 5, asOfAgo: 25 },
    20,
    10,
  ],
  ["stored since do not count", { startedAgo: 10, endedAgo: 5, asOfAgo: 10 }, 2, 10],
  [
    "stored since do not count if the clock was set back during the run",
    { startedAgo: 10, endedAgo: 5, asOfAgo: -3600 },
    2,
    10,
  ],
  ["stored before a run of an earlier version count", { startedAgo: 10, endedAgo: 5, asOfAgo: null }, 7, 40],
])("in the base of the guard, libraries %s", async (_, lastRun, storedAgo, peakLive) => {
  expect(await readPeakLive(lastRun, storedAgo)).toBe(peakLive);
});
