import { expect, test } from "vitest";
import { type PlannedRun, toListingChanges } from "../../src/sync/plan-run.ts";
import type { RemovalVerdict } from "../../src/sync/rules/guard.ts";
import { createPlanner } from "../../src/sync/rules/planner.ts";
import { EVERYTHING, listingOf } from "../support/listing.ts";

const GOOD = { owner: "o", name: "good" };
const BAD = { owner: "o", name: "bad" };
const GONE = { owner: "o", name: "gone" };
const PASS: RemovalVerdict = { kind: "pass" };
const NOT_JUDGED: RemovalVerdict = { kind: "not_judged" };
const EMPTY: RemovalVerdict = { kind: "held", rule: "empty_listing", message: "" };

/** A listing with a good entry and a bad one, received between the times 1 and 2. */
function planned(open: number, verdict: RemovalVerdict): PlannedRun {
  const libraries = listingOf([
    { key: GOOD, lastModified: "2024-05-01", source: "{}" },
    { key: BAD, lastModified: "2024-05-01", source: null },
  ]);
  const context = { now: 1, fullEveryMs: 1_000, backfillSince: null, blindSince: Number.POSITIVE_INFINITY };
  const plan = createPlanner(libraries, JSON.parse, context, EVERYTHING).finish();
  const listing = { libraries, rejects: [], incomplete: null, repeated: 0, startedAt: 1, cachedMs: 0, date: null };
  const removals = { marked: [], held: [], heldSince: null };
  const openRejects = { open, later: 0 };
  return { listing, listedAt: 2, asOf: 1, blindSince: 5, plan, openRejects, verdict, removals, isForeign: false };
}

test("dates of a listing count as seen at its last byte, and no reject ends if none is open", () => {
  const { newDates, seenAt, isOver } = toListingChanges(planned(0, PASS));
  expect([...newDates].map(({ key }) => key)).toEqual([GOOD, BAD]);
  expect({ seenAt, isOver }).toEqual({ seenAt: 2, isOver: null });
});

test.each([
  ["a complete listing", PASS, [true, true, true, true]],
  ["a slice, or an incomplete listing", NOT_JUDGED, [false, true, false, false]],
  ["an empty listing that is held", EMPTY, [false, true, false, false]],
] as const)("%s ends the rejects that it proves to be over", (_, verdict, over) => {
  const { isOver } = toListingChanges(planned(1, verdict));
  expect([null, GOOD, BAD, GONE].map((key) => isOver?.(key, 4))).toEqual(over);
  // A cache had stored the listing before.
  expect(isOver?.(GOOD, 5)).toBe(false);
});
