import { describe, expect, test } from "vitest";
import type { ListedLibrary, ReadAction, RereadReason, StoredLibrary, SyncState } from "../../src/model.ts";
import type { Selection } from "../../src/run-summary.ts";
import { decide } from "../../src/sync/rules/decide.ts";
import { createPlanner, createReadOrder, type PlannerContext } from "../../src/sync/rules/planner.ts";
import { parseSelection } from "../../src/sync/rules/selection.ts";
import { fullReadDueAt } from "../../src/sync/rules/settle.ts";
import { EVERYTHING, listingOf } from "../support/listing.ts";
import { NEVER_READ } from "../support/sync-state.ts";

const MINUTE = 60_000;
const DAY = 86_400_000;
const SEEN = Date.parse("2024-05-01T12:00:00Z");
const NOW = SEEN + 30 * MINUTE;
const REMOVED = SEEN + 20 * MINUTE;
const TEXT = "2024-05-01T11:58:00Z";
const WEEKLY = { now: NOW, fullEveryMs: 7 * DAY, backfillSince: null, blindSince: Number.POSITIVE_INFINITY };

const SETTLED: SyncState = {
  ...NEVER_READ,
  listedText: TEXT,
  bookmark: TEXT,
  contentHash: "00",
  bookmarkSeenAt: SEEN,
  contentReadAt: SEEN + 10 * MINUTE,
};

function listed(name: string, lastModified: string | null = TEXT): ListedLibrary {
  return { key: { owner: "o", name }, lastModified, source: "{}" };
}

function stored(name: string, sync: Partial<SyncState> = {}, state: StoredLibrary["state"] = "live"): StoredLibrary {
  const library = { key: { owner: "o", name }, sync: { ...SETTLED, ...sync } };
  return state === "removed" ? { ...library, state, removedAt: REMOVED } : { ...library, state };
}

/** Seen and read just now: not settled, with the next read due in more than two seconds. */
const FRESH = { bookmarkSeenAt: NOW - 3000, contentReadAt: NOW - 1000 };

test("a settled library whose listed date equals its bookmark is skipped (fault 57)", () => {
  expect(decide(listed("a"), stored("a"), WEEKLY)).toEqual({ kind: "skip", reason: "unchanged" });
});

const REJECTED = { ...listed("a"), source: null };
const owing = (rereadReason: RereadReason) => stored("a", { rereadReason });

test.each<[what: string, ListedLibrary, StoredLibrary | null, ReadAction["reason"]]>([
  ["was never stored", listed("a"), null, "never read"],
  ["was never stored and has no date", listed("a", null), null, "never read"],
  ["was only listed", listed("a"), stored("a", {}, "listed"), "never read"],
  ["was stored without bookkeeping", listed("a"), { key: stored("a").key, state: "live", sync: null }, "never read"],
  ["was stored without a read", listed("a"), stored("a", { contentReadAt: null }), "never read"],
  ["has a later date", listed("a", "2024-05-01T11:59:00Z"), stored("a"), "listed date changed"],
  ["has an earlier date", listed("a", "2024-05-01T11:57:00Z"), stored("a"), "listed date changed"],
  ["has another text of its date", listed("a", "2024-05-01T11:58:00.000Z"), stored("a"), "listed date changed"],
  ["has a blank after its date", listed("a", `${TEXT} `), stored("a"), "listed date changed"],
  ["has no date any more", listed("a", null), stored("a"), "no listed date"],
  ["never had a date", listed("a", null), stored("a", { bookmark: null, listedText: null }), "no listed date"],
  ["has an empty date", listed("a", ""), stored("a", { bookmark: "", listedText: "" }), "no listed date"],
  ["has its date again after another", listed("a"), stored("a", { listedText: "2024-05-02" }), "not settled yet"],
  ["had rejects", listed("a"), owing("rejects"), "owes a read: rejects"],
  ["failed", listed("a"), owing("failure"), "owes a read: failure"],
  ["shrank", listed("a"), owing("shrunk"), "owes a read: shrunk"],
  ["returned", listed("a"), owing("restored"), "owes a read: restored"],
  ["returns (fault 46)", listed("a"), stored("a", {}, "removed"), "owes a read: restored"],
  ["is a reject with the date of the bookmark (fault 28)", REJECTED, stored("a"), "owes a read: rejects"],
])("a library is read if it %s", (_, entry, row, reason) => {
  expect(decide(entry, row, WEEKLY)).toEqual({ kind: "read", reason });
});

