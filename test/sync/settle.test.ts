import { expect, test } from "vitest";
import type { SyncState } from "../../src/model.ts";
import {
  fullReadDueAt,
  isFullReadDue,
  isSettled,
  isSuspect,
  nextReadAt,
  seenAtForStore,
  windowEnd,
} from "../../src/sync/rules/settle.ts";
import { NEVER_READ } from "../support/sync-state.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** First seen at 12:00, a moment of minute grain with a zone: its window ends at 12:03. */
const SEEN = Date.parse("2024-05-01T12:00:00Z");
const TEXT = "2024-05-01T11:58:00Z";
const END = SEEN + 3 * MINUTE;

function sync(changes: Partial<SyncState> = {}): SyncState {
  const settled = { listedText: TEXT, bookmark: TEXT, contentHash: "00", bookmarkSeenAt: SEEN, contentReadAt: END + 1 };
  return { ...NEVER_READ, ...settled, ...changes };
}

test("a read later than first sight plus grain plus two minutes settles a bookmark", () => {
  expect(windowEnd(sync())).toBe(END);
  expect(isSettled(sync({ contentReadAt: END }))).toBe(false);
  expect(isSettled(sync({ contentReadAt: END + 1 }))).toBe(true);
});

test("a text without a zone settles one hour later, an unknown format after 25 hours (fault 56)", () => {
  const local = sync({ listedText: "2024-05-01 at 11:58 AM", bookmark: "2024-05-01 at 11:58 AM" });
  expect(isSettled({ ...local, contentReadAt: END + HOUR })).toBe(false);
  expect(isSettled({ ...local, contentReadAt: END + HOUR + 1 })).toBe(true);
  const unknown = sync({ listedText: "le 1er mai", bookmark: "le 1er mai" });
  expect(isSettled({ ...unknown, contentReadAt: SEEN + DAY + HOUR + 2 * MINUTE })).toBe(false);
  expect(isSettled({ ...unknown, contentReadAt: SEEN + DAY + HOUR + 2 * MINUTE + 1 })).toBe(true);
});

test.each<[string, Partial<SyncState>]>([
  ["another listed text than the bookmark", { listedText: "2024-05-01T11:59:00Z" }],
  ["no bookmark", { bookmark: null, listedText: null }],
  ["an empty one", { bookmark: "", listedText: "" }],
  ["no first sight", { bookmarkSeenAt: null }],
  ["no read", { contentReadAt: null }],
  ["a doubtful read", { suspectReads: 1 }],
  ["an open reject", { rereadReason: "rejects" }],
  ["a failure since", { rereadReason: "failure" }],
  ["an unconfirmed shrink", { rereadReason: "shrunk" }],
  ["a return", { rereadReason: "restored" }],
])("a bookmark does not settle with %s", (_, changes) => {
  expect(isSettled(sync(changes))).toBe(false);
});

test("a settled bookmark has no next read", () => {
  expect(nextReadAt(sync())).toBeNull();
});

test("reads double their distance from first sight, and one follows the end of the window", () => {
  expect(nextReadAt(sync({ contentReadAt: SEEN }))).toBe(SEEN);
  expect(nextReadAt(sync({ contentReadAt: SEEN + 1000 }))).toBe(SEEN + 2000);
  expect(nextReadAt(sync({ contentReadAt: SEEN + MINUTE }))).toBe(SEEN + 2 * MINUTE);
  expect(nextReadAt(sync({ contentReadAt: SEEN + 1.5 * MINUTE }))).toBe(SEEN + 3 * MINUTE);
  expect(nextReadAt(sync({ contentReadAt: SEEN + 2 * MINUTE }))).toBe(END + 1);
  expect(nextReadAt(sync({ contentReadAt: END }))).toBe(END + 1);
});

test("a window of a day takes a handful of reads, however often a run polls", () => {
  let state = sync({ listedText: "2024-05-01", bookmark: "2024-05-01", contentReadAt: SEEN + 1000 });
  let reads = 0;
  for (let now = SEEN + MINUTE; now < SEEN + 2 * DAY; now += MINUTE) {
    if (now < (nextReadAt(state) ?? Number.POSITIVE_INFINITY)) continue;
    reads += 1;
    state = { ...state, contentReadAt: now };
  }
  expect(isSettled(state)).toBe(true);
  expect(reads).toBe(12);
});

test("a date that vanished and returned is read at once", () => {
  expect(nextReadAt(sync({ contentReadAt: SEEN - 1 }))).toBeLessThanOrEqual(SEEN);
  expect(nextReadAt(sync({ listedText: "2024-05-01T11:59:00Z", contentReadAt: SEEN + MINUTE }))).toBe(SEEN + MINUTE);
});

test("two doubtful reads are repeated at once, a third waits", () => {
  expect(nextReadAt(sync({ suspectReads: 1 }))).toBe(END + 1);
  expect(nextReadAt(sync({ suspectReads: 2 }))).toBe(END + 1);
  expect(nextReadAt(sync({ suspectReads: 3 }))).toBe(END + 1 + 3 * MINUTE + 1);
});

