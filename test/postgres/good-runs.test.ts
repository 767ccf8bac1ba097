import { expect, test } from "vitest";
import { IS_GOOD, isGood } from "../../src/db/runs.ts";
import { RUN_STATUSES, type RunStatus } from "../../src/run-summary.ts";
import { RunTotals } from "../../src/sync/run-totals.ts";
import { useTestDatabase } from "../support/database.ts";

const database = useTestDatabase();

const STATUSES: readonly RunStatus[] = [...RUN_STATUSES, "running", "abandoned"];
const COUNTS = [{}, { librariesRead: 1 }, { librariesSkipped: 1 }, { librariesFailed: 1 }, { librariesRemoved: 1 }];

test("SQL and the program call the same runs good", async () => {
  const runs = STATUSES.flatMap((status) =>
    COUNTS.flatMap((some) =>
      [true, false].map((isAccepted) => ({ status, counts: { ...new RunTotals().counts, ...some }, isAccepted })),
    ),
  );
  const rows = runs.map(({ status, counts, isAccepted }) => ({
    status,
    listing_complete: isAccepted ? false : null,
    libraries_read: counts.librariesRead,
    libraries_skipped: counts.librariesSkipped,
    libraries_failed: counts.librariesFailed,
  }));
  const found = await database().query<{ status: string; good: boolean }>(
    `SELECT status, ${IS_GOOD} AS good FROM jsonb_populate_recordset(NULL::simcat.sync_runs, $1::jsonb)`,
    [JSON.stringify(rows)],
  );

  expect(found).toEqual(
    runs.map((run) => ({ status: run.status, good: isGood(run.status, run.counts, run.isAccepted) })),
  );
  const good = new Set(found.flatMap((row) => (row.good ? [row.status] : [])));
  expect(good).toEqual(new Set(["ok", "partial", "held"]));
});
