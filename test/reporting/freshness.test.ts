import fc from "fast-check";
import { beforeEach, describe, expect, test } from "vitest";
import type { SyncState } from "../../src/model.ts";
import { isInSlice } from "../../src/slice.ts";
import { isSettled, windowEnd } from "../../src/sync/rules/settle.ts";
import { useTestDatabase } from "../support/database.ts";
import { addRows, day, emptyTables } from "./stored-rows.ts";

const database = useTestDatabase();

beforeEach(async () => {
  await emptyTables(database());
});

const hours = (date: Date, n: number) => new Date(date.getTime() + n * 3_600_000);

/** Begins at the n-th of January, and takes an hour. */
const run = (n: number, rest: object = {}) => ({
  id: n,
  started_at: day(n),
  finished_at: hours(day(n), 1),
  libraries_listed: 5,
  libraries_skipped: 5,
  ...rest,
});

/** Read within the run of the n-th, whole, and settled. */
const sync = (library_name: string, n: number, rest: object = {}) => ({
  library_name,
  listed_text: "2025-12-24 at 6:30 PM",
  bookmark: "2025-12-24 at 6:30 PM",
  bookmark_seen_at: hours(day(n), -24),
  settles_at: hours(day(n), -1),
  content_read_at: hours(day(n), 0.25),
  last_success_at: hours(day(n), 0.5),
  ...rest,
});

const libraries = (...names: string[]) =>
  addRows(
    database(),
    "libraries",
    names.map((library_name) => ({ library_name })),
  );

const completeAsOf = async () => {
  const [row] = await database().query<{ complete_as_of: Date | null }>(
    "SELECT complete_as_of FROM simcat_report.data_complete_as_of",
  );
  return row?.complete_as_of;
};