const SKIPPED = { kind: "skip", reason: "backing off" };
const TRIED = { kind: "read", reason: "owes a read: failure" };
const failed = (failures: number, minutesAgo: number, sync: Partial<SyncState> = {}) =>
  stored("a", { rereadReason: "failure", failures, lastFailedAt: NOW - minutesAgo * MINUTE, ...sync });

test.each([
  ["two failures", failed(2, 0), TRIED],
  ["the third, less than 15 minutes ago", failed(3, 14.9), SKIPPED],
  ["the third, 15 minutes ago", failed(3, 15), TRIED],
  ["the fourth, less than 30 minutes ago", failed(4, 29.9), SKIPPED],
  ["the fourth, 30 minutes ago", failed(4, 30), TRIED],
  ["the seventh, less than four hours ago", failed(7, 239, { bookmarkSeenAt: 0 }), SKIPPED],
  ["the hundredth, less than six hours ago", failed(100, 359, { bookmarkSeenAt: 0 }), SKIPPED],
  ["the hundredth, six hours ago", failed(100, 360, { bookmarkSeenAt: 0 }), TRIED],
  ["a date that changed after the last failure", failed(9, 1, { bookmarkSeenAt: NOW }), TRIED],
  ["a failure in the future, before the clock was set back", failed(9, -600), TRIED],
])("a library that fails repeatedly is tried at doubling distances: %s (fault 150)", (_, library, decision) => {
  expect(decide(listed("a"), library, WEEKLY)).toEqual(decision);
});

test("a library that backs off is tried if its date changes, it returns, a backfill runs or it is named", () => {
  const never = failed(9, 1, { contentReadAt: null, bookmark: null });
  expect(decide(listed("a"), never, WEEKLY)).toEqual(SKIPPED);
  expect(decide(listed("a", null), failed(9, 1, { listedText: null }), WEEKLY)).toEqual(SKIPPED);
  expect(decide(listed("a", "another date"), never, WEEKLY)).toEqual({ kind: "read", reason: "never read" });
  expect(decide(listed("a"), { ...failed(9, 1), state: "removed", removedAt: REMOVED }, WEEKLY)).toEqual(TRIED);
  expect(decide(listed("a"), failed(9, 1), { ...WEEKLY, backfillSince: 0 })).toEqual(TRIED);
  expect(decide(listed("a"), failed(9, 1), { ...WEEKLY, namesLibraries: true })).toEqual(TRIED);
});

test("an unsettled library is read when its next read is due, and not before", () => {
  const library = stored("a", FRESH);
  const skip = { kind: "skip", reason: "settling" };
  expect(decide(listed("a"), library, { ...WEEKLY, now: NOW + 999 })).toEqual(skip);
  expect(decide(listed("a"), library, { ...WEEKLY, now: NOW + 1000 })).toEqual({
    kind: "read",
    reason: "not settled yet",
  });
});

test("a full read is due at its moment, settled or not", () => {
  const library = stored("a");
  const due = fullReadDueAt({ ...SETTLED }, library.key, 7 * DAY);
  const before = decide(listed("a"), library, { ...WEEKLY, now: Math.ceil(due) - 1 });
  expect(before).toEqual({ kind: "skip", reason: "unchanged" });
  const read = { kind: "read", reason: "due for a full read" };
  expect(decide(listed("a"), library, { ...WEEKLY, now: Math.ceil(due) })).toEqual(read);
  expect(decide(listed("a"), stored("a", FRESH), { ...WEEKLY, fullEveryMs: 1000 })).toEqual(read);
});

test("a backfill reads libraries not read since it began, settled or not", () => {
  const read = { kind: "read", reason: "forced" };
  const readAt = SEEN + 10 * MINUTE;
  expect(decide(listed("a"), stored("a"), { ...WEEKLY, backfillSince: readAt + 1 })).toEqual(read);
  expect(decide(listed("a"), stored("a"), { ...WEEKLY, backfillSince: readAt })).toEqual({
    kind: "skip",
    reason: "unchanged",
  });
  expect(decide(listed("a"), stored("a", FRESH), { ...WEEKLY, backfillSince: NOW })).toEqual(read);
});

function plan(
  listing: readonly ListedLibrary[],
  rows: readonly StoredLibrary[],
  selection: Selection = EVERYTHING,
  context: PlannerContext = WEEKLY,
) {
  const planner = createPlanner(listingOf(listing), JSON.parse, context, selection);
  for (const row of rows) planner.addStored(row, JSON.stringify(row));
  const made = planner.finish();
  expect(made.actions).toHaveLength([...made.actions].length);
  return { ...made, actions: [...made.actions], newDates: [...made.newDates] };
}

