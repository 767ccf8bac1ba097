import type { LibraryCounts } from "../db/runs.ts";
import type { LibraryKey } from "../model.ts";
import type { Prepared } from "./prepare.ts";
import { DOUBTFUL_READS } from "./rules/settle.ts";
import type { Tally } from "./tally.ts";
import type { TextReader } from "./texts.ts";

/** What people should know of the listing, whatever becomes of the run. */
export function warnOfListing(tally: Tally, { listing, plan }: Prepared): void {
  const warn = (code: string, message: string) => tally.warnings.push({ code, message });
  if (listing.incomplete !== null) {
    warn("listing_incomplete", `${listing.incomplete}; nothing was marked as removed`);
  }
  if (plan.unsaid.length > 0) {
    warn(
      "listing_cached",
      `a cache answered the listing, older than the last read of ${plan.unsaid.length} libraries that it lacks; they were not marked as removed. Is there a caching proxy before the service?`,
    );
  }
  if (listing.repeated > 0) {
    warn("listing_duplicates", `the listing names ${listing.repeated} libraries more than once; each is kept once`);
  }
}

/** What people should know of the content that was read. */
export function warnOfReading(tally: Tally, texts: TextReader): void {
  const { dates, sizes } = texts.unread();
  if (tally.doubted > 0) {
    tally.warnings.push({
      code: "content_suspect",
      message: `the content of ${tally.doubted} libraries came from a cache or named another date than the listing, ${DOUBTFUL_READS} times or more; it is stored, and read again from time to time until the two agree. Is there a caching proxy before the service?`,
    });
  }
  if (tally.misnamed > 0) {
    tally.warnings.push({
      code: "content_misnamed",
      message: `the metadata of ${tally.misnamed} libraries has another libraryName than the listing; it is stored under the listed name, never settles, and is read again from time to time. Does a proxy mix up answers, or does the service report another name there?`,
    });
  }
  if (dates > 0) {
    tally.warnings.push({
      code: "dates_unparsed",
      message: `${dates} dates have a format that simcat does not know; their text is stored, their …_at columns are NULL`,
    });
  }
  if (sizes > 0) {
    tally.warnings.push({
      code: "sizes_unparsed",
      message: `${sizes} file sizes have a format that simcat does not know; their text is stored, file_size_bytes is NULL`,
    });
  }
  for (const { key, withheld } of tally.withheld) {
    if (withheld === null) continue;
    tally.warnings.push({
      code: "scenario_removals_held",
      key,
      message: `the list lacks ${withheld.missing} of ${withheld.live} scenarios at once; none of them was marked as removed. If the next read lacks the same, they will be (or run it again with --allow-removals)`,
    });
  }
}

/** The database refused to record a library's failure or its rejects, or (null) the rejects of the listing. */
export function warnOfUnrecorded(tally: Tally, key: LibraryKey | null, message: string): void {
  tally.warnings.push({ code: "failure_unrecorded", ...(key === null ? {} : { key }), message });
}

/** A larger share of throttled requests deserves a limit of our own, in percent. */
const MOST_THROTTLED = 5;

/** The service refused many requests because they were too many. */
export function warnOfThrottling(tally: Tally, throttled: number): void {
  const { requests } = tally.counts;
  if (throttled * 100 <= requests * MOST_THROTTLED) return;
  const percent = ((throttled * 100) / requests).toFixed(1);
  tally.warnings.push({
    code: "requests_throttled",
    message: `the service throttled ${throttled} of ${requests} requests (${percent} %) with 429 or 503; the run slowed down and repeated them. Set SIMCAT_MAX_RPS to the requests per second that the service allows`,
  });
}

/** Below this count, reading nine in ten libraries for nothing is not worth a warning. */
const MIN_IDLE_LIBRARIES = 10;
/** Warn from this many idle runs in a row. */
const MIN_IDLE_RUNS = 3;
/** How many earlier runs the warning counts at most. */
export const COMPARED_RUNS = 100;

/** Whether a run read nine in ten libraries and found nothing changed. */
export function isIdle({ librariesListed, librariesRead, librariesChanged }: LibraryCounts): boolean {
  return librariesListed >= MIN_IDLE_LIBRARIES && librariesRead * 10 >= librariesListed * 9 && librariesChanged === 0;
}

/** Warns if this idle run and those directly before it are many. `earlier`: the syncs of everything, newest first. */
export function warnOfIdleRuns(tally: Tally, earlier: readonly LibraryCounts[]): void {
  const lastBusy = earlier.findIndex((counts) => !isIdle(counts));
  const runs = 1 + (lastBusy === -1 ? earlier.length : lastBusy);
  if (runs < MIN_IDLE_RUNS) return;
  const { librariesRead } = tally.counts;
  tally.warnings.push({
    code: "dates_untrustworthy",
    message: `the last ${runs} runs read nine in ten libraries or more and found nothing changed: the service's dates cannot be trusted to tell what changed, so nothing can be skipped safely. That costs ${2 * librariesRead} requests a run; a longer interval between runs saves them`,
  });
}
