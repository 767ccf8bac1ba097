import fc from "fast-check";
import { expect, test } from "vitest";
import type { SyncState } from "../../src/model.ts";
import { decide } from "../../src/sync/rules/decide.ts";
import { isSuspect, seenAtForStore } from "../../src/sync/rules/settle.ts";
import { NEVER_READ } from "../support/sync-state.ts";

/** Simulates a service, a poller and their clocks: does the copy equal the service once edits stop? */
const SECOND = 1000;
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const START = Date.parse("2024-10-26T22:50:00Z");
const QUIET_GAP = 17 * MINUTE;
const KEY = { owner: "o", name: "a" };

interface History {
  /** Gaps between edits. A re-upload of an older file sets the date back to an earlier day. */
  readonly edits: readonly { readonly gap: number; readonly what: "dated" | "back" }[];
  /** Gaps between the end of a run and the start of the next, repeated while edits continue. */
  readonly polls: readonly number[];
  readonly format: keyof typeof FORMATS;
  /** How far the database's clock is ahead of the service's. */
  readonly skew: number;
  /** Delays from the listing's snapshot to its end, to the first content request, the metadata, and the scenarios. */
  readonly delays: readonly [number, number, number, number];
  /** Numbers of the runs whose content read fails, and of the runs that end after the listing. */
  readonly failing: readonly number[];
  readonly dying: readonly number[];
  readonly hasDate: boolean;
}

/** Local times of Berlin: the hour from 02:00 on 27 October 2024 occurs twice. */
const CLOCK = new Intl.DateTimeFormat("sv-SE", { timeZone: "Europe/Berlin", dateStyle: "short", timeStyle: "medium" });
const berlin = (at: number, length: number) => CLOCK.format(at).slice(0, length);

const FORMATS = {
  second: (at: number) => `${new Date(at).toISOString().slice(0, 19)}Z`,
  minute: (at: number) => `${new Date(at).toISOString().slice(0, 16)}Z`,
  "local minute": (at: number) => berlin(at, 16),
  "local day": (at: number) => berlin(at, 10),
  unknown: (at: number) => `the day ${berlin(at, 10)}`,
};

interface Edit {
  readonly at: number;
  readonly text: string;
  readonly metadataText: string;
}

function editsOf({ edits, format }: History): Edit[] {
  let at = START;
  let stamp = START;
  const first = { at, text: FORMATS[format](at), metadataText: new Date(at).toISOString() };
  const later = edits.map(({ gap, what }, index) => {
    at += gap;
    stamp = what === "back" ? at - (index + 1) * 40 * DAY : at;
    return { at, text: FORMATS[format](stamp), metadataText: new Date(stamp).toISOString() };
  });
  return [first, ...later];
}

function isRead(text: string, sync: SyncState, isStored: boolean, now: number): boolean {
  const listed = { key: KEY, lastModified: text, source: "{}" };
  const context = { now, fullEveryMs: Number.MAX_SAFE_INTEGER, backfillSince: null };
  return decide(listed, { key: KEY, state: isStored ? "live" : "listed", sync }, context).kind === "read";
}

/** Polls until three days have passed without edits; returns whether the copy is up to date. */
function play(history: History): boolean {
  const edits = editsOf(history);
  const versionAt = (at: number) => edits.findLastIndex((edit) => edit.at <= at);
  const { delays, polls, skew } = history;
  const lastEdit = edits.at(-1)?.at ?? START;
  let sync = NEVER_READ;
  let copy = { metadata: -1, scenarios: -1 };
  let now = START + (polls[0] ?? MINUTE) / 2;
  for (let run = 0; now < lastEdit + 3 * DAY; run += 1) {
    const text = edits[versionAt(now)]?.text ?? "";
    const listedAt = now + delays[0] + skew;
    const previousText = sync.listedText;
    const isNew = previousText !== text;
    const seen: SyncState = isNew ? { ...sync, listedText: text, bookmarkSeenAt: listedAt, suspectReads: 0 } : sync;
    const began = now + delays[0] + delays[1];
    if (!history.dying.includes(run)) sync = seen;
    if (!history.dying.includes(run) && isRead(text, sync, copy.metadata >= 0, now + skew)) {
      if (history.failing.includes(run)) sync = { ...sync, rereadReason: "failure" };
      else {
        copy = { metadata: versionAt(began + delays[2]), scenarios: versionAt(began + delays[3]) };
        const date = Math.floor((began + Math.min(delays[2], delays[3])) / SECOND) * SECOND;
        const sighting = { listedText: text, previousText, date: history.hasDate ? date : null, readAt: began + skew };
        const doubtful = isSuspect(text, edits[copy.metadata]?.metadataText ?? null, false);
        sync = {
          ...sync,
          bookmark: text,
          bookmarkSeenAt: seenAtForStore({ ...sighting, listedAt: sync.bookmarkSeenAt ?? listedAt }),
          contentReadAt: began + skew,
          suspectReads: doubtful ? sync.suspectReads + 1 : 0,
          rereadReason: null,
        };
      }
    }
    const gap = now > lastEdit + HOUR ? QUIET_GAP : (polls[run % polls.length] ?? MINUTE);
    now = began + Math.max(delays[2], delays[3]) + gap;
  }
  return copy.metadata === edits.length - 1 && copy.scenarios === edits.length - 1;
}

const gap = fc.oneof(
  fc.integer({ min: 1, max: 90 * SECOND }),
  fc.integer({ min: 1, max: 2 * HOUR }),
  fc.integer({ min: 1, max: 26 * HOUR }),
);
const delay = fc.oneof(fc.integer({ min: 0, max: 2 * SECOND }), fc.integer({ min: 0, max: 4 * MINUTE }));
const histories: fc.Arbitrary<History> = fc.record({
  edits: fc.array(
    fc.record({
      gap,
      what: fc.oneof(
        { weight: 8, arbitrary: fc.constant("dated" as const) },
        { weight: 1, arbitrary: fc.constant("back" as const) },
      ),
    }),
    { maxLength: 6 },
  ),
  polls: fc.array(fc.integer({ min: 30 * SECOND, max: 40 * MINUTE }), { minLength: 1, maxLength: 40 }),
  format: fc.constantFrom<History["format"]>("second", "minute", "local minute", "local day", "unknown"),
  skew: fc.oneof(fc.constant(0), fc.integer({ min: -400 * DAY, max: 400 * DAY })),
  delays: fc.tuple(delay, delay, delay, delay),
  failing: fc.array(fc.nat(30), { maxLength: 3 }),
  dying: fc.array(fc.nat(30), { maxLength: 3 }),
  hasDate: fc.boolean(),
});

test("misses no dated edit with any grain, clock, polling interval and failure", () => {
  const upToDate = fc.property(histories, (history) => {
    expect(play(history)).toBe(true);
  });
  fc.assert(upToDate, { numRuns: 2000, seed: 20230911 });
});

const CALM = {
  polls: [MINUTE],
  skew: 0,
  delays: [0, 0, 0, 0],
  failing: [],
  dying: [],
  hasDate: true,
} as const;

test("an edit in the second occurrence of a repeated autumn hour is seen", () => {
  const edits = [100 * MINUTE, HOUR].map((gap) => ({ gap, what: "dated" as const }));
  expect(play({ ...CALM, edits, format: "local minute" })).toBe(true);
});
