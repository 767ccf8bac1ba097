import type { LibraryCounts } from "../db/runs.ts";
import { formatCount, formatElapsed, formatLibraries, plural } from "../format.ts";
import type { PlannedListing } from "./plan-run.ts";
import type { ValueParsers } from "./rules/parse-values.ts";
import { SUSPECT_READS } from "./rules/settle.ts";
import type { RunTotals } from "./run-totals.ts";

/** Adds the warnings about the listing. */
export function warnOfListing(totals: RunTotals, planned: PlannedListing): void {
  const { listing, plan } = planned;
  const warn = (code: string, message: string) => totals.warnings.push({ code, message });
  if (listing.incomplete !== null) {
    warn("listing_incomplete", `${listing.incomplete}; nothing was marked as removed`);
  }
  if (listing.cachedMs > 0) {
    const isKnown = planned.asOf !== null;
    const age = isKnown ? formatElapsed(listing.cachedMs) : "an unknown time";
    const unknown = isKnown
      ? ""
      : " Its Age is malformed or over a year, so the copy counts as complete as of no later time than before.";
    const kept = plan.missingButCached.length;
    const unmarked =
      kept > 0
        ? `, and ${plural(kept, "library", "libraries")} read since and not listed were not marked as removed`
        : "";
    warn(
      "listing_cached",
      `a cache answered the listing, which it had stored for ${age}: edits since then are not seen${unmarked}.${unknown} Is there a caching proxy before the service?`,
    );
  }
  if (listing.repeated > 0) {
    warn(
      "listing_duplicates",
      `the listing names ${formatLibraries(listing.repeated)} more than once; each is kept once`,
    );
  }
}

/** Adds the warnings about the content that was read. */
export function warnOfReading(totals: RunTotals, parsers: ValueParsers): void {
  const { dates, sizes } = parsers.unparsed();
  const backingOff = totals.skips["backing off"] ?? 0;
  if (backingOff > 0) {
    totals.warnings.push({
      code: "libraries_backing_off",
      message: `${plural(backingOff, "library", "libraries")} that failed three times in a row or more ${backingOff === 1 ? "was" : "were"} not tried; simcat status shows when each is tried next, and simcat sync --library tries it now`,
    });
  }
  if (totals.suspectReads > 0) {
    totals.warnings.push({
      code: "content_suspect",
      message: `the content of ${formatLibraries(totals.suspectReads)} came from a cache, has another date than the listing, or names an owner with a library of the same name, ${SUSPECT_READS} times or more; it is stored, and read again from time to time. Is there a caching proxy before the service?`,
    });
  }
  if (totals.misnamed > 0) {
    totals.warnings.push({
      code: "content_misnamed",
      message: `the metadata of ${formatLibraries(totals.misnamed)} has another libraryName than the listing; it is stored under the listed name, never settles, and is read again from time to time. Does a proxy mix up answers, or does the service report another name there?`,
    });
  }
  if (dates > 0) {
    totals.warnings.push({
      code: "dates_unparsed",
      message: `${plural(dates, "date has", "dates have")} a format that simcat does not know; ${dates === 1 ? "its text is stored, its …_at column is NULL" : "their text is stored, their …_at columns are NULL"}`,
    });
  }
  if (sizes > 0) {
    totals.warnings.push({
      code: "sizes_unparsed",
      message: `${plural(sizes, "file size has", "file sizes have")} a format that simcat does not know; ${sizes === 1 ? "its" : "their"} text is stored, file_size_bytes is NULL`,
    });
  }
  for (const { key, withheld } of totals.withheld) {
    if (withheld === null) continue;
    totals.warnings.push({
      code: "scenario_removals_held",
      key,
      message: `the list lacks ${formatCount(withheld.missing)} of ${formatCount(withheld.live)} scenarios at once; none of them was marked as removed. If the next read lacks the same and no cache answers it, they will be (or run it again with --allow-removals)`,
    });
  }
}

/** In percent of all requests. */
const MAX_THROTTLED_PERCENT = 5;

/** Adds a warning if the service throttled a large share of the requests. If it accepted none, its rate is not the reason. */
export function warnOfThrottling(totals: RunTotals, throttled: number): void {
  const { requests } = totals.counts;
  if (throttled * 100 <= requests * MAX_THROTTLED_PERCENT || throttled >= requests) return;
  const percent = ((throttled * 100) / requests).toFixed(1);
  totals.warnings.push({
    code: "requests_throttled",
    message: `the service throttled ${formatCount(throttled)} of ${formatCount(requests)} requests (${percent} %) with 429 or 503. Set SIMCAT_MAX_RPS to the requests per second that the service allows`,
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
export function warnOfIdleRuns(totals: RunTotals, earlier: readonly LibraryCounts[]): void {
  const lastBusy = earlier.findIndex((counts) => !isIdle(counts));
  const runs = 1 + (lastBusy === -1 ? earlier.length : lastBusy);
  if (runs < MIN_IDLE_RUNS) return;
  const { librariesRead } = totals.counts;
  totals.warnings.push({
    code: "dates_untrustworthy",
    message: `the last ${runs} runs read nine in ten libraries or more and found nothing changed: the service's dates do not show what changed, so no library can be skipped safely. That costs ${formatCount(2 * librariesRead)} requests a run; a longer interval between runs saves them`,
  });
}

/** Adds the warning about daily snapshots of days that have not begun: a clock was ahead, or is behind now. */
export function warnOfFutureDays(totals: RunTotals, days: readonly string[]): void {
  const [first, last] = [days[0], days.at(-1)];
  if (first === undefined || last === undefined) return;
  const which = days.length === 1 ? first : `${first} to ${last}`;
  totals.warnings.push(
    totals.isClockConfirmed
      ? {
          code: "snapshots_removed",
          message: `${days.length === 1 ? "a daily snapshot was" : `${days.length} daily snapshots were`} taken while the database's clock was ahead, for days that have not begun (${which}), and removed now`,
        }
      : {
          code: "snapshot_withheld",
          message: `no daily snapshot was taken, because there is one of ${last}, and the database's clock has not reached that day: either the clock was ahead then, or it is behind now. The Date header of the service does not confirm it to an hour. Is the clock of the database server right?`,
        },
  );
}
