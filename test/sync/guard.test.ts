import { expect, test } from "vitest";
import { guardRemovals, guardScenarios, type RemovalFacts, type ScenarioFacts } from "../../src/sync/rules/guard.ts";

const HINT = "If they are really gone, run it again with --allow-removals";

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
  maxRemoved: { numerator: 30, denominator: 100 },
  allowed: false,
  complete: true,
  isSlice: false,
};

function lacking(missing: number, facts: Partial<RemovalFacts> = {}) {
  return guardRemovals({ ...quiet, missing, listedCount: 10 - missing, sharedWithLive: 10 - missing, ...facts });
}

test("a complete listing passes", () => {
  expect(guardRemovals(quiet)).toEqual({ kind: "pass" });
});

test("removing 3 of 10 is not over 30 %, removing 4 of 10 is", () => {
  expect(lacking(3)).toEqual({ kind: "pass" });
  expect(lacking(4)).toEqual({
    kind: "held",
    rule: "too_many",
    message: `4 of 10 libraries would be marked removed (40.00 %); the limit is SIMCAT_MAX_REMOVED=30 %; nothing was marked. ${HINT}`,
  });
});

test("removals of the last day count too, so that a listing cannot shrink step by step", () => {
  expect(lacking(1, { liveCount: 8, removedLately: 2 })).toEqual({ kind: "pass" });
  expect(lacking(1, { liveCount: 7, removedLately: 3 })).toEqual({
    kind: "held",
    rule: "too_many",
    message: `1 of 10 libraries would be marked removed (4 in the last 24 h, 40.00 %); the limit is SIMCAT_MAX_REMOVED=30 %; nothing was marked. ${HINT}`,
  });
});

test("a run without removals is not held for those of earlier runs", () => {
  expect(lacking(0, { liveCount: 5, removedLately: 5 })).toEqual({ kind: "pass" });
});

test("a share slightly over the limit is not printed as equal to it", () => {
  const verdict = guardRemovals({ ...quiet, liveCount: 10_003, peakLive: 10_003, sharedWithLive: 7002, missing: 3001 });
  expect(verdict).toMatchObject({ message: expect.stringContaining("30.01 %); the limit is SIMCAT_MAX_REMOVED=30 %") });
});

test("0 % allows no removal, 100 % allows all except with an empty listing", () => {
  const none = { numerator: 0, denominator: 100 };
  const all = { numerator: 100, denominator: 100 };
  expect(lacking(1, { maxRemoved: none }).kind).toBe("held");
  expect(lacking(0, { maxRemoved: none }).kind).toBe("pass");
  expect(lacking(9, { maxRemoved: all }).kind).toBe("pass");
  expect(lacking(10, { maxRemoved: all })).toMatchObject({ kind: "held", rule: "empty_listing" });
});

test("49 of 50 listed: one is removed (fault 44)", () => {
  const facts = { listedCount: 49, liveCount: 50, sharedWithLive: 49, missing: 1, peakLive: 50 };
  expect(guardRemovals({ ...quiet, ...facts })).toEqual({ kind: "pass" });
});

test("an empty listing is held if at least one library is live (fault 43)", () => {
  expect(
    guardRemovals({ ...quiet, listedCount: 0, liveCount: 50, sharedWithLive: 0, missing: 50, peakLive: 50 }),
  ).toEqual({
    kind: "held",
    rule: "empty_listing",
    message: `the listing is empty, but 50 libraries are live; nothing was marked. ${HINT}`,
  });
  const one = { listedCount: 0, liveCount: 1, sharedWithLive: 0, missing: 1, peakLive: 1 };
  expect(guardRemovals({ ...quiet, ...one, maxRemoved: { numerator: 100, denominator: 100 } }).kind).toBe("held");
});

test("a listing of only rejects is held like an empty one, but not called empty", () => {
  const facts = { listedCount: 0, rejectedCount: 3, liveCount: 50, sharedWithLive: 0, missing: 50, peakLive: 50 };
  expect(guardRemovals({ ...quiet, ...facts })).toMatchObject({
    rule: "empty_listing",
    message: `all 3 entries of the listing were rejected, but 50 libraries are live; nothing was marked. ${HINT}`,
  });
});

