/** Lengths of time, and durations, sizes and shares in the notation of the settings: `15m`, `512MiB`, `30%`. */

export const MINUTE_MS = 60_000;
export const HOUR_MS = 60 * MINUTE_MS;
export const DAY_MS = 24 * HOUR_MS;
/** Every system can represent dates of the last 100 years. */
export const CENTURY_MS = 100 * 365 * DAY_MS;

/** A share in whole millionths, so that 30 % of 10 is exactly 3. */
export type Share = number;
const WHOLE: Share = 1_000_000;

const DURATIONS = { ms: 1, s: 1000, m: MINUTE_MS, h: HOUR_MS, d: DAY_MS } as const;
const SIZES = { B: 1, KiB: 2 ** 10, MiB: 2 ** 20, GiB: 2 ** 30 } as const;

/** Milliseconds of `500ms`, `60s`, `15m`, `24h` or `7d`; null for any other text, and for zero. */
export function parseDuration(text: string): number | null {
  return parseAmount(text, DURATIONS);
}

/** Bytes of `65536B`, `64KiB`, `512MiB` or `1GiB`; null for any other text, and for zero. */
export function parseSize(text: string): number | null {
  return parseAmount(text, SIZES);
}

/** The share of `30%` or `0.5%`, from 0 to 100 %, with at most four decimals; null for any other text. */
export function parseShare(text: string): Share | null {
  const [, percent] = /^(\d{1,3}(?:\.\d{1,4})?) ?%$/.exec(text) ?? [];
  const share = Math.round((Number(percent) * WHOLE) / 100);
  return share <= WHOLE ? share : null;
}

/** True if `part` is strictly more than this share of `whole`. Both are whole numbers, so nothing is rounded. */
export function isOver(part: number, whole: number, share: Share): boolean {
  return part * WHOLE > share * whole;
}

/** The inverse of `parseDuration`, in the largest unit without a remainder: `15m`. For measured times, see `formatElapsed`. */
export function formatDuration(ms: number): string {
  return formatAmount(ms, DURATIONS);
}

/** The inverse of `parseSize`, in the largest unit without a remainder: `512MiB`. For measured sizes, see `formatBytes`. */
export function formatSize(bytes: number): string {
  return formatAmount(bytes, SIZES);
}

/** The inverse of `parseShare`. */
export function formatShare(share: Share): string {
  return `${(share * 100) / WHOLE}%`;
}

function parseAmount(text: string, units: Readonly<Record<string, number>>): number | null {
  const [, count, unit = ""] = /^(\d+)([A-Za-z]+)$/.exec(text) ?? [];
  const amount = Number(count) * (units[unit] ?? 0);
  return amount > 0 && Number.isSafeInteger(amount) ? amount : null;
}

function formatAmount(amount: number, units: Readonly<Record<string, number>>): string {
  const [unit, size] = Object.entries(units).findLast(([, size]) => amount % size === 0) ?? ["", 1];
  return `${amount / size}${unit}`;
}