const SIGHTING = {
  listedText: "2024-04-30T20:00:00Z",
  listedAt: SEEN,
  previousText: null,
  date: SEEN + MINUTE,
  readAt: SEEN + MINUTE,
};
/** The end of a date of 20:00 in every zone: 14 hours, its hour and the margin later. */
const OVER = Date.parse("2024-05-01T11:02:00Z");

function settlesWith(sighting: Parameters<typeof seenAtForStore>[0]): boolean {
  const { listedText, readAt } = sighting;
  const bookmarkSeenAt = seenAtForStore(sighting);
  return isSettled(sync({ listedText, bookmark: listedText, bookmarkSeenAt, contentReadAt: readAt }));
}

test("a date that has passed in every zone is settled by its first read", () => {
  expect(settlesWith(SIGHTING)).toBe(true);
});

test("at the read, it must have passed by both the database's and the service's clock", () => {
  const long = { ...SIGHTING, listedAt: OVER - HOUR };
  expect(settlesWith({ ...long, readAt: OVER + 1, date: OVER + 1 })).toBe(true);
  expect(seenAtForStore({ ...long, readAt: OVER, date: OVER + 1 })).toBe(OVER - HOUR);
  expect(seenAtForStore({ ...long, readAt: OVER + 1, date: OVER })).toBe(OVER - HOUR);
  expect(settlesWith({ ...SIGHTING, listedAt: OVER - 1000, readAt: OVER, date: OVER + DAY })).toBe(false);
  expect(settlesWith({ ...SIGHTING, listedAt: OVER - 1000, readAt: OVER + DAY, date: OVER })).toBe(true);
});

test("without a Date header or a readable date, the first sight counts", () => {
  expect(seenAtForStore({ ...SIGHTING, date: null })).toBe(SEEN);
  expect(seenAtForStore({ ...SIGHTING, listedText: "last year" })).toBe(SEEN);
  expect(seenAtForStore({ ...SIGHTING, listedText: null })).toBe(SEEN);
  expect(seenAtForStore({ ...SIGHTING, listedText: "" })).toBe(SEEN);
});

test("a date that went back is not the moment of an edit, so it settles nothing early", () => {
  expect(settlesWith({ ...SIGHTING, previousText: "2024-04-30T19:59:59Z" })).toBe(true);
  expect(settlesWith({ ...SIGHTING, previousText: SIGHTING.listedText })).toBe(true);
  expect(seenAtForStore({ ...SIGHTING, previousText: "2024-04-30T20:00:01Z" })).toBe(SEEN);
  expect(seenAtForStore({ ...SIGHTING, previousText: "2023-04-30 19:59:59" })).toBe(SEEN);
  expect(seenAtForStore({ ...SIGHTING, previousText: "last year" })).toBe(SEEN);
  const fine = { ...SIGHTING, listedText: "2024-04-30T20:00:00.1234567Z" };
  expect(seenAtForStore({ ...fine, previousText: "2024-04-30T20:00:00.1234560Z" })).not.toBe(SEEN);
  expect(seenAtForStore({ ...fine, previousText: "2024-04-30T20:00:00.1234570Z" })).toBe(SEEN);
});

test("a first sight before the end of the date is kept", () => {
  expect(seenAtForStore({ ...SIGHTING, listedAt: OVER - 30 * HOUR })).toBe(OVER - 30 * HOUR);
});

test("a read is doubtful if a cache may have answered or its metadata names another moment", () => {
  expect(isSuspect(TEXT, TEXT, false)).toBe(false);
  expect(isSuspect(TEXT, TEXT, true)).toBe(true);
  expect(isSuspect(TEXT, "2024-05-01 at 11:58 AM", false)).toBe(false);
  expect(isSuspect(TEXT, "2024-05-01T11:57:00Z", false)).toBe(true);
  expect(isSuspect(TEXT, null, false)).toBe(false);
  expect(isSuspect(TEXT, "nobody knows", false)).toBe(false);
});

test("each library's full read is due at its own time between half of the interval and all of it", () => {
  const dues = ["a", "b", "c", "d"].map((name) =>
    fullReadDueAt(sync({ contentReadAt: SEEN }), { owner: "o", name }, 7 * DAY),
  );
  for (const due of dues) {
    expect(due).toBeGreaterThanOrEqual(SEEN + 3.5 * DAY);
    expect(due).toBeLessThan(SEEN + 7 * DAY);
  }
  expect(new Set(dues).size).toBe(4);
});

test("a read more than two minutes in the future counts as oldest, and is due", () => {
  const isDue = (ahead: number) =>
    isFullReadDue(SEEN, sync({ contentReadAt: SEEN + ahead }), { owner: "o", name: "a" }, 7 * DAY);
  expect([isDue(0), isDue(2 * MINUTE), isDue(2 * MINUTE + 1)]).toEqual([false, false, true]);
});