describe("library_freshness", () => {
  test("has each listed library, stored or not, with its obstacle", async () => {
    await libraries("forest");
    await addRows(database(), "libraries", [{ library_name: "gone", removed_at: day(2), changed_at: day(2) }]);
    await addRows(database(), "scenarios", [
      { scenario_id: 1, changed_at: day(3) },
      { scenario_id: 2, changed_at: day(2) },
    ]);
    await addRows(database(), "sync_runs", [run(3), run(4)]);
    await addRows(database(), "library_sync", [
      sync("forest", 3),
      sync("gone", 1),
      {
        library_name: "never stored",
        listed_text: "x",
        bookmark_seen_at: day(1),
        reread_reason: "failure",
        failures: 2,
        last_error: "not_found: answered 404",
        last_failed_at: hours(day(4), 0.5),
      },
    ]);
    await addRows(database(), "rejects", [
      { library_name: "never stored", owner: "ann", kind: "metadata" },
      { library_name: "never stored", owner: "ann", resolved_at: day(2) },
    ]);
    const rows = await database().query(
      `SELECT library_name, is_stored, last_listed_at, last_read_at, last_whole_read_at, last_success_at, last_changed_at,
         lag = now() - last_read_at AS lags, settled, settles_at, owes, failures, last_error, last_failed_at, open_rejects,
         complete_as_of
       FROM simcat_report.library_freshness ORDER BY library_name`,
    );
    expect(rows).toEqual([
      {
        library_name: "forest",
        is_stored: true,
        last_listed_at: day(4),
        last_read_at: hours(day(3), 0.25),
        last_whole_read_at: hours(day(3), 0.25),
        last_success_at: hours(day(3), 0.5),
        last_changed_at: day(3),
        lags: true,
        settled: true,
        settles_at: hours(day(3), -1),
        owes: null,
        failures: 0,
        last_error: null,
        last_failed_at: null,
        open_rejects: "0",
        complete_as_of: day(4),
      },
      {
        library_name: "never stored",
        is_stored: false,
        last_listed_at: day(4),
        last_read_at: null,
        last_whole_read_at: null,
        last_success_at: null,
        last_changed_at: null,
        lags: null,
        settled: false,
        settles_at: null,
        owes: "failure",
        failures: 2,
        last_error: "not_found: answered 404",
        last_failed_at: hours(day(4), 0.5),
        open_rejects: "1",
        complete_as_of: day(4),
      },
    ]);
  });

  test("calls settled what the program does", async () => {
    const text = fc.constantFrom(null, "", "2026-01-05 at 6:30 PM", "2026-01-05T18:30:12.123Z", "2026-01-05", "soon");
    const moment = fc.option(fc.integer({ min: 0, max: 40 }).map((n) => day(6).getTime() + n * 60_000 * 4));
    const state = fc.record({
      listedText: text,
      bookmark: text,
      contentHash: fc.constant(null),
      bookmarkSeenAt: moment,
      contentReadAt: fc.oneof(moment, fc.constant(day(9).getTime())),
      rereadReason: fc.constantFrom(null, null, null, "rejects" as const, "failure" as const),
      shrunkRunId: fc.constant(null),
      failures: fc.constant(0),
      lastFailedAt: fc.constant(null),
      removalHeldAt: fc.constant(null),
      suspectReads: fc.constantFrom(0, 0, 1),
    });
    const same = fc.record({ one: state, equal: fc.boolean() }).map(({ one, equal }): SyncState => {
      return equal ? { ...one, listedText: one.bookmark } : one;
    });
    const states = fc.sample(same, 1_000);
    const at = (ms: number | null) => (ms === null ? null : new Date(ms));
    await addRows(
      database(),
      "library_sync",
      states.map((one, n) => ({
        library_name: String(n),
        listed_text: one.listedText,
        bookmark: one.bookmark,
        bookmark_seen_at: at(one.bookmarkSeenAt),
        content_read_at: at(one.contentReadAt),
        settles_at: at(windowEnd(one)),
        reread_reason: one.rereadReason,
        suspect_reads: one.suspectReads,
      })),
    );
    const rows = await database().query<{ settled: boolean }>(
      "SELECT settled FROM simcat_report.library_freshness ORDER BY library_name::int",
    );
    expect(rows.map(({ settled }) => settled)).toEqual(states.map(isSettled));
    expect(new Set(rows.map(({ settled }) => settled))).toEqual(new Set([true, false]));
  });

  test.each([
    ["a moment after the window", 1, true],
    ["at its end", 0, false],
  ])("a read %s settles: %s ms", async (_, ms, settled) => {
    await addRows(database(), "library_sync", [
      sync("forest", 3, { content_read_at: new Date(day(3).getTime() + ms), settles_at: day(3) }),
    ]);
    expect(await database().query("SELECT settled FROM simcat_report.library_freshness")).toEqual([{ settled }]);
  });

  test("cannot say when a library of a partial listing was listed but by its date", async () => {
    await libraries("forest");
    await addRows(database(), "sync_runs", [run(3), run(5, { status: "partial", listing_complete: false })]);
    await addRows(database(), "library_sync", [sync("forest", 3, { bookmark_seen_at: day(2) })]);
    const rows = await database().query("SELECT last_listed_at FROM simcat_report.library_freshness");
    expect(rows).toEqual([{ last_listed_at: day(3) }]);
  });
});

