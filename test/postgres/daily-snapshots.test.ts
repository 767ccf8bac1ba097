import fc from "fast-check";
import { expect, onTestFinished, test } from "vitest";
import { type Connection, connect, disconnect } from "../../src/db/connect.ts";
import { saveSnapshot } from "../../src/db/store/save-snapshot.ts";
import { withTransaction } from "../../src/db/transaction.ts";
import { freshTestDatabase, type TestDatabase } from "../support/database.ts";
import { movableClock } from "../support/database-clock.ts";

const never = new AbortController().signal;
const HOUR_MS = 3_600_000;

const KEYS = [
  { owner: "ann", name: "forest" },
  { owner: "ann", name: "lake" },
  { owner: "bob", name: "forest" },
] as const;
type Key = (typeof KEYS)[number];

interface Content {
  readonly parents: number;
  readonly results: number;
  readonly bytes: number | null;
  readonly version: string | null;
}

/** A stored library. A removed one keeps its values. */
interface Stored extends Content {
  readonly isRemoved: boolean;
  readonly readAt: number;
}

const small = fc.integer({ min: 0, max: 2 });
const content: fc.Arbitrary<Content> = fc.record({
  parents: small,
  results: small,
  bytes: fc.option(small, { freq: 3 }),
  version: fc.option(fc.constantFrom("1", "2"), { freq: 3 }),
});
/** Events of a library. A read without a change moves only the time of the read. */
const event = fc.oneof(
  { weight: 3, arbitrary: fc.constant("nothing" as const) },
  { weight: 1, arbitrary: fc.constant("removed" as const) },
  { weight: 1, arbitrary: fc.constant("read" as const) },
  { weight: 2, arbitrary: content },
);
const events = fc.tuple(event, event, event);
/** Events before the first run of a day, and after it, before the second. Before all of them, the clock may be ahead for a run. */
const day = fc.record({
  daysAhead: fc.option(fc.integer({ min: 1, max: 9 }), { nil: 0 }),
  events,
  later: events,
  hasRuns: fc.boolean(),
  isPruned: fc.boolean(),
});

type Event = "nothing" | "removed" | "read" | Content;

/** The library after the event, or undefined if it is not stored. */
function after(before: Stored | undefined, what: Event, now: number): Stored | undefined {
  if (what === "nothing") return before;
  if (what === "removed") return before && { ...before, isRemoved: true };
  if (what === "read") return before && (before.isRemoved ? before : { ...before, readAt: now });
  return { ...what, isRemoved: false, readAt: now };
}

const SAVE_LIBRARY = `
INSERT INTO simcat.libraries
  (owner, library_name, file_size_bytes, package_version, removed_at, package_name, first_seen_at, changed_at, run_id)
VALUES ($1, $2, $3, $4, CASE WHEN $5 THEN now() END, 'stsim', now(), now(), 1)
ON CONFLICT (owner, library_name) DO UPDATE SET file_size_bytes = $3, package_version = $4, removed_at = excluded.removed_at`;
const SAVE_SYNC = `
INSERT INTO simcat.library_sync (owner, library_name, scenario_count, result_count, content_read_at)
VALUES ($1, $2, $3, $4, $5)
ON CONFLICT (owner, library_name) DO UPDATE SET scenario_count = $3, result_count = $4, content_read_at = $5`;

async function save({ query }: TestDatabase, { owner, name }: Key, one: Stored): Promise<void> {
  await query(SAVE_LIBRARY, [owner, name, one.bytes, one.version, one.isRemoved]);
  await query(SAVE_SYNC, [owner, name, one.parents + one.results, one.results, new Date(one.readAt)]);
}

async function pruneRemoved({ query }: TestDatabase): Promise<void> {
  await query(`DELETE FROM simcat.library_sync y USING simcat.libraries l
    WHERE (y.owner, y.library_name) = (l.owner, l.library_name) AND l.removed_at IS NOT NULL`);
  await query("DELETE FROM simcat.libraries WHERE removed_at IS NOT NULL");
}

const NOT_LIVE = { live: false, parents: null, results: null, bytes: null, version: null, read_hours: null };

/** The row of daily_libraries at a snapshot. */
function toRow(date: string, { owner, name }: Key, one: Stored | undefined, takenAt: number) {
  const key = { day: date, owner, name };
  if (one === undefined || one.isRemoved) return { ...key, ...NOT_LIVE };
  const { parents, results, bytes, version, readAt } = one;
  return { ...key, live: true, parents, results, bytes, version, read_hours: (takenAt - readAt) / HOUR_MS };
}

type Row = ReturnType<typeof toRow>;

const stateOf = ({ live, parents, results, bytes, version }: Row) =>
  JSON.stringify([live, parents, results, bytes, version]);

/** The rows of daily_owners for these rows of one day. */
function toOwners(rows: readonly Row[]) {
  return ["ann", "bob"].flatMap((owner) => {
    const own = rows.filter((row) => row.owner === owner);
    const [first] = own;
    if (first === undefined) return [];
    const sum = (of: (row: Row) => number | null) => own.reduce((all, row) => all + (of(row) ?? 0), 0);
    const ages = own.flatMap((row) => row.read_hours ?? []);
    return [
      {
        day: first.day,
        owner,
        libraries: sum((row) => Number(row.live)),
        parents: sum((row) => row.parents),
        results: sum((row) => row.results),
        bytes: sum((row) => row.bytes),
        sizes_unread: sum((row) => Number(row.live && row.bytes === null)),
        oldest_hours: ages.length === 0 ? null : Math.max(...ages),
      },
    ];
  });
}

