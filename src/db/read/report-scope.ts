export interface ReportScope {
  /** How far back changes are reported, in milliseconds. */
  readonly sinceMs: number;
  /** Report only these; all if empty. */
  readonly owners: readonly string[];
}

/** Selects the owners in $1; all if it is NULL. */
export const OF_OWNERS = "($1::text[] IS NULL OR owner = ANY($1))";

export type Step = "hour" | "day" | "week" | "month";

const HOUR_MS = 3_600_000;

/** The finest step that divides the time into at most about seventy parts. */
export function stepOf(sinceMs: number): Step {
  if (sinceMs <= 72 * HOUR_MS) return "hour";
  if (sinceMs <= 70 * 24 * HOUR_MS) return "day";
  return sinceMs <= 70 * 7 * 24 * HOUR_MS ? "week" : "month";
}