test("an empty listing is held even when the selection lacks no library", () => {
  expect(guardRemovals({ ...quiet, listedCount: 0, sharedWithLive: 0, missing: 0 })).toMatchObject({
    rule: "empty_listing",
  });
});

test("an empty listing of a new organization passes (fault 42)", () => {
  const nothing = { listedCount: 0, liveCount: 0, sharedWithLive: 0, missing: 0, peakLive: 0 };
  expect(guardRemovals({ ...quiet, ...nothing })).toEqual({ kind: "pass" });
});

test("a listing unrelated to ten live libraries stores nothing; with nine it only has too many removals", () => {
  const foreign = { listedCount: 3, sharedWithLive: 0 };
  const ten = guardRemovals({ ...quiet, ...foreign, liveCount: 10, missing: 10 });
  expect(ten).toMatchObject({ kind: "held", rule: "nothing_shared" });
  expect(ten).toMatchObject({ message: expect.stringContaining("3 libraries and none of the 10 live ones") });
  const nine = guardRemovals({ ...quiet, ...foreign, liveCount: 9, missing: 9, peakLive: 9 });
  expect(nine).toMatchObject({ kind: "held", rule: "too_many" });
  const shared = guardRemovals({ ...quiet, listedCount: 3, sharedWithLive: 1, missing: 9 });
  expect(shared).toMatchObject({ rule: "too_many" });
});

test("a listing of another organization stores nothing either", () => {
  const facts = { listedCount: 3, sharedWithLive: 0, missing: 10, complete: false };
  expect(guardRemovals({ ...quiet, ...facts })).toMatchObject({ rule: "nothing_shared" });
});

test("an incomplete listing removes nothing and holds nothing (fault 45)", () => {
  expect(lacking(4, { complete: false })).toEqual({ kind: "incomplete" });
  expect(lacking(10, { complete: false })).toEqual({ kind: "incomplete" });
});

test("a slice marks nothing, and an empty listing holds it (fault 191)", () => {
  const slice = { isSlice: true, listedCount: 0, sharedWithLive: 0 };
  expect(guardRemovals({ ...quiet, ...slice })).toMatchObject({ kind: "held", rule: "empty_listing" });
  expect(guardRemovals({ ...quiet, ...slice, liveCount: 0 })).toEqual({ kind: "incomplete" });
  expect(guardRemovals({ ...quiet, ...slice, allowed: true })).toEqual({ kind: "incomplete" });
  expect(lacking(4, { isSlice: true })).toEqual({ kind: "incomplete" });
});

test("--allow-removals passes every guard, and does not make an incomplete listing complete", () => {
  expect(lacking(4, { allowed: true })).toEqual({ kind: "pass" });
  expect(lacking(10, { allowed: true })).toEqual({ kind: "pass" });
  expect(guardRemovals({ ...quiet, listedCount: 3, sharedWithLive: 0, missing: 10, allowed: true })).toEqual({
    kind: "pass",
  });
  expect(lacking(4, { allowed: true, complete: false })).toEqual({ kind: "incomplete" });
});

const scenarios: ScenarioFacts = {
  live: 10,
  listed: 10,
  missing: 0,
  maxRemoved: { numerator: 30, denominator: 100 },
  allowed: false,
};

test("3 of 10 scenarios are marked at once, 4 of 10 need a second read", () => {
  expect(guardScenarios({ ...scenarios, listed: 7, missing: 3 })).toBe("mark");
  expect(guardScenarios({ ...scenarios, listed: 6, missing: 4 })).toBe("withhold");
  expect(guardScenarios({ ...scenarios, listed: 6, missing: 4, allowed: true })).toBe("mark");
});

test("losing all of ten scenarios needs a second read, losing all of nine does not", () => {
  const all = { numerator: 100, denominator: 100 };
  expect(guardScenarios({ ...scenarios, listed: 0, missing: 10, maxRemoved: all })).toBe("withhold");
  expect(guardScenarios({ ...scenarios, listed: 0, missing: 10, allowed: true })).toBe("mark");
  expect(guardScenarios({ ...scenarios, live: 9, listed: 0, missing: 9 })).toBe("mark");
});

test("ids that an earlier read lacked too are marked, even when no other is left", () => {
  expect(guardScenarios({ ...scenarios, listed: 0, missing: 0 })).toBe("mark");
  expect(guardScenarios({ ...scenarios, listed: 4, missing: 3 })).toBe("mark");
});
