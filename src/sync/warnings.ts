import { sum } from "d3-array";
import type { LibraryCounts } from "../db/runs.ts";
import { formatCount, formatElapsed, formatLibraries, plural } from "../format.ts";
import type { ValueParsers } from "../parse-values.ts";
import type { PlannedRun } from "./plan-run.ts";
import { SUSPECT_READS } from "./rules/settle.ts";
import type { RunTotals } from "./run-totals.ts";

const CACHE = "Is there a caching proxy before the service?";

/** Adds the warnings about the listing. */
export function warnOfListing(totals: RunTotals, { listing, plan, asOf }: PlannedRun): void {
  const { incomplete, cachedMs, repeated } = listing;
  if (incomplete !== null) totals.warn("listing_incomplete", `${incomplete}; nothing was marked as removed`);
  if (cachedMs > 0) {
    const age = asOf === null ? "an unknown time" : formatElapsed(cachedMs);
    const malformed =
      " Its Age is malformed or over a year, so the copy counts as complete as of no later time than before.";
    const { count, owing } = plan.missingButCached;
    const kept = `, and ${formatLibraries(count)} seen since and not listed ${count === 1 ? "was" : "were"} kept`;
    const owed = ` (${count === 1 ? "it" : `of them ${formatCount(owing)}`} failed or had rejects, and could not be read again)`;
    const text = `a cache answered the listing, which it had stored for ${age}: edits since then are not seen`;
    const rest = `${count > 0 ? kept : ""}${owing > 0 ? owed : ""}.${asOf === null ? malformed : ""}`;
    totals.warn("listing_cached", `${text}${rest} ${CACHE}`);
  }
  if (repeated > 0) {
    const entries = plural(repeated, "entry of the listing repeats", "entries of the listing repeat");
    totals.warn("listing_duplicates", `${entries} an earlier one; each library is kept once`);
  }
}

/** Adds the warnings about the content that was read. */
export function warnOfReading(totals: RunTotals, parsers: ValueParsers): void {
  const { suspectReads, misnamed } = totals;
  const { dates, sizes } = parsers.unparsed();
  const backingOff = totals.skips["backing off"] ?? 0;
  if (backingOff > 0) {
    const failing = `${formatLibraries(backingOff)} that failed three times in a row or more`;
    const advice = "simcat status shows when each is tried next, and simcat sync --library tries it now";
    totals.warn("libraries_backing_off", `${failing} ${backingOff === 1 ? "was" : "were"} not tried; ${advice}`);
  }
  if (suspectReads > 0) {
    const why =
      "came from a cache, has another date than the listing, or names an owner with a library of the same name";
    const text = `the content of ${formatLibraries(suspectReads)} ${why}, ${SUSPECT_READS} times or more`;
    totals.warn("content_suspect", `${text}; it is stored, and read again from time to time. ${CACHE}`);
  }
  if (misnamed > 0) {
    const text = `the metadata of ${formatLibraries(misnamed)} has another libraryName than the listing`;
    const stored = "it is stored under the listed name, never settles, and is read again from time to time";
    const advice = "Does a proxy mix up answers, or does the service report another name there?";
    totals.warn("content_misnamed", `${text}; ${stored}. ${advice}`);
  }
  // No number, because a transaction that is repeated parses the dates again.
  if (dates) {
    const stored = "the text of such a date is stored, its …_at column is NULL";
    totals.warn("dates_unparsed", `simcat does not know the format of every date; ${stored}`);
  }
  if (sizes) {
    const stored = "the text of such a size is stored, file_size_bytes is NULL";
    totals.warn("sizes_unparsed", `simcat does not know the format of every file size; ${stored}`);
  }
  for (const { key, withheld } of totals.withheld) {
    const lost = `the list lost ${formatCount(withheld.missing)} of ${formatCount(withheld.live)} scenarios at once`;
    const advice = "another read must confirm that (or run it again with --allow-removals)";
    totals.warn("scenario_removals_held", `${lost}; none of them was marked as removed: ${advice}`, key);
  }
}

/** In percent of all requests. */
const MAX_THROTTLED_PERCENT = 5;

/** Adds a warning if the service throttled a large share of the requests. If it accepted none, its rate is not the reason. */
export function warnOfThrottling(totals: RunTotals, throttled: number): void {
  const { requests } = totals.counts;
  if (throttled * 100 <= requests * MAX_THROTTLED_PERCENT || throttled >= requests) return;
  const share = `${formatCount(throttled)} of ${formatCount(requests)} requests (${((throttled * 100) / requests).toFixed(1)} %)`;
  const advice = "Set SIMCAT_MAX_RPS to the requests per second that the service allows";
  totals.warn("requests_throttled", `the service throttled ${share} with 429 or 503. ${advice}`);
}

/** Below this count, reading nine in ten libraries for nothing is not worth a warning. */
const MIN_IDLE_LIBRARIES = 10;
/** Warn from this many idle runs in a row. */
const MIN_IDLE_RUNS = 3;

/** The reasons to read a library whose date does not prove that it is unchanged. */
const DATE_REASONS = ["no listed date", "listed date changed", "not settled yet"] as const;

/** Whether this run read nine in ten libraries because of their dates, and found nothing changed. */
export const isIdleByDates = ({ counts, reasons }: RunTotals) =>
  isIdle({ ...counts, librariesRead: sum(DATE_REASONS, (reason) => reasons[reason] ?? 0) });

/** Whether a run read nine in ten libraries and found nothing changed. */
function isIdle({ librariesListed, librariesRead, librariesChanged }: LibraryCounts): boolean {
  return librariesListed >= MIN_IDLE_LIBRARIES && librariesRead * 10 >= librariesListed * 9 && librariesChanged === 0;
}

/** Warns if this run is idle and enough of those directly before it were. `earlier`: the syncs of everything, newest first. */
export function warnOfIdleRuns(totals: RunTotals, earlier: readonly LibraryCounts[]): void {
  const lastBusy = earlier.findIndex((counts) => !isIdle(counts));
  const runs = 1 + (lastBusy === -1 ? earlier.length : lastBusy);
  if (runs < MIN_IDLE_RUNS) return;
  const idle = `the last ${runs} runs read nine in ten libraries or more and found nothing changed`;
  const cost = `That costs ${formatCount(2 * totals.counts.librariesRead)} requests a run; a longer interval between runs saves them`;
  totals.warn(
    "dates_untrustworthy",
    `${idle}: the service's dates do not show what changed, so no library can be skipped safely. ${cost}`,
  );
}

/** Adds the warning about daily snapshots of days that have not begun: a clock was ahead, or is behind now. */
export function warnOfFutureDays(totals: RunTotals, days: readonly string[]): void {
  const [first, last] = [days[0], days.at(-1)];
  if (first === undefined || last === undefined) return;
  if (totals.isClockConfirmed) {
    const which = days.length === 1 ? first : `${first} to ${last}`;
    const taken = days.length === 1 ? "a daily snapshot was taken" : `${days.length} daily snapshots were taken`;
    const ahead = "while the database's clock was ahead, for days that have not begun";
    totals.warn("snapshots_removed", `${taken} ${ahead} (${which}), and removed now`);
    return;
  }
  const found = `no daily snapshot was taken, because there is one of ${last}, and the database's clock has not reached that day`;
  const why = "either the clock was ahead then, or it is behind now";
  const advice =
    "The Date header of the service does not confirm it to an hour. Is the clock of the database server right?";
  totals.warn("snapshot_withheld", `${found}: ${why}. ${advice}`);
}
