import type { PlannedRun } from "./plan-run.ts";
import { isEverything } from "./rules/selection.ts";
import { SUSPECT_READS } from "./rules/settle.ts";
import type { RunTotals } from "./run-totals.ts";
import type { RunRequest } from "./run-types.ts";
import type { ValueParsers } from "./value-parsers.ts";

/** What people should know of the listing, whatever becomes of the run. */
export function warnOfListing(totals: RunTotals, { listing, plan }: PlannedRun): void {
  const warn = (code: string, message: string) => totals.warnings.push({ code, message });
  if (listing.incomplete !== null) {
    warn("listing_incomplete", `${listing.incomplete}; nothing was marked as removed`);
  }
  if (plan.missingButCached.length > 0) {
    warn(
      "listing_cached",
      `a cache answered the listing, older than the last read of ${plan.missingButCached.length} libraries that it lacks; they were not marked as removed. Is there a caching proxy before the service?`,
    );
  }
  if (listing.repeated > 0) {
    warn("listing_duplicates", `the listing names ${listing.repeated} libraries more than once; each is kept once`);
  }
}

/** What people should know of the content that was read. */
export function warnOfReading(totals: RunTotals, parsers: ValueParsers): void {
  const { dates, sizes } = parsers.unparsed();
  if (totals.suspectReads > 0) {
    totals.warnings.push({
      code: "content_suspect",
      message: `the content of ${totals.suspectReads} libraries came from a cache or named another date than the listing, ${SUSPECT_READS} times or more; it is stored, and read again from time to time until the two agree. Is there a caching proxy before the service?`,
    });
  }
  if (totals.misnamed > 0) {
    totals.warnings.push({
      code: "content_misnamed",
      message: `the metadata of ${totals.misnamed} libraries has another libraryName than the listing; it is stored under the listed name, never settles, and is read again from time to time. Does a proxy mix up answers, or does the service report another name there?`,
    });
  }
  if (dates > 0) {
    totals.warnings.push({
      code: "dates_unparsed",
      message: `${dates} dates have a format that simcat does not know; their text is stored, their …_at columns are NULL`,
    });
  }
  if (sizes > 0) {
    totals.warnings.push({
      code: "sizes_unparsed",
      message: `${sizes} file sizes have a format that simcat does not know; their text is stored, file_size_bytes is NULL`,
    });
  }
  for (const { key, withheld } of totals.withheld) {
    if (withheld === null) continue;
    totals.warnings.push({
      code: "scenario_removals_held",
      key,
      message: `the list lacks ${withheld.missing} of ${withheld.live} scenarios at once; none of them was marked as removed. If the next read lacks the same, they will be (or run it again with --allow-removals)`,
    });
  }
}

/** A larger share of throttled requests deserves a limit of our own, in percent. */
const MOST_THROTTLED = 5;

/** The service refused many requests because they were too many. */
export function warnOfThrottling(totals: RunTotals, throttled: number): void {
  const { requests } = totals.counts;
  if (throttled * 100 <= requests * MOST_THROTTLED) return;
  const percent = ((throttled * 100) / requests).toFixed(1);
  totals.warnings.push({
    code: "requests_throttled",
    message: `the service throttled ${throttled} of ${requests} requests (${percent} %) with 429 or 503; the run slowed down and repeated them. Set SIMCAT_MAX_RPS to the requests per second that the service allows`,
  });
}

/** From so many libraries on, reading nine in ten of them for nothing is worth a word, when it happens so many times in a row. */
const TELLING_LIBRARIES = 10;
const IDLE_RUNS = 3;

/** Whether a sync of everything read nine in ten libraries and found nothing changed. */
export function isIdle(request: Pick<RunRequest, "kind" | "selection">, { counts }: RunTotals): boolean {
  const { librariesListed, librariesRead, librariesChanged } = counts;
  return (
    request.kind === "sync" &&
    isEverything(request.selection) &&
    librariesListed >= TELLING_LIBRARIES &&
    librariesRead * 10 >= librariesListed * 9 &&
    librariesChanged === 0
  );
}

/** `before`: how many runs in a row were idle before this one. */
export function warnOfIdleRuns(totals: RunTotals, before: number): void {
  if (before + 1 < IDLE_RUNS) return;
  const { librariesRead } = totals.counts;
  totals.warnings.push({
    code: "dates_untrustworthy",
    message: `the last ${before + 1} runs read nine in ten libraries or more and found nothing changed: the service's dates cannot be trusted to tell what changed, so nothing can be skipped safely. That costs ${2 * librariesRead} requests a run; a longer interval between runs saves them`,
  });
}
