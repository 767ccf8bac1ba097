/** A share from 0 to 1, kept as the fraction that was written, so that 30 % of 10 is 3 and nothing beside it. */
export interface Share {
  readonly numerator: number;
  readonly denominator: number;
}

const DURATIONS = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;
const SIZES = { B: 1, KiB: 2 ** 10, MiB: 2 ** 20, GiB: 2 ** 30 } as const;

/** Milliseconds of `500ms`, `60s`, `15m`, `24h` or `7d`; null for anything else, and for nothing at all (`0s`). */
export function parseDuration(text: string): number | null {
  return parseAmount(text, /^(\d+)(ms|s|m|h|d)$/, DURATIONS);
}

/** Bytes of `65536B`, `64KiB`, `512MiB` or `1GiB`; null for anything else and for `0B`. */
export function parseSize(text: string): number | null {
  return parseAmount(text, /^(\d+)(B|KiB|MiB|GiB)$/, SIZES);
}

/** The share of `30%` or `0.5%`, from 0 to 100 %, with at most four decimals; null for anything else. */
export function parseShare(text: string): Share | null {
  const [, whole, decimals = ""] = /^(\d{1,3})(?:\.(\d{1,4}))? ?%$/.exec(text) ?? [];
  if (whole === undefined) return null;
  const share = { numerator: Number(whole + decimals), denominator: 100 * 10 ** decimals.length };
  return share.numerator <= share.denominator ? share : null;
}

/** Whether `part` of `whole` is strictly more than the share. Whole numbers only, so there is nothing to round. */
export function isOver(part: number, whole: number, share: Share): boolean {
  return part * share.denominator > share.numerator * whole;
}

/** In the largest unit that leaves no remainder, as `parseDuration` reads it. */
export function formatDuration(ms: number): string {
  return formatAmount(ms, DURATIONS);
}

/** In the largest unit that leaves no remainder, as `parseSize` reads it. */
export function formatSize(bytes: number): string {
  return formatAmount(bytes, SIZES);
}

export function formatShare(share: Share): string {
  return `${(share.numerator * 100) / share.denominator}%`;
}

function parseAmount(text: string, shape: RegExp, units: Readonly<Record<string, number>>): number | null {
  const [, count, unit = ""] = shape.exec(text) ?? [];
  const amount = Number(count) * (units[unit] ?? 0);
  return amount > 0 && Number.isSafeInteger(amount) ? amount : null;
}

function formatAmount(amount: number, units: Readonly<Record<string, number>>): string {
  const [unit, size] = Object.entries(units).findLast(([, size]) => amount % size === 0) ?? ["", 1];
  return `${amount / size}${unit}`;
}