describe("data_complete_as_of", () => {
  test("has one row that says nothing while nothing was ever read", async () => {
    expect(await database().query("SELECT * FROM simcat_report.data_complete_as_of")).toEqual([
      {
        complete_as_of: null,
        age: null,
        last_whole_run_id: null,
        last_whole_run_started_at: null,
        last_whole_run_status: null,
        libraries_behind: "0",
        furthest_behind_owner: null,
        furthest_behind_library: null,
        every_library_read_since: null,
        unaddressable_libraries: "0",
        history_complete_since: null,
        age_seconds: null,
        libraries_settling: "0",
      },
    ]);
  });

  test("is the start of the last good run, and names the oldest read", async () => {
    await libraries("forest", "lake");
    await addRows(database(), "sync_runs", [run(3), run(4)]);
    await addRows(database(), "library_sync", [sync("forest", 3), sync("lake", 2)]);
    const [row] = await database().query<object>("SELECT * FROM simcat_report.data_complete_as_of");
    expect(row).toMatchObject({
      complete_as_of: day(4),
      last_whole_run_id: "4",
      last_whole_run_started_at: day(4),
      last_whole_run_status: "ok",
      libraries_behind: "0",
      furthest_behind_owner: null,
      every_library_read_since: hours(day(2), 0.25),
    });
  });

  test.each([
    ["of some libraries only", { scope: { owners: ["ann"], libraries: [] } }],
    ["that did not come to its end", { status: "interrupted" }],
    ["whose listing never came", { status: "source_unavailable" }],
    ["that still runs", { status: "running", finished_at: null }],
    ["held over an empty listing", { status: "held", libraries_listed: 0, libraries_skipped: 0 }],
    ["held over another organization's listing", { status: "held", libraries_skipped: 0 }],
  ])("does not go by a run %s", async (_, rest) => {
    await libraries("forest");
    await addRows(database(), "sync_runs", [run(3), run(4, rest)]);
    await addRows(database(), "library_sync", [sync("forest", 3)]);
    expect(await completeAsOf()).toEqual(day(3));
  });

  test("goes by the run of a library's own slice, whenever another slice began (fault 182)", async () => {
    await libraries("forest");
    const partial = { content_read_at: hours(day(4), 2), last_success_at: hours(day(4), 1), reread_reason: "rejects" };
    const index = isInSlice({ index: 1, count: 2 }, { owner: "ann", name: "forest" }) ? 1 : 2;
    const slice = (n: number, of: number) => ({ ...run(n), scope: { libraries: [], owners: [], slice: `${of}/2` } });
    await addRows(database(), "sync_runs", [
      run(3),
      slice(4, index),
      { ...slice(4, 3 - index), id: 5, started_at: hours(day(4), 0.5) },
    ]);
    await addRows(database(), "library_sync", [sync("forest", 4, partial)]);
    const [row] = await database().query<{ at: Date }>(
      "SELECT last_whole_read_at AS at FROM simcat_report.library_freshness",
    );
    expect(row?.at).toEqual(day(4));
  });

  test("goes by a held run that stored everything else", async () => {
    await libraries("forest");
    await addRows(database(), "sync_runs", [run(3), run(4, { status: "held" })]);
    await addRows(database(), "library_sync", [sync("forest", 3)]);
    expect(await completeAsOf()).toEqual(day(4));
  });

  test("stays at the last run that listed a library whose removal is held, and counts it as behind (fault 154)", async () => {
    await libraries("forest", "hidden");
    const held = { status: "held" };
    await addRows(database(), "sync_runs", [run(3), run(4), run(5, held), run(6, held)]);
    // Neither has settled: that is no reason not to count the hidden one.
    const read = { content_read_at: day(2), last_success_at: day(2), settles_at: day(1) };
    const hidden = { ...read, settles_at: day(2), removal_held_at: hours(day(5), 0.5) };
    await addRows(database(), "library_sync", [sync("forest", 2, read), sync("hidden", 2, hidden)]);
    const freshness = () =>
      database().query(
        `SELECT f.library_name AS name, f.complete_as_of AS "asOf", f.last_listed_at AS listed, c.complete_as_of AS whole,
             c.libraries_behind::int AS behind, c.libraries_settling::int AS settling, c.furthest_behind_library AS furthest
           FROM simcat_report.library_freshness f, simcat_report.data_complete_as_of c ORDER BY 1`,
      );
    const behind = { behind: 1, settling: 0, furthest: "hidden" };
    expect(await freshness()).toEqual([
      { name: "forest", asOf: day(6), listed: day(6), whole: day(2), ...behind },
      { name: "hidden", asOf: day(2), listed: day(4), whole: day(2), ...behind },
    ]);
    await database().query("UPDATE simcat.library_sync SET settles_at = $1", [day(1)]);
    expect(await freshness()).toMatchObject([
      { asOf: day(6), whole: day(4), ...behind },
      { asOf: day(4), whole: day(4), ...behind },
    ]);
  });

  test("is at most the time at which a cache stored the listing, of each library too (fault 153)", async () => {
    await libraries("forest", "lake");
    await addRows(database(), "sync_runs", [run(2), run(4, { listing_as_of: hours(day(3), 1) })]);
    await addRows(database(), "library_sync", [sync("forest", 2), sync("lake", 1)]);
    const [row] = await database().query<object>(
      `SELECT complete_as_of, libraries_behind::int, every_library_read_since,
         (SELECT max(complete_as_of) FROM simcat_report.library_freshness) AS latest FROM simcat_report.data_complete_as_of`,
    );
    const asOf = hours(day(3), 1);
    expect(row).toEqual({
      complete_as_of: asOf,
      latest: asOf,
      libraries_behind: 0,
      every_library_read_since: hours(day(1), 0.25),
    });
  });

  test("does not go by a run whose listing had an entry that names no library", async () => {
    await libraries("forest");
    const incomplete = { status: "partial", listing_complete: false };
    await addRows(database(), "sync_runs", [run(3), run(4, { status: "partial" }), run(5, incomplete)]);
    await addRows(database(), "library_sync", [sync("forest", 3)]);
    expect(await completeAsOf()).toEqual(day(4));
    await database().query("UPDATE simcat.sync_runs SET listing_complete = NULL WHERE id = 4");
    expect(await completeAsOf()).toEqual(day(3));
  });

  test("is NULL before the first complete run", async () => {
    await libraries("forest");
    await addRows(database(), "sync_runs", [
      run(3, { scope: { owners: ["ann"] } }),
      run(4, { status: "partial", listing_complete: false }),
    ]);
    await addRows(database(), "library_sync", [sync("forest", 3)]);
    const [row] = await database().query<object>("SELECT * FROM simcat_report.data_complete_as_of");
    expect(row).toMatchObject({
      complete_as_of: null,
      age: null,
      last_whole_run_id: null,
      every_library_read_since: null,
    });
  });

  test("has every library read since the last run that saw them all, however late the known ones were read", async () => {
    await libraries("forest");
    await addRows(database(), "sync_runs", [run(2), run(3, { scope: { owners: ["ann"] } })]);
    await addRows(database(), "library_sync", [sync("forest", 3)]);
    const [row] = await database().query<object>("SELECT * FROM simcat_report.data_complete_as_of");
    expect(row).toMatchObject({ complete_as_of: day(2), every_library_read_since: day(2) });
  });

  test.each([
    ["a dot segment", { code: "unaddressable", owner: "ann", library_name: ".." }],
    ["a key over 2,600 bytes", { code: "unaddressable", path: "" }],
    ["an empty part", { code: "unaddressable", path: "libraryName" }],
    ["a NUL or half of a surrogate pair", { code: "bad_text", path: "uploadUser" }],
  ])("counts %s as unaddressable, and leaves it out (fault 112)", async (_, reject) => {
    await libraries("forest");
    await addRows(database(), "sync_runs", [run(4, { status: "partial" })]);
    await addRows(database(), "library_sync", [sync("forest", 3)]);
    await addRows(database(), "rejects", [
      { kind: "listing", first_seen_at: day(2), ...reject },
      // Of another field; and one that is resolved.
      { kind: "listing", code: "bad_text", path: "lastModified", owner: "ann", library_name: "forest" },
      { kind: "listing", code: "unaddressable", path: "", resolved_at: day(2) },
    ]);
    const [row] = await database().query<object>("SELECT * FROM simcat_report.data_complete_as_of");
    expect(row).toMatchObject({ complete_as_of: day(4), unaddressable_libraries: "1" });
  });

  test("falls to the last whole read of a library that fails, and names it", async () => {
    await libraries("forest", "lake");
    await addRows(database(), "sync_runs", [run(2), run(3), run(4, { status: "partial" })]);
    await addRows(database(), "library_sync", [
      sync("forest", 3),
      sync("lake", 2, { reread_reason: "failure", failures: 1, last_failed_at: hours(day(4), 0.5) }),
    ]);
    const [row] = await database().query<object>("SELECT * FROM simcat_report.data_complete_as_of");
    expect(row).toMatchObject({
      complete_as_of: hours(day(2), 0.25),
      last_whole_run_started_at: day(4),
      libraries_behind: "1",
      furthest_behind_owner: "ann",
      furthest_behind_library: "lake",
    });
  });

  test("does not fall for a library that failed for the first time after the last whole run", async () => {
    await libraries("lake");
    await addRows(database(), "sync_runs", [run(3), run(4, { status: "running", finished_at: null })]);
    const failed = { reread_reason: "failure", failures: 1, last_failed_at: hours(day(4), 0.5) };
    await addRows(database(), "library_sync", [sync("lake", 2, failed)]);
    expect(await completeAsOf()).toEqual(day(3));
    await database().query("UPDATE simcat.library_sync SET failures = 2");
    expect(await completeAsOf()).toEqual(hours(day(2), 0.25));
  });

  test("falls if the only failure that counts may be of the last whole run, because an outage counts no second one (fault 177)", async () => {
    await libraries("lake");
    const failed = { reread_reason: "failure", failures: 1, last_failed_at: hours(day(5), 0.5) };
    await addRows(database(), "sync_runs", [
      run(3),
      run(4, { status: "partial", libraries_failed: 1 }),
      run(5, { status: "source_unavailable" }),
    ]);
    await addRows(database(), "library_sync", [sync("lake", 2, failed)]);
    expect(await completeAsOf()).toEqual(hours(day(2), 0.25));
    await database().query("UPDATE simcat.sync_runs SET libraries_failed = 0");
    expect(await completeAsOf()).toEqual(day(4));
  });

  test.each([
    ["listed after it did not exist then", day(5), day(4)],
    ["listed by it is missing, though its failure was not recorded", hours(day(4), 0.1), null],
  ])(
    "of a library that was never stored and that the last whole run did not store: one %s (fault 177)",
    async (_, seenAt, asOf) => {
      await addRows(database(), "sync_runs", [run(4, { status: "partial" })]);
      await addRows(database(), "library_sync", [{ library_name: "new", listed_text: "x", bookmark_seen_at: seenAt }]);
      expect(await completeAsOf()).toEqual(asOf);
    },
  );

  test("falls to the start of the run of the last whole store where a read was stored in part since", async () => {
    await libraries("lake");
    await addRows(database(), "sync_runs", [run(2), run(3, { status: "partial" }), run(4, { status: "partial" })]);
    await addRows(database(), "library_sync", [
      sync("lake", 2, { reread_reason: "rejects", content_read_at: hours(day(4), 0.25) }),
    ]);
    expect(await completeAsOf()).toEqual(day(2));
  });

  test("falls to the last read of a library whose date proves nothing yet", async () => {
    await libraries("lake");
    await addRows(database(), "sync_runs", [run(3), run(4)]);
    await addRows(database(), "library_sync", [sync("lake", 3, { settles_at: day(5) })]);
    expect(await completeAsOf()).toEqual(hours(day(3), 0.25));
  });

  test("counts a library that only has to settle as settling, and every other one that holds it back as behind", async () => {
    const waits = { settles_at: day(5) };
    await libraries("settles", "settles and fails", "suspect", "undated", "owes", "stored in part");
    await addRows(database(), "sync_runs", [run(3), run(4, { status: "partial" })]);
    await addRows(database(), "library_sync", [
      sync("settles", 3, waits),
      sync("settles and fails", 3, {
        ...waits,
        reread_reason: "failure",
        failures: 1,
        last_failed_at: hours(day(4), 0.5),
      }),
      sync("suspect", 3, { suspect_reads: 1 }),
      sync("undated", 3, { listed_text: null, bookmark: null, settles_at: null }),
      sync("owes", 3, { ...waits, reread_reason: "shrunk" }),
      sync("stored in part", 3, { ...waits, content_read_at: hours(day(3), 0.75) }),
    ]);
    const [row] = await database().query<object>("SELECT * FROM simcat_report.data_complete_as_of");
    expect(row).toMatchObject({
      libraries_behind: "5",
      libraries_settling: "1",
      furthest_behind_library: "stored in part",
    });
    await database().query("DELETE FROM simcat.library_sync WHERE library_name <> 'settles'");
    const [left] = await database().query<object>("SELECT * FROM simcat_report.data_complete_as_of");
    expect(left).toMatchObject({
      complete_as_of: hours(day(3), 0.25),
      libraries_behind: "0",
      libraries_settling: "1",
      furthest_behind_owner: null,
      furthest_behind_library: null,
    });
  });

  test("does not fall while a run has listed another date and not read the library yet", async () => {
    await libraries("lake");
    await addRows(database(), "sync_runs", [run(3), run(4, { status: "running", finished_at: null })]);
    await addRows(database(), "library_sync", [
      sync("lake", 2, { listed_text: "2026-01-04 at 1:00 AM", bookmark_seen_at: hours(day(4), 0.1) }),
      { library_name: "new", listed_text: "2026-01-04 at 1:00 AM", bookmark_seen_at: hours(day(4), 0.1) },
      { library_name: "new and failed", failures: 1, reread_reason: "failure", last_failed_at: hours(day(4), 0.2) },
    ]);
    expect(await completeAsOf()).toEqual(day(3));
  });

  test("falls to the last read of a library that returned, which may have been edited before it went (fault 186)", async () => {
    await libraries("lake");
    await addRows(database(), "sync_runs", [run(3), run(4, { status: "running", finished_at: null })]);
    await addRows(database(), "library_sync", [sync("lake", 1, { reread_reason: "restored", settles_at: null })]);
    const [row] = await database().query<object>("SELECT * FROM simcat_report.data_complete_as_of");
    expect(row).toMatchObject({ complete_as_of: hours(day(1), 0.25), libraries_behind: "1" });
  });

  test("is before the last run if a library was never stored completely, even without a fault", async () => {
    await libraries("forest");
    await addRows(database(), "sync_runs", [run(2), run(3, { status: "partial" }), run(4, { status: "partial" })]);
    await addRows(database(), "library_sync", [
      sync("forest", 4),
      { library_name: "new", failures: 2, reread_reason: "failure", last_failed_at: hours(day(4), 0.2) },
    ]);
    expect(await completeAsOf()).toEqual(day(2));
    await database().query("DELETE FROM simcat.sync_runs WHERE status = 'ok'");
    const [row] = await database().query<object>("SELECT * FROM simcat_report.data_complete_as_of");
    expect(row).toMatchObject({
      complete_as_of: null,
      age: null,
      last_whole_run_id: "4",
      libraries_behind: "1",
      furthest_behind_library: "new",
      every_library_read_since: null,
    });
  });

  test("has nothing to do with removed libraries", async () => {
    await libraries("forest");
    await addRows(database(), "libraries", [{ library_name: "gone", removed_at: day(3), changed_at: day(3) }]);
    await addRows(database(), "sync_runs", [run(4)]);
    await addRows(database(), "library_sync", [sync("forest", 3), sync("gone", 1, { settles_at: null })]);
    expect(await completeAsOf()).toEqual(day(4));
  });
});

