import { expect, test } from "vitest";
import { saveSnapshot } from "../../src/db/store/save-snapshot.ts";
import { withTransaction } from "../../src/db/transaction.ts";
import { freshTestDatabase } from "../support/database.ts";
import { movableClock } from "../support/database-clock.ts";
import { openPool } from "../support/pool.ts";

const never = new AbortController().signal;

async function createDatabase() {
  const database = await freshTestDatabase();
  const setClock = await movableClock(database);
  const pool = await openPool(database);
  const takeSnapshot = (runId: number) =>
    withTransaction(pool, { operation: "snapshot", byKey: true }, (c) => saveSnapshot(c, runId, true), never);
  return { database, setClock, takeSnapshot };
}

test("a change of a day to come is undone with its snapshot, and a state keeps the read of its first day", async () => {
  const { database, setClock, takeSnapshot } = await createDatabase();
  await database.query(`
    INSERT INTO simcat.libraries (owner, library_name, file_size_bytes, first_seen_at, changed_at, run_id)
    VALUES ('ann', 'forest', 1, now(), now(), 1);
    INSERT INTO simcat.library_sync (owner, library_name, scenario_count, result_count, content_read_at)
    VALUES ('ann', 'forest', 3, 2, '2026-03-01T11:00:00Z')`);
  const snapshotAt = async (moment: string, bytes: number) => {
    await setClock(moment);
    await database.query("UPDATE simcat.libraries SET file_size_bytes = $1", [bytes]);
    await takeSnapshot(1);
  };
  await snapshotAt("2026-03-01T12:00:00Z", 1);
  await snapshotAt("2026-03-09T12:00:00Z", 2);
  expect(await database.query("SELECT FROM simcat.library_days")).toHaveLength(2);
  await database.query("UPDATE simcat.library_sync SET content_read_at = '2026-03-02T08:00:00Z'");
  await snapshotAt("2026-03-02T12:00:00Z", 1);
  await snapshotAt("2026-03-03T12:00:00Z", 3);
  const states = `SELECT day::text, parents::int, results::int, bytes::int, (read_age_seconds / 3600)::int AS hours
    FROM simcat_report.daily_libraries ORDER BY day`;
  expect(await database.query(states)).toEqual([
    { day: "2026-03-01", parents: 1, results: 2, bytes: 1, hours: 1 },
    { day: "2026-03-02", parents: 1, results: 2, bytes: 1, hours: 25 },
    { day: "2026-03-03", parents: 1, results: 2, bytes: 3, hours: 28 },
  ]);
});

test("reads without a change begin no row, whatever their number, and a change begins one", async () => {
  const { database, setClock, takeSnapshot } = await createDatabase();
  await setClock("2026-03-01T12:00:00Z");
  await database.query(`
    INSERT INTO simcat.libraries (owner, library_name, file_size_bytes, first_seen_at, changed_at, run_id)
    SELECT 'owner ' || n % 100, 'library ' || n, n, now(), now(), 1 FROM generate_series(1, 10000) AS n`);
  await database.query(`
    INSERT INTO simcat.library_sync (owner, library_name, scenario_count, result_count, content_read_at)
    SELECT owner, library_name, 20, 5, '2026-03-01T11:00:00Z' FROM simcat.libraries`);
  await takeSnapshot(1);

  await database.query(
    "UPDATE simcat.library_sync SET content_read_at = '2026-03-02T08:00:00Z' WHERE split_part(owner, ' ', 2)::int < 20",
  );
  await database.query("UPDATE simcat.libraries SET file_size_bytes = 7 WHERE library_name = 'library 1'");
  await setClock("2026-03-02T12:00:00Z");
  await takeSnapshot(2);

  const begun = "SELECT owner, library_name, bytes::int FROM simcat.library_days WHERE from_day = '2026-03-02'";
  expect(await database.query(begun)).toEqual([{ owner: "owner 1", library_name: "library 1", bytes: 7 }]);
  const ages = `SELECT DISTINCT day::text, (oldest_read_age_seconds / 3600)::int AS hours, count(*)::int AS owners
    FROM simcat_report.daily_owners GROUP BY 1, 2 ORDER BY 1, 2`;
  expect(await database.query(ages)).toEqual([
    { day: "2026-03-01", hours: 1, owners: 100 },
    { day: "2026-03-02", hours: 4, owners: 20 },
    { day: "2026-03-02", hours: 25, owners: 80 },
  ]);
});
