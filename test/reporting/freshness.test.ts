import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { SyncState } from "../../src/model.ts";
import { isInSlice } from "../../src/slice.ts";
import { isSettled, windowEnd } from "../../src/sync/rules/settle.ts";
import { callCli } from "../support/call-cli.ts";
import { NEVER_READ } from "../support/sync-state.ts";
import { day, useStoredRows } from "./stored-rows.ts";

const { database, add, query, queryLists } = useStoredRows();

const hours = (date: Date, n: number) => new Date(date.getTime() + n * 3_600_000);

type Row = Readonly<Record<string, unknown>>;

/** Begins at the n-th of January, and takes an hour. */
const run = (n: number, rest: Row = {}): Row => ({
  id: n,
  started_at: day(n),
  finished_at: hours(day(n), 1),
  libraries_listed: 5,
  libraries_skipped: 5,
  ...rest,
});

/** Read within the run of the n-th, whole, and settled. */
const sync = (library_name: string, n: number, rest: Row = {}): Row => ({
  library_name,
  listed_text: "2025-12-24 at 6:30 PM",
  bookmark: "2025-12-24 at 6:30 PM",
  bookmark_seen_at: hours(day(n), -24),
  settles_at: hours(day(n), -1),
  content_read_at: hours(day(n), 0.25),
  last_success_at: hours(day(n), 0.5),
  ...rest,
});

const failedAt = (last_failed_at: Date, failures = 1): Row => ({ reread_reason: "failure", failures, last_failed_at });

interface Stored {
  readonly runs: readonly Row[];
  readonly reads: readonly Row[];
}

/** Adds the runs, and the libraries: those that were read are live. */
const addState = ({ runs, reads }: Stored) =>
  add({
    libraries: reads.filter((row) => "content_read_at" in row).map(({ library_name }) => ({ library_name })),
    library_sync: reads,
    sync_runs: runs,
  });

const readWhole = async () => (await query("SELECT * FROM simcat_report.data_complete_as_of"))[0];

