import fc from "fast-check";
import { expect, test } from "vitest";
import type { ReadAction } from "../../src/model.ts";
import { EMPTY, plan, recordContent, recordFailure, recordListing, recordRemoval, type Store } from "./one-library.ts";

/**
 * Plan, settle and store against an oracle that knows every edit. `test/sync/settle-model.test.ts` checks the pure rule;
 * here the decisions pass through openPlan, toListingChanges and toContent, libraries disappear and return, reads are torn,
 * partial, cached or lost at every point of a run, and the service's clock varies.
 */
const SECOND = 1000;
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const START = Date.parse("2024-10-26T22:30:00Z");

/** `back`: a date of long ago. `silent`: no new date. `vanish` and `return`: unchanged. */
type Change = "dated" | "back" | "silent" | "vanish" | "return";
type Mishap = "dies after listing" | "dies before storing" | "fails" | "partial" | "cached" | "none";

interface Run {
  /** Measured from the end of the previous run. */
  readonly gap: number;
  /** From the listing's snapshot to its last byte, to the first request, and to each of the two answers. */
  readonly delays: readonly [number, number, number, number];
  readonly mishap: Mishap;
}

interface History {
  readonly changes: readonly { readonly gap: number; readonly what: Change; readonly waver: number }[];
  readonly runs: readonly Run[];
  readonly format: keyof typeof FORMATS;
  readonly fullEvery: number;
  /** How far the database's clock is ahead of the service's. */
  readonly skew: number;
  readonly hasDate: boolean;
}

const BERLIN = new Intl.DateTimeFormat("sv-SE", { timeZone: "Europe/Berlin", dateStyle: "short", timeStyle: "medium" });
const berlin = (at: number, length: number) => BERLIN.format(at).slice(0, length);
const FORMATS = {
  milliseconds: (at: number) => new Date(at).toISOString(),
  second: (at: number) => `${new Date(at).toISOString().slice(0, 19)}Z`,
  "local minute": (at: number) => berlin(at, 16),
  "local day": (at: number) => berlin(at, 10),
  unknown: (at: number) => `the day ${berlin(at, 10)}`,
};

interface Version {
  readonly at: number;
  readonly number: number;
  readonly text: string;
  readonly isListed: boolean;
}

function versionsOf({ changes, format }: History): Version[] {
  let now: Version = { at: START, number: 0, text: FORMATS[format](START), isListed: true };
  const versions = [now];
  for (const [index, { gap, what, waver }] of changes.entries()) {
    const at = now.at + gap;
    const stamp = what === "back" ? at - (index + 1) * 40 * DAY : at + waver;
    const isEdit = what === "dated" || what === "back" || what === "silent";
    now = {
      at,
      number: isEdit ? now.number + 1 : now.number,
      text: what === "dated" || what === "back" ? FORMATS[format](stamp) : now.text,
      isListed: what === "vanish" ? false : what === "return" ? true : now.isListed,
    };
    versions.push(now);
  }
  return versions;
}

/** The planned reads that are made: all of them, except under a weakened rule. */
type Rule = (action: ReadAction) => boolean;
const ours: Rule = () => true;
const plainEquality: Rule = ({ reason }) => reason !== "not settled yet" && reason !== "due for a full read";
const withoutOwing: Rule = ({ reason }) => !reason.startsWith("owes a read");
const withoutFullReads: Rule = ({ reason }) => reason !== "due for a full read";

const CALM: Run = { gap: 17 * MINUTE, delays: [0, 0, 0, 0], mishap: "none" };
/** Longer than a day, the autumn's hour and the margin. */
const QUIET = 27 * HOUR;

interface Outcome {
  readonly reads: number;
  readonly stored: string;
  readonly service: string;
}

/** The runs of the history, then runs without faults until `quiet` has passed since the last edit. */
function playHistory(history: History, rule: Rule, quiet: number): Outcome {
  const versions = versionsOf(history);
  const last = versions.at(-1) ?? versions[0];
  if (last === undefined) throw new Error("no version");
  const at = (moment: number): Version => versions.findLast((one) => one.at <= moment) ?? last;
  let store: Store = EMPTY;
  let reads = 0;
  let now = START;
  const runSeed = ({ gap, delays, mishap }: Run): void => {
    now += gap;
    const { text, isListed } = at(now);
    const listedAt = now + delays[0] + history.skew;
    const listing = { text, isListed, startedAt: now + history.skew, listedAt };
    const began = now + delays[0] + delays[1];
    now = began + Math.max(delays[2], delays[3]);
    const made = plan(store, listing, history.fullEvery);
    store = recordListing(store, listing, made);
    if (mishap === "dies after listing") return;
    for (const action of [...made.planned.actions].filter(rule)) {
      reads += 1;
      const [metadata, scenarios] = [at(began + delays[2]), at(began + delays[3])];
      if (mishap === "fails" || !metadata.isListed || !scenarios.isListed) store = recordFailure(store);
      else if (mishap !== "dies before storing") {
        const isCached = mishap === "cached";
        const date = Math.floor((began + Math.min(delays[2], delays[3])) / SECOND) * SECOND;
        const answer = {
          content: isCached ? "something old" : `${metadata.number} and ${scenarios.number}`,
          metadataText: metadata.text,
          startedAt: began + history.skew,
          date: history.hasDate ? date : null,
          cached: isCached,
          isPartial: mishap === "partial",
        };
        store = recordContent(store, action, answer, listedAt);
      }
    }
    if (mishap === "none" && made.planned.missing.length > 0) store = recordRemoval(store);
  };
  for (const run of history.runs) runSeed(run);
  now = Math.max(now, last.at);
  for (const until = now + quiet; now <= until; ) runSeed(CALM);
  const isStored = store.stored?.state === "live";
  return {
    reads,
    stored: isStored ? String(store.copy) : "nothing",
    service: last.isListed ? `${last.number} and ${last.number}` : "nothing",
  };
}

