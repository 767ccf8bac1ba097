import { DAY_MS, HOUR_MS, MINUTE_MS } from "./units.ts";

/** Numbers, sizes and times for people. For the notation of the settings, such as `15m` and `512MiB`, see units.ts. */

/** A whole number with separators: `1,234`. `toLocaleString` would load its tables first, which is slow. */
export const formatCount = (count: number) => String(count).replace(/\B(?=(\d{3})+$)/g, ",");

/** `1 library`, `1,234 libraries`. */
export function plural(count: number, one: string, many = `${one}s`): string {
  return `${formatCount(count)} ${count === 1 ? one : many}`;
}

export const formatLibraries = (count: number) => plural(count, "library", "libraries");

/** Of two or more. */
export const formatAll = (count: number) => (count === 2 ? "Both" : `All ${formatCount(count)}`);

const BYTE_UNITS = ["B", "KB", "MB", "GB", "TB"];

/** A rounded size: `512 B`, `4.2 MB`. 1 KB is 1,024 B, as in the sizes of the service. */
export function formatBytes(bytes: number): string {
  const { unit, size } = byteUnitFor(bytes);
  return `${size === 1 ? bytes : (bytes / size).toFixed(1)} ${unit}`;
}

/** The largest unit of which there is at least one. */
export function byteUnitFor(bytes: number): { readonly unit: string; readonly size: number } {
  let power = 0;
  while (bytes >= 1024 ** (power + 1) && power < BYTE_UNITS.length - 1) power += 1;
  return { unit: BYTE_UNITS[power] ?? "B", size: 1024 ** power };
}

/** A measured time, in at most two units: `38 ms`, `0.4 s`, `12 s`, `3 min 05 s`, `2 h 10 min`. */
export function formatElapsed(ms: number): string {
  if (ms < 99.5) return `${Math.round(ms)} ms`;
  const seconds = ms / 1000;
  if (seconds < 9.95) return `${seconds.toFixed(1)} s`;
  const whole = Math.round(seconds);
  if (whole < 60) return `${whole} s`;
  const minutes = Math.floor(whole / 60);
  if (minutes < 60) return `${minutes} min ${String(whole % 60).padStart(2, "0")} s`;
  return `${Math.floor(minutes / 60)} h ${String(minutes % 60).padStart(2, "0")} min`;
}

/** A time limit or a requested wait, in one unit, so that two of them can be compared: `500 ms`, `2.5 s`, `3600 s`. */
export function formatLimit(ms: number): string {
  return ms < 1000 ? `${Math.round(ms)} ms` : `${Math.round(ms / 100) / 10} s`;
}

/** A time span in its largest whole unit, for people: `last 7 days`, `last 36 hours`, `last day`. */
export function formatLast(ms: number): string {
  const [unit, size] = SPAN_UNITS.find(([, size]) => ms % size === 0) ?? ["millisecond", 1];
  return `last ${ms === size ? unit : plural(ms / size, unit)}`;
}

const SPAN_UNITS = [
  ["day", DAY_MS],
  ["hour", HOUR_MS],
  ["minute", MINUTE_MS],
  ["second", 1000],
] as const;

/** `just now`, `12 s ago`, `5 min ago`, `47 h ago`, `12 d ago`, or `in 5 min`. */
export function formatAgo(at: Date, now: Date): string {
  const agoMs = now.getTime() - at.getTime();
  if (Math.abs(agoMs) < 1000) return "just now";
  const distance = formatDistance(Math.abs(agoMs));
  return agoMs > 0 ? `${distance} ago` : `in ${distance}`;
}

function formatDistance(ms: number): string {
  if (ms < MINUTE_MS) return `${Math.floor(ms / 1000)} s`;
  if (ms < HOUR_MS) return `${Math.floor(ms / MINUTE_MS)} min`;
  if (ms < 2 * DAY_MS) return `${Math.floor(ms / HOUR_MS)} h`;
  return `${Math.floor(ms / DAY_MS)} d`;
}

/** To the second: `2026-07-01T12:00:00Z`. */
export function formatInstant(at: Date): string {
  return at.toISOString().replace(/\.\d+Z$/, "Z");
}

/** `2026-07-01T12:00:00Z (3 h ago)`; `never` for null. */
export function formatMoment(at: Date | null, now: Date): string {
  return at === null ? "never" : `${formatInstant(at)} (${formatAgo(at, now)})`;
}

/** Two texts, cut to this many characters without the ellipses. Of their equal beginning, only the end remains. */
export function cutToDifference(a: string, b: string, chars: number): readonly [string, string] {
  if (a.length <= chars && b.length <= chars) return [a, b];
  const [charsOfA, charsOfB] = [[...a], [...b]];
  const differsAt = charsOfA.findIndex((char, at) => char !== charsOfB[at]);
  const start = Math.max(0, (differsAt < 0 ? charsOfA.length : differsAt) - Math.floor(chars / 4));
  const end = start + chars;
  const cut = (all: readonly string[]) =>
    [start > 0 ? "…" : "", ...all.slice(start, end), all.length > end ? "…" : ""].join("");
  return [cut(charsOfA), cut(charsOfB)];
}
