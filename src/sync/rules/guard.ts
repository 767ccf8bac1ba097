import { formatShare, isOver, type Share } from "../../units.ts";

/** From so many libraries or scenarios on, losing all of them at once is taken for an accident. */
const TELLING_COUNT = 10;

export interface RemovalFacts {
  /** Libraries of the listing whose identity could be read. */
  readonly listedCount: number;
  /** Entries of the listing that are rejects. */
  readonly rejectedCount: number;
  /** Libraries that are stored and live, in the whole organization whatever the selection. */
  readonly liveCount: number;
  /** Live libraries that the listing holds. */
  readonly sharedWithLive: number;
  /** Live libraries in scope that it lacks: what this run would mark. */
  readonly missing: number;
  /** Those of them whose removal an earlier run held. */
  readonly heldBefore: number;
  /** Marked in the last 24 h by runs without `--allow-removals`. */
  readonly removedLately: number;
  /** The most libraries that were live in that time, without those first stored since removals are held. */
  readonly peakLive: number;
  readonly maxRemoved: Share;
  /** `--allow-removals` */
  readonly allowed: boolean;
  /** Whether the listing is whole. */
  readonly complete: boolean;
}

type HeldRule = "empty_listing" | "nothing_shared" | "too_many" | "held_before";

export type RemovalVerdict =
  | { readonly kind: "pass" }
  | { readonly kind: "incomplete" }
  | { readonly kind: "held"; readonly rule: HeldRule; readonly message: string; readonly storeNothing: boolean };

const HINT = "If they are really gone, run it again with --allow-removals";

/** Whether what the listing lacks may be marked removed. Absence is not deletion: people unpublish, keys get mixed up. */
export function guardRemovals(facts: RemovalFacts): RemovalVerdict {
  const { listedCount, liveCount, allowed } = facts;
  // Asked before completeness: a page of another organization is no better than the whole of it.
  if (!allowed && listedCount > 0 && facts.sharedWithLive === 0 && liveCount >= TELLING_COUNT) {
    const lack = `the listing holds ${listedCount} libraries and none of the ${liveCount} live ones`;
    const advice = "Look at SIMCAT_BASE_URL and SIMCAT_API_KEY: is it another organization, or a mock?";
    return held("nothing_shared", `${lack}; nothing was stored or marked. ${advice} ${HINT}`, true);
  }
  if (!facts.complete) return { kind: "incomplete" };
  if (allowed) return { kind: "pass" };
  if (listedCount === 0 && liveCount > 0) {
    const { rejectedCount } = facts;
    const lack =
      rejectedCount === 0 ? "the listing is empty" : `the listing holds rejects alone, ${rejectedCount} of them,`;
    const live = liveCount === 1 ? "1 library is live" : `${liveCount} libraries are live`;
    return held("empty_listing", `${lack} while ${live}; nothing was marked. ${HINT}`);
  }
  const removed = facts.missing + facts.removedLately;
  if (facts.missing > 0 && isOver(removed, facts.peakLive, facts.maxRemoved)) {
    const limit = formatShare(facts.maxRemoved).replace("%", " %");
    return held("too_many", `${numbersOf(facts)} is over SIMCAT_MAX_REMOVED=${limit}; nothing was marked. ${HINT}`);
  }
  // A held removal must not be marked because the share has changed since.
  if (facts.heldBefore > 0) {
    const still = `the removal of ${facts.heldBefore} of them was held by an earlier run, and they are still not listed`;
    return held("held_before", `${numbersOf(facts)}; ${still}; nothing was marked. ${HINT}`);
  }
  return { kind: "pass" };
}

function held(rule: HeldRule, message: string, storeNothing = false): RemovalVerdict {
  return { kind: "held", rule, message, storeNothing };
}

function numbersOf({ missing, removedLately, peakLive }: RemovalFacts): string {
  const lately = removedLately > 0 ? `with the ${removedLately} of the last 24 h ` : "";
  // Those first stored since removals are held may be missing too, and are not among the live ones that count.
  if (missing > peakLive) return `${missing} libraries would be marked removed, and ${peakLive} count as live: that`;
  // Rounded up, so that what is over the limit by a hair does not read as equal to it.
  const percent = (Math.ceil(((missing + removedLately) * 10_000) / peakLive) / 100).toFixed(2);
  return `${missing} of ${peakLive} libraries would be marked removed, ${lately}${percent} %`;
}

export interface ScenarioFacts {
  /** Live scenarios that are stored of the library. */
  readonly live: number;
  /** Scenarios that it lists now. */
  readonly listed: number;
  /** Live ones that it lacks now, without those that an earlier shrunk read lacked too. */
  readonly missing: number;
  readonly maxRemoved: Share;
  /** `--allow-removals` */
  readonly allowed: boolean;
}

/** Whether a library's missing scenarios may be marked at once, or only when a second read lacks them too. */
export function guardScenarios({ live, listed, missing, maxRemoved, allowed }: ScenarioFacts): "mark" | "withhold" {
  if (allowed || missing === 0 || live < TELLING_COUNT) return "mark";
  return listed === 0 || isOver(missing, live, maxRemoved) ? "withhold" : "mark";
}
