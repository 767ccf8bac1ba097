import { describe, expect, test } from "vitest";
import type { LibraryRows } from "../../src/db/read/read-library-record.ts";
import type { SyncState } from "../../src/model.ts";
import { formatExplanation, toExplanationJson } from "../../src/output/explanation.ts";
import { ago, NOW, runRow } from "../support/status-rows.ts";
import { NEVER_READ } from "../support/sync-state.ts";

const MINUTE = 60_000;
const WEEK = 7 * 86_400_000;
const msBefore = (minutes: number) => NOW.getTime() - minutes * MINUTE;

/** A date with a precision of a second, seen three hours ago and read an hour later. */
const TEXT = "2026-07-01T08:58:30Z";
const SETTLED: SyncState = {
  ...NEVER_READ,
  listedText: TEXT,
  bookmark: TEXT,
  bookmarkSeenAt: msBefore(180),
  contentReadAt: msBefore(120),
};

const key = { owner: "ann", name: "Q1/Q2" };
const ROWS: LibraryRows = {
  source: "tables",
  key,
  now: NOW,
  lastGoodRun: runRow(12, { startedAt: ago(30) }),
  stored: { key, state: "live", sync: SETTLED },
  library: { lastModified: TEXT, firstSeenAt: ago(4320), changedAt: ago(120), removedAt: null },
  reads: { lastError: null, lastFailedAt: null, lastSuccessAt: ago(120) },
  scenarios: 20,
  versions: { library: 2, scenarios: 31 },
  rejects: { open: 0, resolved: 0, shown: [] },
};

function rowsWith(sync: Partial<SyncState>, rest: Partial<LibraryRows> = {}): LibraryRows {
  return { ...ROWS, stored: { key, state: "live", sync: { ...SETTLED, ...sync } }, ...rest };
}

const lines = (rows: LibraryRows) => formatExplanation(rows, WEEK).split("\n");
const sentence = (rows: LibraryRows) => lines(rows)[1];

test("a settled library is explained whole", () => {
  expect(lines(ROWS)).toEqual([
    "ann/Q1%2FQ2",
    "It will be skipped: unchanged and settled; next full read due 2026-07-05T13:27:54Z (in 4 d).",
    "Based on the last recorded listing; explain sends no request. Last good run: 12, started 2026-07-01T11:30:00Z (30 min ago).",
    "",
    'listed date     "2026-07-01T08:58:30Z"',
    'bookmark        "2026-07-01T08:58:30Z"',
    "settled         yes",
    "owes            nothing",
    "content read    2026-07-01T10:00:00Z (2 h ago)",
    "full read due   2026-07-05T13:27:54Z (in 4 d)",
    "last good copy  2026-07-01T10:00:00Z (2 h ago)",
    "failures        none now",
    'stored date     "2026-07-01T08:58:30Z"',
    "stored since    2026-06-28T12:00:00Z (3 d ago)",
    "last changed    2026-07-01T10:00:00Z (2 h ago)",
    "scenarios       20 live",
    "history         2 earlier versions of the library, 31 of its scenarios",
    "rejects         0 open, 0 resolved",
  ]);
  expect(toExplanationJson(ROWS, WEEK)).toMatchObject({
    now: NOW,
    last_good_run: { id: 12, started_at: ago(30) },
    window_ends_at: new Date("2026-07-01T09:02:01Z"),
    full_read_due_at: new Date("2026-07-05T13:27:54.555Z"),
    library_versions: 2,
    scenario_versions: 31,
  });
});

