import { isEverything } from "../../src/sync/rules/selection.ts";
import type { PerformedRun } from "./perform-run.ts";
import type { Seen } from "./reader.ts";
import { HOUR, MINUTE } from "./world.ts";

/** What is known about a library that failed; accidents leave room for doubt. */
interface Failing {
  /** The fewest and the most failures in a row that the program may have counted. */
  readonly least: number;
  readonly most: number;
  /** The run of the last failure, by the database's clock in ms. */
  readonly startedAt: number;
  readonly endedAt: number;
  /** The listed date at the last failure, and whether the failure before it had the same. */
  readonly date: string | null;
  readonly isSameDate: boolean;
}

const FAILURES = 3;
const FIRST = 15 * MINUTE;
const LONGEST = 6 * HOUR;
/** The database's clock runs on by itself during a run. */
const TOLERANCE = 10 * MINUTE;

const distance = (failures: number) =>
  failures < FAILURES ? 0 : Math.min(FIRST * 2 ** (failures - FAILURES), LONGEST);

/** Independently counts the failures of each library, and checks when it is tried again and how an outage ends (contract 3.2, 3.6). */
export function openFailureLog() {
  let failing = new Map<string, Failing>();
  /** The date under which each library was last asked for. */
  const askedDates = new Map<string, string | null>();

  /** The libraries that a completed run had to ask for, with the reason. */
  function missed({ heard, plan }: PerformedRun, sight: ReadonlyMap<string, Seen>, startedAt: number): string[] {
    const { listing } = heard;
    if (listing === null || plan.poison !== null || !isEverything(plan.selection)) return [];
    // Of another organization's listing nothing is read.
    const isShared = [...sight.values()].some(({ key, live }) => live && listing.keys.has(key));
    if (!isShared && sight.size > 0) return [];
    return [...listing.dates].flatMap(([key, date]) => {
      if (heard.content.has(key) || !listing.keys.has(key) || listing.bad.has(key)) return [];
      // It may have been removed after the cache's time.
      if (listing.cachedAt !== null && sight.get(key)?.live !== true) return [];
      if (askedDates.has(key) && askedDates.get(key) !== date) return [`${key}, which has another date`];
      const known = failing.get(key);
      if (known === undefined || known.least === 0) return [];
      const isDue = startedAt - known.endedAt > distance(known.most) + (known.most < FAILURES ? 0 : TOLERANCE);
      return isDue ? [`${key}, which failed ${known.most} times and is due`] : [];
    });
  }

  /** Libraries that the run tried although they are to be tried less often. */
  function tooEarly({ heard, plan, failed }: PerformedRun, now: number): string[] {
    if (plan.kind !== "sync" || plan.selection.libraries.length > 0) return [];
    return [...failed].flatMap(([key, code]) => {
      const known = failing.get(key);
      if (known === undefined || known.least < FAILURES || !known.isSameDate || code === "rejected_by_database")
        return [];
      if (heard.listing?.dates.get(key) !== known.date || heard.listing.bad.has(key)) return [];
      const isEarly = now - known.startedAt < distance(known.least) - TOLERANCE;
      return isEarly ? [`${key} again, which had failed ${known.least} times`] : [];
    });
  }

  /** Whether the run asked for content and received none. */
  function isOutage({ heard, plan }: PerformedRun): boolean {
    const said = [...heard.content.values()].flatMap(({ metadata, scenarios }) => [metadata, scenarios]);
    return plan.weather.isDown && said.length > 0 && said.every((one) => one === undefined || one.kind === "nothing");
  }

  /** Whether only one library is broken, and another one can show that the service is not down. */
  function isOneBroken({ heard, plan }: PerformedRun, sight: ReadonlyMap<string, Seen>): boolean {
    const { listing, content, drift, swaps, broken, isDown, slowness, edits } = plan.weather;
    if (broken === null || isDown || drift !== null || listing + content + swaps + edits > 0 || slowness > 0)
      return false;
    const isGood = (key: string) => key !== broken && !failing.has(key) && sight.get(key)?.live === true;
    return [...(heard.listing?.keys ?? [])].some(isGood);
  }

  /** `poison` refuses the rows of a library in all runs that go on at the same time. */
  function remember(
    performed: PerformedRun,
    poison: PerformedRun["plan"]["poison"],
    startedAt: number,
    endedAt: number,
  ) {
    const { heard, ended, isCompleted, failed, plan } = performed;
    const next = new Map(failing);
    for (const key of new Set([...failed.keys(), ...heard.content.keys()])) {
      const date = heard.listing?.dates.get(key) ?? null;
      const { least = 0, most = 0, date: before = null } = failing.get(key) ?? {};
      const at = { startedAt, endedAt, date, isSameDate: failing.has(key) && before === date };
      const isUnrecorded = key === poison?.key && poison.table === "library_sync";
      if (isCompleted && failed.has(key)) {
        next.set(key, { ...at, least: isUnrecorded ? 0 : least + 1, most: most + 1 });
      } else if (isCompleted && !failed.has(key)) next.delete(key);
      // A run that reports its own end counts nothing beyond the first failure; a killed one may have stored anything.
      else if (ended.status === "source_unavailable") {
        const isCertain = failed.has(key) && plan.accidents.length === 0 && poison === null;
        next.set(key, { ...at, least: isCertain ? Math.max(1, least) : 0, most: Math.max(1, most) });
      } else next.set(key, { ...at, least: 0, most: most + 1 });
    }
    failing = next;
    for (const key of heard.content.keys()) askedDates.set(key, heard.listing?.dates.get(key) ?? null);
  }

  return (sight: ReadonlyMap<string, Seen>, performed: PerformedRun, startedAt: number, now: number): string[] => {
    const { heard, ended, isCompleted, others, plan } = performed;
    const wrong: string[] = [];
    const isCalm = others.length === 0 && plan.accidents.length === 0 && plan.stopAfterReads === null;
    if (isCalm && isCompleted) {
      for (const what of missed(performed, sight, startedAt))
        wrong.push(`failing: ${heard.run} did not ask for ${what}`);
      for (const what of tooEarly(performed, now)) wrong.push(`failing: ${heard.run} tried ${what}`);
      if (isOutage(performed)) wrong.push(`outage: ${heard.run} received no content and says ${ended.status}`);
    }
    if (isCalm && ended.status === "source_unavailable" && isOneBroken(performed, sight)) {
      wrong.push(`outage: ${heard.run} says ${ended.status}, and only ${plan.weather.broken} is broken`);
    }
    for (const one of [performed, ...others]) remember(one, plan.poison, startedAt, now);
    // What was never stored is forgotten when it is no longer listed.
    const isUnlisted = (key: string) => heard.listing?.complete === true && !heard.listing.keys.has(key);
    for (const [key, known] of failing) {
      const seen = sight.get(key);
      const isForgotten = seen === undefined && isUnlisted(key);
      if (seen?.live === false || (isForgotten && isCompleted)) failing.delete(key);
      // A run that could not go on may not have recorded its listing.
      else if (isForgotten) failing.set(key, { ...known, least: 0 });
    }
    const unsaid = [...failing].filter(([key, { least }]) => least > 0 && heard.listing?.keys.has(key));
    if (ended.status === "ok" && others.length === 0 && isEverything(plan.selection) && unsaid.length > 0) {
      wrong.push(`failing: ${heard.run} says ok, and ${unsaid.map(([key]) => key).join(" ")} failed last time`);
    }
    return wrong;
  };
}