describe("library_freshness", () => {
  test("has each listed library, stored or not, with its obstacle", async () => {
    const failure = { ...failedAt(hours(day(4), 0.5), 2), last_error: "not_found: answered 404" };
    await addState({
      runs: [run(3), run(4)],
      reads: [
        sync("forest", 3),
        { library_name: "gone" },
        { library_name: "never stored", listed_text: "x", bookmark_seen_at: day(1), ...failure },
      ],
    });
    await add({
      libraries: [{ library_name: "gone", removed_at: day(2), changed_at: day(2) }],
      scenarios: [
        { scenario_id: 1, changed_at: day(3) },
        { scenario_id: 2, changed_at: day(2) },
      ],
      rejects: [
        { library_name: "never stored", owner: "ann", kind: "metadata" },
        { library_name: "never stored", owner: "ann", resolved_at: day(2) },
      ],
    });
    const columns = `library_name, is_stored, settled, owes, failures, last_error, last_failed_at, open_rejects::int,
      lag = now() - last_read_at, lag_seconds = extract(epoch FROM lag)::float8`;
    expect(await queryLists(`SELECT ${columns} FROM simcat_report.library_freshness ORDER BY 1`)).toEqual([
      ["forest", true, true, null, 0, null, null, 0, true, true],
      ["never stored", false, false, "failure", 2, "not_found: answered 404", hours(day(4), 0.5), 1, null, null],
    ]);
    const times = `last_listed_at, last_read_at, last_whole_read_at, last_success_at, last_changed_at, settles_at, complete_as_of`;
    const read = hours(day(3), 0.25);
    expect(await queryLists(`SELECT ${times} FROM simcat_report.library_freshness ORDER BY library_name`)).toEqual([
      [day(4), read, read, hours(day(3), 0.5), day(3), hours(day(3), -1), day(4)],
      [day(4), null, null, null, null, null, day(4)],
    ]);
  });

  test("calls settled what the program does", async () => {
    const text = fc.constantFrom(null, "", "2026-01-05 at 6:30 PM", "2026-01-05T18:30:12.123Z", "2026-01-05", "soon");
    const moment = fc.option(fc.integer({ min: 0, max: 40 }).map((n) => day(6).getTime() + n * 60_000 * 4));
    const state = fc.record({
      listedText: text,
      bookmark: text,
      bookmarkSeenAt: moment,
      contentReadAt: fc.oneof(moment, fc.constant(day(9).getTime())),
      rereadReason: fc.constantFrom(null, null, null, "rejects" as const, "failure" as const),
      suspectReads: fc.constantFrom(0, 0, 1),
    });
    const same = fc.record({ one: state, equal: fc.boolean() }).map(({ one, equal }): SyncState => {
      return { ...NEVER_READ, ...one, ...(equal ? { listedText: one.bookmark } : {}) };
    });
    const states = fc.sample(same, 1_000);
    const at = (ms: number | null) => (ms === null ? null : new Date(ms));
    await add({
      libraries: states.map(({ bookmark }, n) => ({ library_name: String(n), last_modified: bookmark })),
      library_sync: states.map((one, n) => ({
        library_name: String(n),
        listed_text: one.listedText,
        bookmark: one.bookmark,
        bookmark_seen_at: at(one.bookmarkSeenAt),
        content_read_at: at(one.contentReadAt),
        settles_at: at(windowEnd(one)),
        reread_reason: one.rereadReason,
        suspect_reads: one.suspectReads,
      })),
    });
    const rows = await query<{ settled: boolean }>(
      "SELECT settled FROM simcat_report.library_freshness ORDER BY library_name::int",
    );
    expect(rows.map(({ settled }) => settled)).toEqual(states.map(isSettled));
    const settled = states.filter(isSettled).length;
    expect([0, states.length]).not.toContain(settled);
    const { stdout } = await callCli(["status", "--json"], { DATABASE_URL: database().url });
    expect(JSON.parse(stdout).libraries).toMatchObject({ settled });
  });

  test.each([
    ["a moment after the window", 1, true],
    ["at its end", 0, false],
  ])("a read %s settles: %s ms", async (_, ms, settled) => {
    const read = { content_read_at: new Date(day(3).getTime() + ms), settles_at: day(3) };
    await addState({ runs: [], reads: [sync("forest", 3, read)] });
    expect(await query("SELECT settled FROM simcat_report.library_freshness")).toEqual([{ settled }]);
  });

  test("cannot say when a library of a partial listing was listed but by its date", async () => {
    await addState({
      runs: [run(3), run(5, { status: "partial", listing_complete: false })],
      reads: [sync("forest", 3, { bookmark_seen_at: day(2) })],
    });
    const rows = await query("SELECT last_listed_at FROM simcat_report.library_freshness");
    expect(rows).toEqual([{ last_listed_at: day(3) }]);
  });

  test("goes by the run of a library's own slice, whenever another slice began (fault 182)", async () => {
    const partial = { content_read_at: hours(day(4), 2), last_success_at: hours(day(4), 1), reread_reason: "rejects" };
    const index = isInSlice({ index: 1, count: 2 }, { owner: "ann", name: "forest" }) ? 1 : 2;
    const slice = (of: number) => ({ scope: { libraries: [], owners: [], slice: `${of}/2` } });
    const other = { id: 5, started_at: hours(day(4), 0.5) };
    await addState({
      runs: [run(3), run(4, slice(index)), run(4, { ...slice(3 - index), ...other })],
      reads: [sync("forest", 4, partial)],
    });
    const rows = await query("SELECT last_whole_read_at AS at FROM simcat_report.library_freshness");
    expect(rows).toEqual([{ at: day(4) }]);
  });
});

