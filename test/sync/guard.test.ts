import { expect, test } from "vitest";
import { guardRemovals, guardScenarios, type RemovalFacts, type ScenarioFacts } from "../../src/sync/rules/guard.ts";

const HINT = "nothing was marked. If they are really gone, run it again with --allow-removals";
const PERCENT_0 = 0;
const PERCENT_100 = 1_000_000;

/** Ten live libraries, all listed. */
const quiet: RemovalFacts = {
  listedCount: 10,
  rejectedCount: 0,
  liveCount: 10,
  sharedWithLive: 10,
  missing: 0,
  heldBefore: 0,
  removedLately: 0,
  peakLive: 10,
  maxRemoved: 300_000,
  allowed: false,
  complete: true,
  isSlice: false,
};

/** The facts of a listing that lacks some of the ten. */
const lacking = (missing: number, facts: Partial<RemovalFacts> = {}): Partial<RemovalFacts> => ({
  missing,
  listedCount: 10 - missing,
  sharedWithLive: 10 - missing,
  ...facts,
});
const FOREIGN = { listedCount: 3, sharedWithLive: 0, missing: 10 };
const EMPTY = lacking(10);
const SLICE = { isSlice: true, listedCount: 0, sharedWithLive: 0 };

/** Facts that differ from the quiet ones, and the rule that holds them, or the verdict's kind. */
const VERDICTS: readonly (readonly [what: string, facts: Partial<RemovalFacts>, verdict: string])[] = [
  ["a complete listing", {}, "pass"],
  ["3 of 10 missing with a limit of 30 % (fault 44)", lacking(3), "pass"],
  ["4 of 10 missing", lacking(4), "too_many"],
  ["1 missing after 2 of the last day, of 10 at the most", lacking(1, { liveCount: 8, removedLately: 2 }), "pass"],
  ["1 missing after 3 of the last day", lacking(1, { liveCount: 7, removedLately: 3 }), "too_many"],
  ["none missing after 5 of the last day", lacking(0, { liveCount: 5, removedLately: 5 }), "pass"],
  ["1 missing with a limit of 0 %", lacking(1, { maxRemoved: PERCENT_0 }), "too_many"],
  ["none missing with a limit of 0 %", lacking(0, { maxRemoved: PERCENT_0 }), "pass"],
  ["9 missing with a limit of 100 %", lacking(9, { maxRemoved: PERCENT_100 }), "pass"],
  ["an empty listing with a limit of 100 % (fault 43)", { ...EMPTY, maxRemoved: PERCENT_100 }, "empty_listing"],
  ["an empty listing although the selection lacks no library", lacking(10, { missing: 0 }), "empty_listing"],
  ["an empty listing of a new organization (fault 42)", lacking(10, { liveCount: 0, missing: 0, peakLive: 0 }), "pass"],
  ["a listing unrelated to ten live libraries", FOREIGN, "nothing_shared"],
  ["an incomplete one", { ...FOREIGN, complete: false }, "nothing_shared"],
  ["a listing unrelated to nine", { ...FOREIGN, liveCount: 9, missing: 9, peakLive: 9 }, "too_many"],
  ["a listing that shares one of ten", { ...FOREIGN, sharedWithLive: 1, missing: 9 }, "too_many"],
  ["an incomplete listing that lacks 4 (fault 45)", lacking(4, { complete: false }), "not_judged"],
  ["an incomplete, empty listing", lacking(10, { complete: false }), "not_judged"],
  ["an empty listing for a slice (fault 191)", SLICE, "empty_listing"],
  ["an empty listing for a slice of a new organization", { ...SLICE, liveCount: 0 }, "not_judged"],
  ["an empty listing for a slice, allowed", { ...SLICE, allowed: true }, "not_judged"],
  ["4 of 10 missing for a slice", lacking(4, { isSlice: true }), "not_judged"],
  ["4 of 10 missing, allowed", lacking(4, { allowed: true }), "pass"],
  ["an empty listing, allowed", { ...EMPTY, allowed: true }, "pass"],
  ["a foreign listing, allowed", { ...FOREIGN, allowed: true }, "pass"],
  ["an incomplete listing that lacks 4, allowed", lacking(4, { allowed: true, complete: false }), "not_judged"],
];

test.each(VERDICTS)("the guard of removals: %s", (_, facts, verdict) => {
  const judged = guardRemovals({ ...quiet, ...facts });
  expect(judged.kind === "held" ? judged.rule : judged.kind).toBe(verdict);
});

test.each<[Partial<RemovalFacts>, string]>([
  [lacking(4), `4 of 10 libraries would be marked removed (40.00 %); the limit is SIMCAT_MAX_REMOVED=30 %; ${HINT}`],
  [
    lacking(1, { liveCount: 7, removedLately: 3 }),
    `1 of 10 libraries would be marked removed (4 in the last 24 h, 40.00 %); the limit is SIMCAT_MAX_REMOVED=30 %; ${HINT}`,
  ],
  [
    { liveCount: 10_003, peakLive: 10_003, sharedWithLive: 7002, missing: 3001 },
    `3,001 of 10,003 libraries would be marked removed (30.01 %); the limit is SIMCAT_MAX_REMOVED=30 %; ${HINT}`,
  ],
  [EMPTY, `the listing is empty, but 10 libraries are live; ${HINT}`],
  [{ ...EMPTY, rejectedCount: 3 }, `all 3 entries of the listing were rejected, but 10 libraries are live; ${HINT}`],
  [
    SLICE,
    "the listing is empty, but 10 libraries are live; nothing was marked. If they are really gone, run simcat sync --allow-removals",
  ],
])("removals are held with their numbers, and a hint that helps (fault 325, %#)", (facts, message) => {
  expect(guardRemovals({ ...quiet, ...facts })).toMatchObject({ kind: "held", message });
});

const scenarios: ScenarioFacts = {
  live: 10,
  listed: 10,
  missing: 0,
  maxRemoved: 300_000,
  allowed: false,
};

test.each<[string, Partial<ScenarioFacts>, string]>([
  ["3 of 10 missing", { listed: 7, missing: 3 }, "mark"],
  ["4 of 10 missing", { listed: 6, missing: 4 }, "withhold"],
  ["4 of 10 missing, allowed", { listed: 6, missing: 4, allowed: true }, "mark"],
  ["all of ten missing with a limit of 100 %", { listed: 0, missing: 10, maxRemoved: PERCENT_100 }, "withhold"],
  ["all of ten missing, allowed", { listed: 0, missing: 10, allowed: true }, "mark"],
  ["all of nine missing", { live: 9, listed: 0, missing: 9 }, "mark"],
  ["none left, all lacked by an earlier read too", { listed: 0, missing: 0 }, "mark"],
  ["4 left, 3 of the missing not lacked by an earlier read", { listed: 4, missing: 3 }, "mark"],
])("the guard of scenarios: %s", (_, facts, verdict) => {
  expect(guardScenarios({ ...scenarios, ...facts })).toBe(verdict);
});