describe("the sentence at the top says", () => {
  test.each<[Partial<SyncState>, string]>([
    [
      { listedText: "2026-07-01T11:00:00Z" },
      "listed date changed (the last listed date is not the one under which its content was stored completely)",
    ],
    [{ listedText: null }, "no listed date (only reading it shows whether it has changed)"],
    [{ rereadReason: "failure", failures: 1 }, "owes a read: failure (the last read failed)"],
    [{ rereadReason: "rejects" }, "owes a read: rejects (some items of the last read could not be stored)"],
    [
      { rereadReason: "shrunk" },
      "owes a read: shrunk (its list lost too many scenarios at once; a second read must confirm that)",
    ],
    [{ contentReadAt: null, bookmark: null }, "never read (none of its content is stored)"],
    [{ contentReadAt: msBefore(179) }, "not settled yet (it may have changed after the last read without a new date)"],
  ])("that a library with %j is read, and why", (sync, reason) => {
    expect(sentence(rowsWith(sync))).toBe(`It will be read by the next run: ${reason}.`);
  });

  test("until when a library whose date is still settling is skipped", () => {
    expect(sentence(rowsWith({ bookmarkSeenAt: msBefore(0.5), contentReadAt: msBefore(0.1) }))).toBe(
      "It will be skipped for now: unchanged, but its date is still settling; its window ends 2026-07-01T12:01:31Z (in 1 min), next read due 2026-07-01T12:00:18Z (in 18 s).",
    );
  });

  test("that a full read is due from the moment on, and not before", () => {
    const due = Date.parse("2026-07-05T13:27:54.555Z");
    const at = (ms: number) => sentence({ ...ROWS, now: new Date(ms) });
    expect(at(due - 1001)).toBe(
      "It will be skipped: unchanged and settled; next full read due 2026-07-05T13:27:54Z (in 1 s).",
    );
    expect(at(due + 1000)).toBe(
      "It will be read by the next run: due for a full read (its last read is older than SIMCAT_FULL_EVERY allows).",
    );
  });

  test("that a removed one is left alone, and since when", () => {
    const library = { lastModified: TEXT, firstSeenAt: ago(4320), changedAt: ago(60), removedAt: ago(60) };
    const rows = { ...ROWS, stored: { key, state: "removed" as const, sync: SETTLED, removedAt: 0 }, library };
    expect(sentence(rows)).toBe(
      "It will not be read unless it is listed again: removed 2026-07-01T11:00:00Z (1 h ago). If a run finds it listed, it is restored and read.",
    );
    expect(lines(rows)).toContain("removed         2026-07-01T11:00:00Z (1 h ago)");
    expect(lines(rows)).toContain("full read due   not while it is not listed");
    expect(lines(rows)).toContain("scenarios       0 live");
  });

  test("that a library whose removal is held is missing, since when, and what ends that (faults 123 and 323)", () => {
    const rows = rowsWith({ removalHeldAt: msBefore(180) });
    expect(sentence(rows)).toBe(
      "It will not be read while the listing lacks it. A guard has held its removal since 2026-07-01T09:00:00Z (3 h ago); this ends when the service itself lists it again (a cache does not count), or with simcat sync --allow-removals.",
    );
    expect(toExplanationJson(rows, WEEK)).toMatchObject({
      verdict: { next_run: "none", reason: "removal held" },
      removal_held_at: ago(180),
    });
  });

  test("nothing of a next read of an unsettled library that is not listed (fault 308)", () => {
    const unsettled = { bookmarkSeenAt: msBefore(0.5), contentReadAt: msBefore(0.1) };
    const held = rowsWith({ ...unsettled, removalHeldAt: msBefore(180) });
    const stored = { key, state: "removed" as const, sync: { ...SETTLED, ...unsettled }, removedAt: 0 };
    for (const rows of [held, { ...ROWS, stored }]) {
      expect(lines(rows)).toContain("settled         no: its window ends 2026-07-01T12:01:31Z (in 1 min)");
      expect(toExplanationJson(rows, WEEK)).toMatchObject({ settled: false, next_read_due_at: null });
    }
  });

  test("that a library known only from rejects is not read", () => {
    const reject = {
      ...({ kind: "listing", code: "unaddressable", path: "libraryName" } as const),
      ...{ reason: "libraryName is a dot segment\u001b[2J", firstSeenAt: ago(60), lastSeenAt: ago(1) },
    };
    const unknown = { ...ROWS, stored: null, library: null, scenarios: 0 };
    expect(lines({ ...unknown, rejects: { open: 3, resolved: 1, shown: [reject] } }).slice(1)).toEqual([
      "It will not be read: the service lists it, but its entry cannot be stored or requested; see its rejects.",
      "Based on the last recorded listing; explain sends no request. Last good run: 12, started 2026-07-01T11:30:00Z (30 min ago).",
      "",
      "stored          nothing",
      "rejects         3 open, 1 resolved",
      "  unaddressable (listing, libraryName): libraryName is a dot segment\\u001b[2J; first seen 2026-07-01T11:00:00Z (1 h ago), last 2026-07-01T11:59:00Z (1 min ago)",
      "  … and 2 more",
    ]);
    expect(sentence({ ...unknown, rejects: { open: 0, resolved: 1, shown: [] } })).toBe(
      "It will not be read unless it is listed again: only resolved rejects remain.",
    );
  });
});