test("the daily views equal an oracle over random removals, returns, prunes and clocks that were ahead", async () => {
  const database = await freshTestDatabase();
  const setClock = await movableClock(database);
  const pool = await connect(database.url, {}, never);
  onTestFinished(() => disconnect(pool));
  const takeSnapshot = (runId: number) => {
    const work = (connection: Connection) => saveSnapshot(connection, runId, true);
    return withTransaction(pool, { operation: "taking the daily snapshot", byKey: true }, work, never);
  };

  await fc.assert(
    fc.asyncProperty(fc.array(day, { minLength: 1, maxLength: 7 }), async (days) => {
      await database.query(
        "TRUNCATE simcat.libraries, simcat.library_sync, simcat.snapshot_days, simcat.library_days, simcat.owner_days CASCADE",
      );
      const stored = new Map<Key, Stored>();
      const everLive = new Set<Key>();
      /** By library: the state of its newest row, and when that row's read started. */
      const newest = new Map<Key, { state: string; readAt: number | null }>();
      /** A day on which the state is that of the day before shows the read of the state's first day. */
      const toShown = (row: Row, key: Key, takenAt: number) => {
        const state = stateOf(row);
        const before = newest.get(key);
        const readAt = before?.state === state ? before.readAt : row.live ? (stored.get(key)?.readAt ?? null) : null;
        newest.set(key, { state, readAt });
        return { ...row, read_hours: readAt === null ? null : (takenAt - readAt) / HOUR_MS };
      };
      const happen = async (what: readonly Event[], now: number) => {
        for (const [at, key] of KEYS.entries()) {
          const next = after(stored.get(key), what[at] ?? "nothing", now);
          if (next === undefined || next === stored.get(key)) continue;
          stored.set(key, next);
          await save(database, key, next);
        }
      };
      const libraries: object[] = [];
      const owners: object[] = [];
      for (const [at, { daysAhead, events, later, hasRuns, isPruned }] of days.entries()) {
        const midnight = Date.UTC(2026, 2, 1 + at);
        const date = new Date(midnight).toISOString().slice(0, 10);
        if (daysAhead > 0 && hasRuns) {
          await setClock(`2026-03-${String(1 + at + daysAhead).padStart(2, "0")}T12:00:00Z`);
          await takeSnapshot(at);
        }
        await happen(events, midnight - 2 * HOUR_MS);
        if (isPruned) {
          await pruneRemoved(database);
          for (const [key, { isRemoved }] of stored) if (isRemoved) stored.delete(key);
        }
        if (!hasRuns) continue;
        await setClock(`${date}T00:00:00Z`);
        await takeSnapshot(at);
        for (const [key, { isRemoved }] of stored) if (!isRemoved) everLive.add(key);
        const keys = KEYS.filter((key) => everLive.has(key));
        const rows = keys.map((key) => ({ key, row: toRow(date, key, stored.get(key), midnight) }));
        libraries.push(...rows.map(({ key, row }) => toShown(row, key, midnight)));
        owners.push(...toOwners(rows.map(({ row }) => row)));

        await happen(later, midnight + HOUR_MS);
        await setClock(`${date}T23:59:50Z`);
        await takeSnapshot(at);
      }

      expect(
        await database.query(
          `SELECT day::text, owner, library_name AS name, live, parents::int, results::int, bytes::int, package_version AS version,
             round(read_age_seconds / 3600)::int AS read_hours
           FROM simcat_report.daily_libraries ORDER BY day, owner, library_name`,
        ),
      ).toEqual(libraries);
      expect(
        await database.query(
          `SELECT day::text, owner, libraries::int, parents::int, results::int, bytes::int, sizes_unread::int,
             round(oldest_read_age_seconds / 3600)::int AS oldest_hours
           FROM simcat_report.daily_owners ORDER BY day, owner`,
        ),
      ).toEqual(owners);
    }),
    { numRuns: 40 },
  );
});

test("reads without a change begin no row, whatever their number, and a change begins one", async () => {
  const database = await freshTestDatabase();
  const setClock = await movableClock(database);
  const pool = await connect(database.url, {}, never);
  onTestFinished(() => disconnect(pool));
  const takeSnapshot = (runId: number) =>
    withTransaction(pool, { operation: "snapshot", byKey: true }, (c) => saveSnapshot(c, runId, true), never);
  await setClock("2026-03-01T12:00:00Z");
  await database.query(`
    INSERT INTO simcat.libraries (owner, library_name, file_size_bytes, first_seen_at, changed_at, run_id)
    SELECT 'owner ' || n % 100, 'library ' || n, n, now(), now(), 1 FROM generate_series(1, 100000) AS n`);
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

  expect(
    await database.query(
      "SELECT owner, library_name, bytes::int FROM simcat.library_days WHERE from_day = '2026-03-02'",
    ),
  ).toEqual([{ owner: "owner 1", library_name: "library 1", bytes: 7 }]);
  expect(
    await database.query(`
      SELECT DISTINCT day::text, (oldest_read_age_seconds / 3600)::int AS hours, count(*)::int AS owners
      FROM simcat_report.daily_owners GROUP BY 1, 2 ORDER BY 1, 2`),
  ).toEqual([
    { day: "2026-03-01", hours: 1, owners: 100 },
    { day: "2026-03-02", hours: 4, owners: 20 },
    { day: "2026-03-02", hours: 25, owners: 80 },
  ]);
});