describe("data_complete_as_of", () => {
  test("has one row that says nothing while nothing was ever read", async () => {
    const zero = ["libraries_behind", "libraries_settling", "unaddressable_libraries"];
    const row = (await readWhole()) ?? {};
    expect(Object.keys(row)).toHaveLength(15);
    expect(row).toEqual(Object.fromEntries(Object.keys(row).map((name) => [name, zero.includes(name) ? "0" : null])));
  });

  const partial = { status: "partial" };
  const running = { status: "running", finished_at: null };
  const none = { libraries_behind: "0", furthest_behind_owner: null, furthest_behind_library: null };
  const behind = (library: string, count = 1) => ({
    libraries_behind: String(count),
    furthest_behind_owner: "ann",
    furthest_behind_library: library,
  });

  test.each<Stored & { readonly what: string; readonly row: Row }>([
    {
      what: "is the start of the last good run, and names the oldest read",
      runs: [run(3), run(4)],
      reads: [sync("forest", 3), sync("lake", 2)],
      row: {
        complete_as_of: day(4),
        last_whole_run_id: "4",
        last_whole_run_started_at: day(4),
        last_whole_run_status: "ok",
        every_library_read_since: hours(day(2), 0.25),
        ...none,
      },
    },
    ...[
      { what: "of some libraries only", rest: { scope: { owners: ["ann"], libraries: [] } } },
      { what: "that did not come to its end", rest: { status: "interrupted" } },
      { what: "whose listing never came", rest: { status: "source_unavailable" } },
      { what: "that still runs", rest: running },
      { what: "held over an empty listing", rest: { status: "held", libraries_listed: 0, libraries_skipped: 0 } },
      { what: "held over another organization's listing", rest: { status: "held", libraries_skipped: 0 } },
      { what: "whose listing was incomplete", rest: { ...partial, listing_complete: false } },
      { what: "whose listing is not known to be complete", rest: { ...partial, listing_complete: null } },
      { what: "that was held and stored everything else", rest: { status: "held" }, counts: true },
      { what: "that was partial and saw everything", rest: partial, counts: true },
    ].map(({ what, rest, counts = false }) => ({
      what: `${counts ? "goes" : "does not go"} by a run ${what}`,
      runs: [run(3), run(4, rest)],
      reads: [sync("forest", 3)],
      row: { complete_as_of: counts ? day(4) : day(3) },
    })),
    {
      what: "is NULL before the first complete run",
      runs: [run(3, { scope: { owners: ["ann"] } }), run(4, { ...partial, listing_complete: false })],
      reads: [sync("forest", 3)],
      row: { complete_as_of: null, age: null, last_whole_run_id: null, every_library_read_since: null },
    },
    {
      what: "has every library read since the last run that saw them all, however late the known ones were read",
      runs: [run(2), run(3, { scope: { owners: ["ann"] } })],
      reads: [sync("forest", 3)],
      row: { complete_as_of: day(2), every_library_read_since: day(2) },
    },
    {
      what: "falls to the last whole read of a library that fails, and names it",
      runs: [run(2), run(3), run(4, partial)],
      reads: [sync("forest", 3), sync("lake", 2, failedAt(hours(day(4), 0.5)))],
      row: { complete_as_of: hours(day(2), 0.25), last_whole_run_started_at: day(4), ...behind("lake") },
    },
    {
      what: "does not fall for a library that failed for the first time after the last whole run",
      runs: [run(3), run(4, running)],
      reads: [sync("lake", 2, failedAt(hours(day(4), 0.5)))],
      row: { complete_as_of: day(3) },
    },
    {
      what: "falls for a library that owes a read for its rejects, although it failed for the first time since",
      runs: [run(3), run(4, running)],
      reads: [sync("lake", 2, { ...failedAt(hours(day(4), 0.5)), reread_reason: "rejects" })],
      row: { complete_as_of: hours(day(2), 0.25) },
    },
    {
      what: "falls for a library that failed for the second time after the last whole run",
      runs: [run(3), run(4, running)],
      reads: [sync("lake", 2, failedAt(hours(day(4), 0.5), 2))],
      row: { complete_as_of: hours(day(2), 0.25) },
    },
    {
      what: "falls if the failure may be of the last whole run: an outage counts no second one (fault 177)",
      runs: [run(3), run(4, { ...partial, libraries_failed: 1 }), run(5, { status: "source_unavailable" })],
      reads: [sync("lake", 2, failedAt(hours(day(5), 0.5)))],
      row: { complete_as_of: hours(day(2), 0.25) },
    },
    {
      what: "does not fall for a failure in an outage if the last whole run had none (fault 177)",
      runs: [run(3), run(4, partial), run(5, { status: "source_unavailable" })],
      reads: [sync("lake", 2, failedAt(hours(day(5), 0.5)))],
      row: { complete_as_of: day(4) },
    },
    {
      what: "knows that a new library that was listed after the last whole run did not exist then (fault 177)",
      runs: [run(4, partial)],
      reads: [{ library_name: "new", listed_text: "x", bookmark_seen_at: day(5) }],
      row: { complete_as_of: day(4) },
    },
    {
      what: "misses a new library that the last whole run listed and whose failure was not recorded (fault 177)",
      runs: [run(4, partial)],
      reads: [{ library_name: "new", listed_text: "x", bookmark_seen_at: hours(day(4), 0.1) }],
      row: { complete_as_of: null },
    },
    {
      what: "falls to the start of the run of the last whole store where a read was stored in part since",
      runs: [run(2), run(3, partial), run(4, partial)],
      reads: [sync("lake", 2, { reread_reason: "rejects", content_read_at: hours(day(4), 0.25) })],
      row: { complete_as_of: day(2) },
    },
    {
      what: "falls to the time at which a cache had stored the content (fault 277)",
      runs: [run(3), run(4)],
      reads: [
        sync("lake", 4, { settles_at: day(9), suspect_reads: 1, content_as_of: hours(day(2), 5) }),
        sync("forest", 4),
      ],
      row: { complete_as_of: hours(day(2), 5), every_library_read_since: hours(day(2), 5), ...behind("lake") },
    },
    {
      what: "falls to it although a run has listed another date, and a partial read was stored since (fault 277)",
      runs: [run(2), run(3, partial), run(4, partial)],
      reads: [
        sync("lake", 2, { ...failedAt(hours(day(4), 0.5)), content_read_at: day(4), content_as_of: hours(day(1), 5) }),
      ],
      row: { complete_as_of: hours(day(1), 5), ...behind("lake") },
    },
    {
      what: "is unknown if a cache does not say when it stored the content (fault 277)",
      runs: [run(3), run(4)],
      reads: [sync("lake", 4, { suspect_reads: 1, content_as_of: "-infinity" })],
      row: { complete_as_of: null, age: null, every_library_read_since: null, ...behind("lake") },
    },
    {
      what: "does not depend on a cache that answered the only read, stored in part (fault 277)",
      runs: [run(3), run(4, partial)],
      reads: [sync("lake", 4, { reread_reason: "rejects", last_success_at: null, content_as_of: day(4) })],
      row: { complete_as_of: day(3), every_library_read_since: null, ...behind("lake") },
    },
    {
      what: "counts a library that only has to settle as settling, and not as behind",
      runs: [run(3), run(4)],
      reads: [sync("lake", 3, { settles_at: day(5) })],
      row: { complete_as_of: hours(day(3), 0.25), libraries_settling: "1", ...none },
    },
    {
      what: "counts a library that does not only have to settle as behind",
      runs: [run(3), run(4, partial)],
      reads: [
        sync("settles", 3, { settles_at: day(5) }),
        sync("settles and fails", 3, { settles_at: day(5), ...failedAt(hours(day(4), 0.5)) }),
        sync("suspect", 3, { suspect_reads: 1 }),
        sync("undated", 3, { listed_text: null, bookmark: null, settles_at: null }),
        sync("owes", 3, { settles_at: day(5), reread_reason: "shrunk" }),
        sync("stored in part", 3, { settles_at: day(5), content_read_at: hours(day(3), 0.75) }),
      ],
      row: { libraries_settling: "1", ...behind("stored in part", 5) },
    },
    {
      what: "does not fall while a run has listed another date and not read the library yet",
      runs: [run(3), run(4, running)],
      reads: [
        sync("lake", 2, { listed_text: "2026-01-04 at 1:00 AM", bookmark_seen_at: hours(day(4), 0.1) }),
        { library_name: "new", listed_text: "2026-01-04 at 1:00 AM", bookmark_seen_at: hours(day(4), 0.1) },
        { library_name: "new and failed", ...failedAt(hours(day(4), 0.2)) },
      ],
      row: { complete_as_of: day(3) },
    },
    {
      what: "falls to the last read of a library that returned: it may have been edited before (fault 186)",
      runs: [run(3), run(4, running)],
      reads: [sync("lake", 1, { reread_reason: "restored", settles_at: null })],
      row: { complete_as_of: hours(day(1), 0.25), ...behind("lake") },
    },
    {
      what: "is the last run without a fault if a library was never stored completely",
      runs: [run(2), run(3, partial), run(4, partial)],
      reads: [sync("forest", 4), { library_name: "new", ...failedAt(hours(day(4), 0.2), 2) }],
      row: { complete_as_of: day(2), every_library_read_since: null, ...behind("new") },
    },
    {
      what: "is unknown if no run was without a fault and a library was never stored completely",
      runs: [run(3, partial), run(4, partial)],
      reads: [
        sync("lake", 2, { suspect_reads: 1 }),
        { library_name: "new", ...failedAt(hours(day(4), 0.2), 2) },
        sync("forest", 4),
      ],
      row: { complete_as_of: null, age: null, last_whole_run_id: "4", ...behind("new", 2) },
    },
  ])("$what", async ({ row, ...state }) => {
    await addState(state);
    expect(await readWhole()).toMatchObject(row);
  });

  test("has nothing to do with removed libraries", async () => {
    await addState({ runs: [run(4)], reads: [sync("forest", 3), sync("gone", 1, { settles_at: null })] });
    await query("UPDATE simcat.libraries SET removed_at = $1 WHERE library_name = 'gone'", [day(3)]);
    expect(await readWhole()).toMatchObject({ complete_as_of: day(4), ...none });
  });

  test("stays at the last run that listed a library whose removal is held, and counts it as behind (fault 154)", async () => {
    const held = { status: "held" };
    // Neither has settled: that is no reason not to count the hidden one.
    const read = { content_read_at: day(2), last_success_at: day(2), settles_at: day(1) };
    const hidden = { ...read, settles_at: day(2), removal_held_at: hours(day(5), 0.5) };
    await addState({
      runs: [run(3), run(4), run(5, held), run(6, held)],
      reads: [sync("forest", 2, read), sync("hidden", 2, hidden)],
    });
    const freshness = () =>
      query(
        `SELECT f.library_name AS name, f.complete_as_of AS "asOf", f.last_listed_at AS listed, c.complete_as_of AS whole,
           c.libraries_behind::int AS behind, c.libraries_settling::int AS settling, c.furthest_behind_library AS furthest
         FROM simcat_report.library_freshness f, simcat_report.data_complete_as_of c ORDER BY 1`,
      );
    const counts = { behind: 1, settling: 0, furthest: "hidden" };
    expect(await freshness()).toEqual([
      { name: "forest", asOf: day(6), listed: day(6), whole: day(2), ...counts },
      { name: "hidden", asOf: day(2), listed: day(4), whole: day(2), ...counts },
    ]);
    await query("UPDATE simcat.library_sync SET settles_at = $1", [day(1)]);
    expect(await freshness()).toMatchObject([
      { asOf: day(6), whole: day(4), ...counts },
      { asOf: day(4), whole: day(4), ...counts },
    ]);
  });

  test("is at most the time at which a cache stored the listing, of each library too (fault 153)", async () => {
    const asOf = hours(day(3), 1);
    await addState({
      runs: [run(2), run(4, { listing_as_of: asOf })],
      reads: [sync("forest", 2), sync("lake", 1)],
    });
    const rows = await query(
      `SELECT complete_as_of, libraries_behind::int, every_library_read_since, age_seconds = extract(epoch FROM age)::float8 AS in_seconds,
         (SELECT max(complete_as_of) FROM simcat_report.library_freshness) AS latest FROM simcat_report.data_complete_as_of`,
    );
    const oldest = hours(day(1), 0.25);
    expect(rows).toEqual([
      { complete_as_of: asOf, latest: asOf, libraries_behind: 0, every_library_read_since: oldest, in_seconds: true },
    ]);
  });

  test.each([
    ["a dot segment", { code: "unaddressable", owner: "ann", library_name: ".." }],
    ["a key over 2,600 bytes", { code: "unaddressable", path: "" }],
    ["an empty part", { code: "unaddressable", path: "libraryName" }],
    ["a NUL or half of a surrogate pair", { code: "bad_text", path: "uploadUser" }],
  ])("counts %s as unaddressable, and leaves it out (fault 112)", async (_, reject) => {
    await addState({ runs: [run(4, partial)], reads: [sync("forest", 3)] });
    await add({
      rejects: [
        { kind: "listing", first_seen_at: day(2), ...reject },
        // Of another field; and one that is resolved.
        { kind: "listing", code: "bad_text", path: "lastModified", owner: "ann", library_name: "forest" },
        { kind: "listing", code: "unaddressable", path: "", resolved_at: day(2) },
      ],
    });
    expect(await readWhole()).toMatchObject({ complete_as_of: day(4), unaddressable_libraries: "1" });
  });
});

