import type { Performed } from "./perform.ts";
import type { Seen } from "./reader.ts";
import { HOUR, MINUTE } from "./world.ts";

/** Counts by itself what the guards have to count. */
export interface RemovalLog {
  check(sight: ReadonlyMap<string, Seen>, performed: Performed, now: number): string[];
}

export function openRemovalLog(maxRemovedPercent: number): RemovalLog {
  let live = new Set<string>();
  const removed: { readonly at: number; readonly allowed: boolean }[] = [];
  const levels: { readonly until: number; readonly live: number }[] = [];
  return {
    check(sight, { heard, plan, others }, now) {
      const before = live;
      live = new Set([...sight.values()].filter((seen) => seen.live).map(({ key }) => key));
      // What a run adds it stores before it marks what is gone.
      levels.push({ until: now, live: before.size + added(before, live) });
      const gone = [...before].filter((key) => !live.has(key)).length;
      const all = [{ heard, plan }, ...others];
      const allowed = all.some((one) => one.plan.allowRemovals);
      // A minute's doubt at the edge of the 24 hours, in favour of the program.
      const lately = removed.filter((one) => !one.allowed && one.at > now - 24 * HOUR + MINUTE).length;
      const peak = Math.max(
        0,
        ...levels.filter((level) => level.until > now - 24 * HOUR - MINUTE).map((level) => level.live),
      );
      for (let count = 0; count < gone; count += 1) removed.push({ at: now, allowed });
      if (gone === 0 || allowed) return [];
      const wrong: string[] = [];
      if (all.every((one) => (one.heard.listing?.keys.size ?? 0) === 0)) {
        wrong.push(`guards: ${gone} libraries were marked after an empty listing`);
      }
      if ((gone + lately) * 100 > maxRemovedPercent * peak) {
        wrong.push(
          `guards: ${gone} marked now and ${lately} lately, of ${peak} at the most, is over ${maxRemovedPercent} %`,
        );
      }
      return wrong;
    },
  };
}

/** Libraries that a run stored, or that came back. */
const added = (before: ReadonlySet<string>, now: ReadonlySet<string>) =>
  [...now].filter((key) => !before.has(key)).length;
