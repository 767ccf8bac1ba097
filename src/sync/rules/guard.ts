import { formatCount, formatLibraries, plural } from "../../format.ts";
import { formatShare, isOver, type Share } from "../../units.ts";

/** From this number on, losing all libraries or scenarios at once counts as an error in the service's answer. */
export const MIN_TOTAL_LOSS = 10;

export interface RemovalFacts {
  /** Libraries of the listing whose identity could be read. */
  readonly listedCount: number;
  /** Entries of the listing that are rejects. */
  readonly rejectedCount: number;
  /** Libraries that are stored and live, in the whole organization whatever the selection. */
  readonly liveCount: number;
  /** Live libraries that are listed. */
  readonly sharedWithLive: number;
  /** Live libraries in scope that are not listed: those that this run would mark as removed. */
  readonly missing: number;
  /** Those of them whose removal an earlier run held. */
  readonly heldBefore: number;
  /** Other libraries marked as removed in the last 24 h by runs without `--allow-removals`. */
  readonly removedLately: number;
  /**
   * The largest number of live libraries in the last 24 h. Libraries that `--allow-removals` removed do not count. Nor do those that
   * were first stored after the last complete listing, or while removals were held.
   */
  readonly peakLive: number;
  readonly maxRemoved: Share;
  /** `--allow-removals` */
  readonly allowed: boolean;
  /** Whether the listing is complete. */
  readonly complete: boolean;
  /** A slice marks no removals. */
  readonly isSlice: boolean;
}

type HeldRule = "empty_listing" | "nothing_shared" | "too_many" | "held_before";

export type RemovalVerdict =
  | { readonly kind: "pass" }
  | {
      /** The listing is incomplete, or the run is of a slice: nothing is marked. */
      readonly kind: "not_judged";
    }
  | { readonly kind: "held"; readonly rule: HeldRule; readonly message: string };

const HINT = "If they are really gone, run it again with --allow-removals";

/** Whether the libraries that the listing lacks may be marked as removed. A wrong URL or key lists another organization. */
export function guardRemovals(facts: RemovalFacts): RemovalVerdict {
  const { listedCount, liveCount, allowed } = facts;
  // This rule is first, because even one page of another organization's listing must not be stored. Such a run stores nothing.
  if (!allowed && listedCount > 0 && facts.sharedWithLive === 0 && liveCount >= MIN_TOTAL_LOSS) {
    const lack = `the listing holds ${formatLibraries(listedCount)} and none of the ${formatCount(liveCount)} live ones`;
    const advice = "Look at SIMCAT_BASE_URL and SIMCAT_API_KEY: is it another organization, or a mock?";
    return held("nothing_shared", `${lack}; nothing was stored or marked. ${advice} ${HINT}`);
  }
  if (!facts.complete) return { kind: "not_judged" };
  if (!allowed && listedCount === 0 && liveCount > 0) {
    const { rejectedCount } = facts;
    const lack =
      rejectedCount === 0
        ? "the listing is empty"
        : rejectedCount === 1
          ? "the only entry of the listing was rejected"
          : `all ${formatCount(rejectedCount)} entries of the listing were rejected`;
    const live = plural(liveCount, "library is live", "libraries are live");
    // A slice marks none, whatever its options are.
    const hint = facts.isSlice ? "If they are really gone, run simcat sync --allow-removals" : HINT;
    return held("empty_listing", `${lack}, but ${live}; nothing was marked. ${hint}`);
  }
  if (facts.isSlice) return { kind: "not_judged" };
  if (allowed) return { kind: "pass" };
  if (facts.missing > 0 && exceedsShare(facts)) {
    const limit = formatShare(facts.maxRemoved).replace("%", " %");
    return held(
      "too_many",
      `${numbersOf(facts)}; the limit is SIMCAT_MAX_REMOVED=${limit}; nothing was marked. ${HINT}`,
    );
  }
  // A held removal stays held, even if the share has changed since.
  if (facts.heldBefore > 0) {
    const still = `the removal of ${formatCount(facts.heldBefore)} of them was held by an earlier run, and ${facts.heldBefore === 1 ? "it is" : "they are"} still not listed`;
    return held("held_before", `${numbersOf(facts)}; ${still}; nothing was marked. ${HINT}`);
  }
  return { kind: "pass" };
}

/** Whether these missing libraries, with the removals of the last 24 h, exceed the share that one day may remove. */
export function exceedsShare(facts: Pick<RemovalFacts, "missing" | "removedLately" | "peakLive" | "maxRemoved">) {
  return isOver(facts.missing + facts.removedLately, facts.peakLive, facts.maxRemoved);
}

function held(rule: HeldRule, message: string): RemovalVerdict {
  return { kind: "held", rule, message };
}

function numbersOf({ missing, removedLately, peakLive }: RemovalFacts): string {
  // `peakLive` excludes libraries that were stored lately; they may be missing too.
  if (missing > peakLive) {
    const counted = `only ${plural(peakLive, "counts", "count")} as live`;
    return `${formatLibraries(missing)} would be marked removed, but ${counted}`;
  }
  // Rounded up, so that a share just over the limit does not look equal to it.
  const percent = (Math.ceil(((missing + removedLately) * 10_000) / peakLive) / 100).toFixed(2);
  const total = removedLately > 0 ? `${formatCount(missing + removedLately)} in the last 24 h, ` : "";
  return `${formatCount(missing)} of ${formatLibraries(peakLive)} would be marked removed (${total}${percent} %)`;
}

export interface ScenarioFacts {
  /** Stored live scenarios of the library. */
  readonly live: number;
  /** Scenarios that were read now. */
  readonly listed: number;
  /** Live scenarios that this read lacks and no earlier read lacked. */
  readonly missing: number;
  readonly maxRemoved: Share;
  /** `--allow-removals` */
  readonly allowed: boolean;
}

/** Whether a library's missing scenarios may be marked now, or only if a second read lacks them too. */
export function guardScenarios({ live, listed, missing, maxRemoved, allowed }: ScenarioFacts): "mark" | "withhold" {
  if (allowed || missing === 0 || live < MIN_TOTAL_LOSS) return "mark";
  return listed === 0 || isOver(missing, live, maxRemoved) ? "withhold" : "mark";
}