describe("run_history", () => {
  test("shows how long a run took and what it did", async () => {
    const libraries = { libraries_listed: 12, libraries_read: 3, libraries_skipped: 9, libraries_changed: 2 };
    const scenarios = { scenarios_inserted: 5, scenarios_updated: 4, scenarios_removed: 1 };
    const failed = { status: "partial", libraries_failed: 1, error: "1 library failed" };
    await add({ sync_runs: [run(3, { ...libraries, ...scenarios, ...failed })] });
    const columns = "run_id, kind, trigger, status, libraries_changed, scenarios_added, summary, error, scope";
    const summary = "12 listed, 3 read, 2 changed, 0 removed, 1 failed; scenarios +5 ~4 -1";
    expect(await queryLists(`SELECT ${columns} FROM simcat_report.run_history`)).toEqual([
      ["3", "sync", "schedule", "partial", 2, "5", summary, "1 library failed", null],
    ]);
    const more = "started_at, finished_at, duration::text, duration_seconds, is_whole, saw_everything";
    expect(await queryLists(`SELECT ${more} FROM simcat_report.run_history`)).toEqual([
      [day(3), hours(day(3), 1), "01:00:00", 3_600, true, true],
    ]);
  });

  test("knows no counts of a running run, and two of an abandoned one (fault 307)", async () => {
    const open = { libraries_listed: 0, libraries_read: 6, libraries_failed: 2, finished_at: null };
    await add({ sync_runs: [run(3, { status: "running", ...open }), run(4, { status: "abandoned", ...open })] });
    const rows = await queryLists(
      `SELECT libraries_listed, bytes, summary, duration, duration_seconds, saw_everything, libraries_read, libraries_failed
       FROM simcat_report.run_history ORDER BY run_id`,
    );
    const unknown = [null, null, null, null, null, false];
    expect(rows).toEqual([
      [...unknown, null, null],
      [...unknown, 6, 2],
    ]);
  });
});
