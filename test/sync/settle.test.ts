import { expect, test } from "vitest";
import type { SyncState } from "../../src/model.ts";
import {
  fullReadDueAt,
  isDoubtful,
  isFullReadDue,
  isSettled,
  nextReadAt,
  seenAtForStore,
  windowEnd,
} from "../../src/sync/rules/settle.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** Seen at 12:00, a moment of minute grain with a zone: its window ends at 12:03. */
const SEEN = Date.parse("2024-05-01T12:00:00Z");
const TEXT = "2024-05-01T11:58:00Z";
const END = SEEN + 3 * MINUTE;

function sync(changes: Partial<SyncState> = {}): SyncState {
  return {
    listedText: TEXT,
    bookmark: TEXT,
    contentHash: "00",
    bookmarkSeenAt: SEEN,
    contentReadAt: END + 1,
    rereadReason: null,
    shrunkRunId: null,
    failures: 0,
    lastFailedAt: null,
    suspectReads: 0,
    removalHeldAt: null,
    ...changes,
  };
}

test("a bookmark is settled by a read that began later than first sight, grain and two minutes", () => {
  expect(windowEnd(sync())).toBe(END);
  expect(isSettled(sync({ contentReadAt: END }))).toBe(false);
  expect(isSettled(sync({ contentReadAt: END + 1 }))).toBe(true);
});

test("a text without a zone settles an hour later, an unknown one after a day and an hour (fault 56)", () => {
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
])("nothing settles with %s", (_, changes) => {
  expect(isSettled(sync(changes))).toBe(false);
});

test("a settled bookmark waits for nothing", () => {
  expect(nextReadAt(sync())).toBeNull();
});

test("reads double their distance from first sight, and one follows the window's end", () => {
  expect(nextReadAt(sync({ contentReadAt: SEEN }))).toBe(SEEN);
  expect(nextReadAt(sync({ contentReadAt: SEEN + 1000 }))).toBe(SEEN + 2000);
  expect(nextReadAt(sync({ contentReadAt: SEEN + MINUTE }))).toBe(SEEN + 2 * MINUTE);
  expect(nextReadAt(sync({ contentReadAt: SEEN + 1.5 * MINUTE }))).toBe(SEEN + 3 * MINUTE);
  expect(nextReadAt(sync({ contentReadAt: SEEN + 2 * MINUTE }))).toBe(END + 1);
  expect(nextReadAt(sync({ contentReadAt: END }))).toBe(END + 1);
});

test("a day's window takes a handful of reads, however often one looks", () => {
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

test("a text that went away and came back is read at once", () => {
  expect(nextReadAt(sync({ contentReadAt: SEEN - 1 }))).toBeLessThanOrEqual(SEEN);
  expect(nextReadAt(sync({ listedText: "2024-05-01T11:59:00Z", contentReadAt: SEEN + MINUTE }))).toBe(SEEN + MINUTE);
});

test("two doubtful reads are tried again at once, a third waits", () => {
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
/** When a date that says 20:00 on the hour is over everywhere: 14 hours, its hour and the margin later. */
const OVER = Date.parse("2024-05-01T11:02:00Z");

function settlesWith(sighting: Parameters<typeof seenAtForStore>[0]): boolean {
  const { listedText, readAt } = sighting;
  const bookmarkSeenAt = seenAtForStore(sighting);
  return isSettled(sync({ listedText, bookmark: listedText, bookmarkSeenAt, contentReadAt: readAt }));
}

test("a date that is over in every zone is settled by its first read", () => {
  expect(settlesWith(SIGHTING)).toBe(true);
});

test("it must be over at the read by the database's clock and by the service's", () => {
  const long = { ...SIGHTING, listedAt: OVER - HOUR };
  expect(settlesWith({ ...long, readAt: OVER + 1, date: OVER + 1 })).toBe(true);
  expect(seenAtForStore({ ...long, readAt: OVER, date: OVER + 1 })).toBe(OVER - HOUR);
  expect(seenAtForStore({ ...long, readAt: OVER + 1, date: OVER })).toBe(OVER - HOUR);
  expect(settlesWith({ ...SIGHTING, listedAt: OVER - 1000, readAt: OVER, date: OVER + DAY })).toBe(false);
  expect(settlesWith({ ...SIGHTING, listedAt: OVER - 1000, readAt: OVER + DAY, date: OVER })).toBe(true);
});

test("without a Date, or without a date that can be read, the first sight counts", () => {
  expect(seenAtForStore({ ...SIGHTING, date: null })).toBe(SEEN);
  expect(seenAtForStore({ ...SIGHTING, listedText: "last year" })).toBe(SEEN);
  expect(seenAtForStore({ ...SIGHTING, listedText: null })).toBe(SEEN);
  expect(seenAtForStore({ ...SIGHTING, listedText: "" })).toBe(SEEN);
});

test("a date that went back is no moment of an edit, so it settles nothing early", () => {
  expect(settlesWith({ ...SIGHTING, previousText: "2024-04-30T19:59:59Z" })).toBe(true);
  expect(settlesWith({ ...SIGHTING, previousText: SIGHTING.listedText })).toBe(true);
  expect(seenAtForStore({ ...SIGHTING, previousText: "2024-04-30T20:00:01Z" })).toBe(SEEN);
  expect(seenAtForStore({ ...SIGHTING, previousText: "2023-04-30 19:59:59" })).toBe(SEEN);
  expect(seenAtForStore({ ...SIGHTING, previousText: "last year" })).toBe(SEEN);
  const fine = { ...SIGHTING, listedText: "2024-04-30T20:00:00.1234567Z" };
  expect(seenAtForStore({ ...fine, previousText: "2024-04-30T20:00:00.1234560Z" })).not.toBe(SEEN);
  expect(seenAtForStore({ ...fine, previousText: "2024-04-30T20:00:00.1234570Z" })).toBe(SEEN);
});

test("a first sight that lies further back than the date's end stays", () => {
  expect(seenAtForStore({ ...SIGHTING, listedAt: OVER - 30 * HOUR })).toBe(OVER - 30 * HOUR);
});

test("a read is doubtful when a cache may have answered or its metadata names another moment", () => {
  expect(isDoubtful(TEXT, TEXT, false)).toBe(false);
  expect(isDoubtful(TEXT, TEXT, true)).toBe(true);
  expect(isDoubtful(TEXT, "2024-05-01 at 11:58 AM", false)).toBe(false);
  expect(isDoubtful(TEXT, "2024-05-01T11:57:00Z", false)).toBe(true);
  expect(isDoubtful(TEXT, null, false)).toBe(false);
  expect(isDoubtful(TEXT, "nobody knows", false)).toBe(false);
});

test("a full read is due between half of the interval and all of it, each library at its own time", () => {
  const dues = ["a", "b", "c", "d"].map((name) =>
    fullReadDueAt(sync({ contentReadAt: SEEN }), { owner: "o", name }, 7 * DAY),
  );
  for (const due of dues) {
    expect(due).toBeGreaterThanOrEqual(SEEN + 3.5 * DAY);
    expect(due).toBeLessThan(SEEN + 7 * DAY);
  }
  expect(new Set(dues).size).toBe(4);
});

test("a read that lies more than two minutes ahead is as old as it may be, and due", () => {
  const isDue = (ahead: number) =>
    isFullReadDue(SEEN, sync({ contentReadAt: SEEN + ahead }), { owner: "o", name: "a" }, 7 * DAY);
  expect([isDue(0), isDue(2 * MINUTE), isDue(2 * MINUTE + 1)]).toEqual([false, false, true]);
});
