import { shows } from "./ledger.ts";
import type { PerformedRun } from "./perform-run.ts";
import type { Seen } from "./reader.ts";
import { HOUR, MINUTE } from "./world.ts";

type Keys = ReadonlySet<string>;
type Sight = ReadonlyMap<string, Seen>;

const liveOf = (sight: Sight): Keys => new Set([...sight.values()].filter((seen) => seen.live).map(({ key }) => key));

/** Below this number of live libraries, a listing that shares nothing with them is not treated as a stranger's. */
const TELLING = 10;
/** The clocks of runs and the database differ. */
const TOLERANCE = 15 * MINUTE;

/** Independently computes the numbers of the guards, and records what they held. */
export function openRemovalLog(maxRemovedPercent: number) {
  const removed: { readonly key: string; readonly at: number; readonly allowed: boolean }[] = [];
  const levels: { readonly until: number; readonly live: Keys }[] = [];
  /** Libraries whose removal was held and that no listing has named since, with the time of the hold. */
  const held = new Map<string, number>();
  /** When each library was first stored. */
  const firstAt = new Map<string, number>();
  /** The libraries that were stored when the last run with a complete listing ended; null before the first. */
  let shown: Keys | null = null;
  /** Libraries that were removed by a run with `--allow-removals`, and have not returned. */
  const given = new Set<string>();
  /** Whether the removals that are held, and the libraries that a complete listing showed, are known: no run died or met another. */
  let isCertain = true;

  /** The largest number of live libraries since that time, among those that count: while these are held, only older ones. */
  function peakSince(time: number, stillHeld: Iterable<string>): number {
    const recent = levels.filter((level) => level.until > time);
    const heldSince = Math.min(...[...stillHeld].map((key) => held.get(key) ?? 0));
    const counts = (key: string) =>
      (firstAt.get(key) ?? 0) < heldSince && (shown === null || shown.has(key)) && !given.has(key);
    const counted = recent.map((level) => [...level.live].filter(counts).length);
    return Math.max(0, ...counted);
  }

  /** The libraries live before a run that its trusted listing lacks: those that it may mark, and those of no concern to it. */
  function lackedBy({ heard, plan }: PerformedRun, before: Sight): { lacked: string[]; elsewhere: string[] } {
    const nothing = { lacked: [], elsewhere: [] };
    const listed = heard.listing;
    if (listed === null || !listed.complete || heard.isSlice) return nothing;
    const live = liveOf(before);
    const shares = [...live].some((key) => listed.keys.has(key));
    if (!plan.allowRemovals && listed.keys.size > 0 && !shares && live.size >= TELLING) return nothing;
    const { cachedAt } = listed;
    const isReadSince = (key: string) => cachedAt !== null && (before.get(key)?.readAt ?? 0) > cachedAt - 2 * MINUTE;
    const missing = [...live].filter((key) => !listed.keys.has(key) && !isReadSince(key));
    return {
      lacked: plan.allowRemovals ? [] : missing.filter((key) => heard.isSelected(key)),
      elsewhere: missing.filter((key) => !heard.isSelected(key)),
    };
  }

  /** True if the guard may mark these libraries. All tolerances are in favor of that. */
  function isUnder(keys: readonly string[], now: number): boolean {
    const lately = removed.filter((one) => !one.allowed && one.at > now - 24 * HOUR - TOLERANCE).map(({ key }) => key);
    return (
      new Set([...keys, ...lately]).size * 100 <=
      maxRemovedPercent * peakSince(now - 24 * HOUR + TOLERANCE, held.keys())
    );
  }

  /** True if the run held removals although no rule of the guard asks for it. */
  function isNeedless(performed: PerformedRun, live: Keys, lacked: readonly string[], now: number): boolean {
    const listed = performed.heard.listing;
    if (!isCertain || held.size > 0 || performed.ended.status !== "held" || performed.others.length > 0) return false;
    if (listed === null || listed.cachedAt !== null || ![...live].some((key) => listed.keys.has(key))) return false;
    return isUnder(lacked, now);
  }

  /** The libraries among these whose hold the database did not refuse. The next run judges the others anew. */
  const recorded = (keys: readonly string[], { plan, failed }: PerformedRun) =>
    keys.filter((key) => !(plan.poison?.table === "library_sync" && plan.poison.key === key && failed.has(key)));

  /** True if the run must have recorded its hold: it ended as held, or it stored content afterwards. */
  function hasHeld(
    { ended, others }: PerformedRun,
    lacked: readonly string[],
    added: number,
    isMuch: boolean,
  ): boolean {
    return others.length === 0 && lacked.length > 0 && (ended.status === "held" || (isMuch && added > 0));
  }

  return (before: Sight, sight: Sight, performed: PerformedRun, now: number): string[] => {
    const { heard, plan, ended, isCompleted, others } = performed;
    const live = liveOf(before);
    const after = liveOf(sight);
    const gone = [...live].filter((key) => !after.has(key));
    const added = [...sight.keys()].filter((key) => !before.has(key)).length;
    // A run marks removals before it stores content.
    levels.push({ until: now, live });
    const all = [{ heard, plan }, ...others];
    const allowed = all.some((one) => one.plan.allowRemovals);
    // One minute of tolerance at the edge of the 24 hours, in favor of the program.
    const lately = removed.filter((one) => !one.allowed && one.at > now - 24 * HOUR + MINUTE).map(({ key }) => key);
    const withLately = (keys: readonly string[]) => new Set([...keys, ...lately.filter((key) => !given.has(key))]).size;
    const isListedNow = (key: string) =>
      all.some(({ heard: { listing } }) => listing?.keys.has(key) === true && shows(listing, held.get(key) ?? 0));
    const stillHeld = [...held.keys()].filter((key) => !isListedNow(key));
    // Libraries that one of overlapping runs stored under a complete listing count for the next of them.
    const peak = peakSince(now - 24 * HOUR - MINUTE, stillHeld) + (others.length > 0 ? added : 0);
    const isOver = (keys: readonly string[]) => withLately(keys) * 100 > maxRemovedPercent * peak;
    const wrong: string[] = [];

    if (gone.length > 0 && !allowed) {
      if (all.every((one) => (one.heard.listing?.keys.size ?? 0) === 0)) {
        wrong.push(`guards: ${gone.length} libraries were marked after an empty listing`);
      }
      if (isOver(gone)) {
        wrong.push(
          `guards: ${gone.length} marked now, ${withLately(gone)} with those lately, of ${peak} at the most, is over ${maxRemovedPercent} %`,
        );
      }
      const lapsed = gone.filter((key) => stillHeld.includes(key));
      if (lapsed.length > 0) wrong.push(`guards: the removal of ${lapsed.join(" ")} was held, and is marked now`);
    }
    const { lacked, elsewhere } = lackedBy(performed, before);
    if (isNeedless(performed, live, lacked, now)) {
      wrong.push(`guards: ${heard.run} held the removal of ${lacked.length} libraries without a reason`);
    }
    if (
      others.length > 0 ||
      ["killed", "interrupted", "database_failed", "failed", "lost_lease"].includes(ended.status) ||
      // It may have recorded a hold before it asked for content.
      (ended.status === "source_unavailable" && lacked.length + elsewhere.length > 0)
    ) {
      isCertain = false;
    }
    if (others.length === 0 && ["ok", "partial"].includes(ended.status)) {
      const unsaid = lacked.filter((key) => stillHeld.includes(key));
      if (unsaid.length > 0) wrong.push(`guards: ${heard.run} says ${ended.status} and holds ${unsaid.join(" ")}`);
    }

    const hold = (keys: readonly string[]) => {
      // A removal that is held later belongs to the first hold.
      const since = Math.min(now, ...held.values());
      for (const key of keys) held.set(key, held.get(key) ?? since);
    };
    if (hasHeld(performed, lacked, added, isOver(lacked))) hold(recorded(lacked, performed));
    // A run of a selection also holds what a run of everything would hold elsewhere.
    const everywhere = [...lacked, ...elsewhere];
    const hasHeldElsewhere = others.length === 0 && isCompleted && plan.poison === null;
    if (elsewhere.length > 0 && isOver(everywhere) && hasHeldElsewhere) hold(elsewhere);
    else if (elsewhere.length > 0 && !isUnder(everywhere, now)) isCertain = false;
    for (const key of held.keys()) if (isListedNow(key) || !after.has(key)) held.delete(key);
    for (const key of gone) {
      removed.push({ key, at: now, allowed });
      if (all.every((one) => one.plan.allowRemovals)) given.add(key);
    }
    for (const key of after) given.delete(key);
    for (const key of sight.keys()) if (!firstAt.has(key)) firstAt.set(key, now);
    for (const { listing } of all.map((one) => one.heard)) {
      if (listing?.complete !== true) continue;
      // Also what the run itself stored, although a cache may have stored the listing before.
      const isNew = (key: string) => firstAt.get(key) === now && listing.keys.has(key);
      const seen = [...sight.keys()].filter((key) => isNew(key) || shows(listing, firstAt.get(key) ?? 0));
      shown = new Set([...(shown ?? []), ...seen]);
    }
    // Libraries that a run added are also live from now on.
    levels.push({ until: now, live: after });
    return wrong;
  };
}