/** A plan of a listing and tables without libraries. */
const NOTHING = {
  actions: [],
  skipped: { unchanged: 0, settling: 0, "backing off": 0 },
  missing: [],
  held: [],
  missingElsewhere: [],
  missingButCached: { count: 0, owing: 0 },
  listedOnly: [],
  newDates: [],
  restored: [],
  holdsEnded: [],
  heldSince: null,
  witness: null,
  listedInScope: 0,
  live: { count: 0, listed: 0 },
};

test("a plan lists the libraries to read, the skipped ones and the missing ones", () => {
  const listing = [
    listed("same"),
    listed("fresh"),
    listed("edited", "2024-05-02T00:00:01Z"),
    listed("new"),
    listed("back"),
  ];
  const gone = stored("gone");
  const rows = [
    gone,
    stored("edited"),
    stored("fresh", FRESH),
    stored("same"),
    stored("long gone", {}, "removed"),
    stored("never stored", {}, "listed"),
    stored("back", {}, "removed"),
  ];
  expect(plan([], [])).toEqual(NOTHING);
  expect(plan(listing, rows)).toEqual({
    ...NOTHING,
    actions: [
      { listed: listing[3], stored: null, reason: "never read" },
      { listed: listing[2], stored: stored("edited"), reason: "listed date changed" },
      { listed: listing[4], stored: stored("back", {}, "removed"), reason: "owes a read: restored" },
    ],
    skipped: { unchanged: 1, settling: 1, "backing off": 0 },
    missing: [gone.key],
    listedOnly: [{ owner: "o", name: "never stored" }],
    newDates: [listing[2], listing[3]],
    restored: [{ owner: "o", name: "back" }],
    witness: { owner: "o", name: "fresh" },
    listedInScope: 5,
    live: { count: 4, listed: 3 },
  });
});

describe("a listing that a cache stored before", () => {
  const planAt = (blindSince: number, listing: readonly ListedLibrary[], row: StoredLibrary) =>
    plan(listing, [row], EVERYTHING, { ...WEEKLY, blindSince });

  test("a library's last read does not show that it is missing, and holds no removal (fault 45)", () => {
    const readAt = SEEN + 10 * MINUTE;
    const keys = [stored("gone").key];
    const kept = { missing: [], missingButCached: { count: 1, owing: 0 } };
    expect(planAt(readAt, [], stored("gone"))).toMatchObject(kept);
    const gone = { missing: keys, missingButCached: { count: 0, owing: 0 } };
    expect(planAt(readAt + 1, [], stored("gone"))).toMatchObject(gone);
  });

  test.each(["live", "listed"] as const)("nor that it owes no read: %s (fault 267)", (state) => {
    const row = stored("gone", { rereadReason: "rejects" }, state);
    const readAt = SEEN + 10 * MINUTE;
    const seenAt = state === "live" ? readAt : SEEN;
    const owing = { missing: [], listedOnly: [], missingButCached: { count: 1, owing: 1 } };
    expect(planAt(seenAt, [], row)).toMatchObject(owing);
    expect(planAt(seenAt + 1, [], row)).toMatchObject({ missingButCached: { count: 0, owing: 0 } });
  });

  test("a removal neither restores nor reads the library (fault 153)", () => {
    const row = stored("back", {}, "removed");
    const nothing = { actions: [], restored: [], newDates: [], listedInScope: 0 };
    expect(planAt(REMOVED, [listed("back", "another date")], row)).toMatchObject(nothing);
    expect(planAt(REMOVED + 1, [listed("back")], row)).toMatchObject({
      actions: [{ reason: "owes a read: restored" }],
      restored: [row.key],
    });
  });

  test("or after a hold does not end it (fault 153)", () => {
    const row = stored("held", { removalHeldAt: REMOVED });
    const held = { holdsEnded: [], missing: [], heldSince: REMOVED };
    expect(planAt(REMOVED, [listed("held")], row)).toMatchObject(held);
    expect(planAt(REMOVED + 1, [listed("held")], row)).toMatchObject(held);
    expect(plan([listed("held")], [row])).toMatchObject({ holdsEnded: [row.key] });
  });
});

test("removals are held since the first of several holds, in any order", () => {
  const rows = [REMOVED + 1, REMOVED, REMOVED + 2].map((at, n) => stored(`held ${n}`, { removalHeldAt: at }));
  const keys = rows.map(({ key }) => key);
  const free = stored("free");
  expect(plan([], [...rows, free])).toMatchObject({ heldSince: REMOVED, held: keys, missing: [...keys, free.key] });
});