test.each<[Partial<SyncState>, string]>([
  [{ listedText: "x" }, "the listed date is not the bookmark"],
  [{ listedText: null, bookmark: null }, "the service lists no date"],
  [{ bookmark: null }, "its content has not been stored completely under a date yet"],
  [{ rereadReason: "rejects" }, "it owes a read"],
  [
    { suspectReads: 2 },
    "the last 2 reads may have been answered by a cache, or named another date or library than the listing; next read due 2026-07-01T10:00:00Z (2 h ago)",
  ],
  [
    { suspectReads: 1 },
    "the last read may have been answered by a cache, or named another date or library than the listing; next read due 2026-07-01T10:00:00Z (2 h ago)",
  ],
  [
    { bookmarkSeenAt: msBefore(2), contentReadAt: msBefore(1) },
    "its window ends 2026-07-01T12:00:01Z (in 1 s); next read due 2026-07-01T12:00:00Z (just now)",
  ],
  [
    { contentReadAt: msBefore(178) },
    "not read since its window ended 2026-07-01T09:02:01Z (2 h ago); next read due 2026-07-01T09:02:01Z (2 h ago)",
  ],
])("reports that a library with %j is not settled, and why (fault 308)", (sync, reason) => {
  expect(lines(rowsWith(sync))).toContain(`settled         no: ${reason}`);
});

test.each<Partial<SyncState>>([{ listedText: "2026-07-01" }, { rereadReason: "failure" }])(
  "names no end of a window that says nothing about the listed date, with %j (fault 308)",
  (sync) => expect(toExplanationJson(rowsWith(sync), WEEK)).toMatchObject({ window_ends_at: null }),
);

test("reports failures with the last error, past ones as past; no text can act on the terminal", () => {
  const reads = { lastError: "network: reset\u001b[2J", lastFailedAt: ago(5), lastSuccessAt: null };
  const told = lines(rowsWith({ failures: 3, rereadReason: "failure", listedText: " a\u009b2J " }, { reads }));
  expect(told).toContain(
    "failures        3 in a row, the last 2026-07-01T11:55:00Z (5 min ago): network: reset\\u001b[2J",
  );
  expect(told).toContain("last good copy  never");
  expect(told).toContain('listed date     " a\\u009b2J "');
  const past = { lastError: null, lastFailedAt: ago(600), lastSuccessAt: ago(120) };
  expect(lines({ ...ROWS, reads: past })).toContain(
    "failures        none now; the last was 2026-07-01T02:00:00Z (10 h ago)",
  );
});

test("reports that no run has succeeded yet", () => {
  expect(lines({ ...ROWS, lastGoodRun: null })[2]).toBe(
    "Based on the last recorded listing; explain sends no request. No run of all libraries has succeeded yet.",
  );
});

test("for a reader, who sees no listed date, does not deny it (fault 364)", () => {
  const rows = rowsWith({ listedText: null, bookmark: null, rereadReason: "failure" }, { source: "views" });
  expect(lines(rows)).toContain("settled         no: its content has not been stored completely under a date yet");
});

test.each<[Partial<SyncState>, string]>([
  [{ suspectReads: 1 }, "settling"],
  [{ failures: 6, lastFailedAt: msBefore(1), rereadReason: "failure" }, "backing off"],
])("for a reader, who does not see all dates and reads, %j is uncertain (fault 408)", (sync, reason) => {
  const { next_run, reason: why, text } = toExplanationJson(rowsWith(sync, { source: "views" }), WEEK).verdict;
  expect({ next_run, why }).toEqual({ next_run: "unknown", why: reason });
  expect(text).toMatch(/^Its next read is due .* at the latest: /);
});

test("for a reader, who does not see suspect reads, an unsettled library is read at a time at the latest (fault 223)", () => {
  const rows = rowsWith({ bookmarkSeenAt: msBefore(0.5), contentReadAt: msBefore(0.1) }, { source: "views" });
  const due = "2026-07-01T12:00:18Z (in 18 s) at the latest";

  const { verdict } = toExplanationJson(rows, WEEK);
  expect(verdict).toEqual({
    next_run: "unknown",
    reason: "settling",
    text: `Its next read is due ${due}: its date is still settling. This role does not see whether a read is due before.`,
  });
  const text = formatExplanation(rows, WEEK);
  expect(text).toContain(`settled         no: its window ends 2026-07-01T12:01:31Z (in 1 min); next read due ${due}\n`);
  expect(toExplanationJson({ ...rows, source: "tables" }, WEEK).verdict.next_run).toBe("skip");
});
