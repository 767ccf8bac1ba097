import { DAY_MS, HOUR_MS } from "../../units.ts";

export interface ReportScope {
  /** How far back "what changed" looks, in milliseconds. */
  readonly sinceMs: number;
  /** Only these; all when there is none. */
  readonly owners: readonly string[];
}

/** The owners asked for; all for NULL. */
export const OF_OWNERS = "($1::text[] IS NULL OR owner = ANY($1))";

export type Step = "hour" | "day" | "week" | "month";

/** The finest step that makes no more than about seventy of the time. */
export function stepOf(sinceMs: number): Step {
  if (sinceMs <= 72 * HOUR_MS) return "hour";
  if (sinceMs <= 70 * DAY_MS) return "day";
  return sinceMs <= 70 * 7 * DAY_MS ? "week" : "month";
}