test("libraries outside the selection are neither read, skipped nor missing", () => {
  const listing = [listed("a"), listed("new"), listed("other")];
  const rows = [
    stored("a"),
    stored("gone"),
    stored("gone too"),
    stored("held", { removalHeldAt: 1 }),
    stored("never stored", {}, "listed"),
    stored("other", {}, "removed"),
  ];
  expect(plan(listing, rows, parseSelection(["o/new", "o/gone"], []))).toEqual({
    ...NOTHING,
    actions: [{ listed: listing[1], stored: null, reason: "never read" }],
    missing: [stored("gone").key],
    missingElsewhere: [stored("gone too").key, stored("held").key],
    heldSince: 1,
    newDates: [listing[1]],
    witness: { owner: "o", name: "a" },
    listedInScope: 1,
    live: { count: 4, listed: 1 },
  });
});

test("an entry without a date counts as listed", () => {
  expect(plan([listed("a", null)], [stored("a")]).missing).toEqual([]);
});

const READ_AT = SETTLED.contentReadAt ?? 0;
function order(actions: readonly ReadAction[]) {
  const reads = createReadOrder(actions.length, WEEKLY);
  for (const [index, { stored, reason }] of actions.entries()) reads.add(index, { stored, reason });
  return Array.from(reads.sorted(), (index) => actions[index]?.listed.key.name);
}

function action(name: string, reason: ReadAction["reason"], sync: Partial<SyncState> = {}): ReadAction {
  return { listed: listed(name), stored: stored(name, sync), reason };
}

const unstored = (name: string): ReadAction => ({ listed: listed(name), stored: null, reason: "never read" });

test("reads changes first, then owed, unsettled and full reads, and earlier failures last", () => {
  const failed = { failures: 1, lastFailedAt: READ_AT };
  const actions = [
    action("failed", "listed date changed", failed),
    action("forced", "forced"),
    action("full", "due for a full read"),
    action("undated", "no listed date"),
    action("unsettled", "not settled yet"),
    action("owed", "owes a read: rejects"),
    action("edited", "listed date changed"),
    action("edited too", "listed date changed"),
    action("failed too", "owes a read: failure", failed),
  ];
  expect(order(actions)).toEqual([
    "edited",
    "edited too",
    "owed",
    "undated",
    "unsettled",
    "forced",
    "full",
    "failed",
    "failed too",
  ]);
});

test("within a priority, never read libraries are first, then the oldest content (fault 74)", () => {
  const actions = [
    action("young", "no listed date", { contentReadAt: READ_AT + 2 }),
    action("old", "no listed date", { contentReadAt: READ_AT + 1 }),
    action("edited", "listed date changed"),
    unstored("new"),
    action("unsettled and oldest", "not settled yet", { contentReadAt: READ_AT }),
  ];
  expect(order(actions)).toEqual(["new", "edited", "unsettled and oldest", "old", "young"]);
});

test("a library unread for SIMCAT_FULL_EVERY is promoted to the front (fault 74)", () => {
  const actions = [
    unstored("new"),
    action("edited", "listed date changed"),
    action("almost", "no listed date", { contentReadAt: NOW - 7 * DAY + 1 }),
    action("overdue", "no listed date", { contentReadAt: NOW - 7 * DAY }),
    action("more so", "due for a full read", { contentReadAt: NOW - 8 * DAY }),
    action("listed long ago, never read", "never read", { contentReadAt: null, bookmarkSeenAt: NOW - 9 * DAY }),
    action("listed lately, never read", "never read", { contentReadAt: null, bookmarkSeenAt: NOW - DAY }),
    action("of a clock set back", "due for a full read", { contentReadAt: NOW + DAY }),
  ];
  expect(order(actions)).toEqual([
    "listed long ago, never read",
    "more so",
    "overdue",
    "of a clock set back",
    "new",
    "listed lately, never read",
    "edited",
    "almost",
  ]);
});

test("a failing library is tried first once in SIMCAT_FULL_EVERY, and last in between (fault 74)", () => {
  const failing = (name: string, lastFailedAt: number) =>
    action(name, "owes a read: failure", { failures: 9, lastFailedAt, contentReadAt: NOW - 90 * DAY });
  const actions = [
    failing("failed today", NOW - 2),
    failing("failed today, before that", NOW - 3),
    action("full", "due for a full read"),
    failing("failed a week ago", NOW - 7 * DAY),
  ];
  expect(order(actions)).toEqual(["failed a week ago", "full", "failed today, before that", "failed today"]);
});