describe("run_history", () => {
  test("shows how long a run took and what it did", async () => {
    await addRows(database(), "sync_runs", [
      run(3, {
        status: "partial",
        libraries_listed: 12,
        libraries_read: 3,
        libraries_skipped: 9,
        libraries_changed: 2,
        libraries_failed: 1,
        scenarios_inserted: 5,
        scenarios_updated: 4,
        scenarios_removed: 1,
        error: "1 library failed",
      }),
    ]);
    const rows = await database().query(
      `SELECT run_id, kind, trigger, status, started_at, finished_at, duration::text, is_whole, saw_everything,
         libraries_changed, scenarios_added, summary, error, scope FROM simcat_report.run_history`,
    );
    expect(rows).toEqual([
      {
        run_id: "3",
        kind: "sync",
        trigger: "schedule",
        status: "partial",
        started_at: day(3),
        finished_at: hours(day(3), 1),
        duration: "01:00:00",
        is_whole: true,
        saw_everything: true,
        libraries_changed: 2,
        scenarios_added: "5",
        summary: "12 listed, 3 read, 2 changed, 0 removed, 1 failed; scenarios +5 ~4 -1",
        error: "1 library failed",
        scope: null,
      },
    ]);
  });

  test.each(["running", "abandoned"])("knows no counts of one that is %s", async (status) => {
    await addRows(database(), "sync_runs", [run(3, { status, libraries_listed: 0, finished_at: null })]);
    const rows = await database().query(
      "SELECT libraries_listed, bytes, summary, duration, saw_everything FROM simcat_report.run_history",
    );
    expect(rows).toEqual([
      { libraries_listed: null, bytes: null, summary: null, duration: null, saw_everything: false },
    ]);
  });
});