const anyGap = fc.oneof(
  fc.integer({ min: 1, max: 90 * SECOND }),
  fc.integer({ min: 1, max: 2 * HOUR }),
  fc.integer({ min: 1, max: 26 * HOUR }),
);
const anyDelay = fc.oneof(
  { weight: 3, arbitrary: fc.integer({ min: 0, max: 2 * SECOND }) },
  fc.integer({ min: 0, max: 4 * MINUTE }),
);
const anyRun: fc.Arbitrary<Run> = fc.record({
  gap: fc.oneof(fc.integer({ min: 1, max: 3 * MINUTE }), anyGap),
  delays: fc.tuple(anyDelay, anyDelay, anyDelay, anyDelay),
  mishap: fc.constantFrom<Mishap>(
    "none",
    "none",
    "none",
    "none",
    "dies after listing",
    "dies before storing",
    "fails",
    "partial",
    "cached",
  ),
});
const anyHistory = (changes: readonly Change[]): fc.Arbitrary<History> =>
  fc.record({
    changes: fc.array(
      // The margin of two minutes covers clocks that are slightly off: a minute to either side.
      fc.record({ gap: anyGap, what: fc.constantFrom(...changes), waver: fc.integer({ min: -59_000, max: 59_000 }) }),
      { maxLength: 7 },
    ),
    runs: fc.array(anyRun, { maxLength: 40 }),
    format: fc.constantFrom<History["format"]>("milliseconds", "second", "local minute", "local day", "unknown"),
    fullEvery: fc.constantFrom(3 * DAY, 7 * DAY, 30 * DAY),
    skew: fc.oneof(fc.constant(0), fc.integer({ min: -400 * DAY, max: 400 * DAY })),
    hasDate: fc.boolean(),
  });

/** From the third possibly cached read on, the next one waits as long again: such reads count as undated. */
const withFewCached = (history: History): History => {
  let cached = 0;
  const runs = history.runs.map((run) => {
    if (run.mishap === "cached") cached += 1;
    return run.mishap === "cached" && cached > 2 ? { ...run, mishap: "none" as const } : run;
  });
  return { ...history, runs };
};
const datedOnly = anyHistory(["dated", "dated", "dated", "vanish", "return"]).map(withFewCached);
const anything = anyHistory(["dated", "dated", "back", "silent", "vanish", "return"]);
const SEED = 20230911;

const isEqual = (history: History, rule: Rule, quiet: number) => {
  const { stored, service } = playHistory(history, rule, quiet);
  return stored === service;
};
const misses = (histories: fc.Arbitrary<History>, rule: Rule, quiet: (history: History) => number) =>
  fc.check(
    fc.property(histories, (history) => isEqual(history, rule, quiet(history))),
    { numRuns: 3000, seed: SEED },
  );
const afterWindow = () => QUIET;
const afterFullRead = ({ fullEvery }: History) => Math.max(QUIET, fullEvery + CALM.gap);

test("every dated edit is in the copy once no further edit can carry its text, in any history", () => {
  fc.assert(
    fc.property(datedOnly, (history) => {
      const { stored, service } = playHistory(history, ours, QUIET);
      expect(stored).toBe(service);
    }),
    { numRuns: 3000, seed: SEED },
  );
});

test("every edit, dated or not, is in the copy within SIMCAT_FULL_EVERY plus the gap between runs", () => {
  fc.assert(
    fc.property(anything, (history) => {
      const { stored, service } = playHistory(history, ours, afterFullRead(history));
      expect(stored).toBe(service);
    }),
    { numRuns: 1000, seed: SEED },
  );
});

test("the same histories find the classic miss of plain equality within seconds", () => {
  const found = misses(datedOnly, plainEquality, afterWindow);
  expect(found.failed).toBe(true);
  // Shrunk: an edit after the read that still carries the text of the read.
  expect(found.counterexample?.[0].changes.length).toBeLessThanOrEqual(2);
});

test("the same histories find a rule that forgets what it owes", () => {
  expect(misses(datedOnly, withoutOwing, afterWindow).failed).toBe(true);
});

test("the same histories find a rule without full reads", () => {
  expect(misses(anything, withoutFullReads, afterFullRead).failed).toBe(true);
});
