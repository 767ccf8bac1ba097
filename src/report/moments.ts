const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** `just now`, `12 s ago`, `5 min ago`, `47 h ago`, `12 d ago`, or `in 5 min`. */
export function formatAgo(at: Date, now: Date): string {
  const apart = now.getTime() - at.getTime();
  const text = formatSpan(Math.abs(apart));
  if (text === null) return "just now";
  return apart > 0 ? `${text} ago` : `in ${text}`;
}

/** `2026-07-01T12:00:00Z (3 h ago)`; `never` for null. */
export function formatMoment(at: Date | null, now: Date): string {
  return at === null ? "never" : `${formatInstant(at)} (${formatAgo(at, now)})`;
}

/** To the second: `2026-07-01T12:00:00Z`. */
export function formatInstant(at: Date): string {
  return at.toISOString().replace(/\.\d+Z$/, "Z");
}

function formatSpan(ms: number): string | null {
  if (ms < SECOND) return null;
  if (ms < MINUTE) return `${Math.floor(ms / SECOND)} s`;
  if (ms < HOUR) return `${Math.floor(ms / MINUTE)} min`;
  if (ms < 2 * DAY) return `${Math.floor(ms / HOUR)} h`;
  return `${Math.floor(ms / DAY)} d`;
}
