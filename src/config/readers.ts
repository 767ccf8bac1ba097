import { createRequire } from "node:module";
import { DAY_MS, parseDuration, parseShare, parseSize, type Share } from "../units.ts";
import type { Reading } from "./urls.ts";

/** Timers of Node overflow, and fire at once, beyond 24.8 days. */
const LONGEST_TIMER_MS = 24 * DAY_MS;
const LONGEST_MS = 3650 * DAY_MS;
const LARGEST_BODY = 2 ** 40;

/** What a setting's text means. The problem is told behind its name and value. */
export type Reader<T> = (text: string) => Reading<T>;

export function wholeNumber(from: number, to: number): Reader<number> {
  return (text) => {
    const value = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
    return value >= from && value <= to ? { value } : expected(text, `a whole number from ${from} to ${to}`);
  };
}

export const timer: Reader<number> = (text) => {
  const value = parseDuration(text);
  if (value !== null && value <= LONGEST_TIMER_MS) return { value };
  return expected(text, "a duration of at most 24d, such as 500ms, 60s, 15m or 24h");
};

export const interval: Reader<number> = (text) => {
  const value = parseDuration(text);
  return value !== null && value <= LONGEST_MS ? { value } : expected(text, "a duration such as 15m, 24h or 7d");
};

export const size: Reader<number> = (text) => {
  const value = parseSize(text);
  return value !== null && value <= LARGEST_BODY ? { value } : expected(text, "a size such as 64KiB, 512MiB or 1GiB");
};

export const share: Reader<Share> = (text) => {
  const value = parseShare(text);
  return value !== null ? { value } : expected(text, "a share from 0% to 100%");
};

export const flag: Reader<boolean> = (text) => {
  return text === "true" || text === "false" ? { value: text === "true" } : expected(text, "true or false");
};

export const timeZone: Reader<string> = (text) => {
  // The first formatter of a process takes as long as to read all other settings.
  if (text === "UTC") return { value: text };
  try {
    return { value: new Intl.DateTimeFormat("en-US", { timeZone: text }).resolvedOptions().timeZone && text };
  } catch {
    return expected(text, "the name of a time zone, such as UTC or Europe/Berlin");
  }
};

/** Loaded for those who set a schedule: no command but the worker needs it. */
const loadScheduler = () => createRequire(import.meta.url)("node-cron") as typeof import("node-cron");

export const cronSchedule: Reader<string> = (text) => {
  const { validateDetailed, createTask } = loadScheduler();
  const expression = "a cron expression such as */15 * * * *";
  const [wrong] = validateDetailed(text).errors;
  if (wrong) return expected(text, `${expression}; its ${wrong.field} cannot be read (${shorten(wrong.message)})`);
  const task = createTask(text, () => {});
  try {
    task.getNextRuns(1);
    return { value: text };
  } catch {
    return expected(text, `${expression}; this one never comes due: no day of the next hundred years is like that`);
  } finally {
    // node-cron keeps every task in a registry until it is destroyed. The worker reads its settings before every run.
    void task.destroy();
  }
};

/** A path segment of the service's URLs: `.` and `..` would lead elsewhere. */
export const ownerName: Reader<string> = (text) => {
  const isAddressable = text !== "." && text !== ".." && text.isWellFormed() && !text.includes("\0");
  return isAddressable ? { value: text } : expected(text, "the name of an owner");
};

export const anyText: Reader<string> = (text) => ({ value: text });

export function oneOf<const T extends string>(...choices: readonly T[]): Reader<T> {
  return (text) => {
    const value = choices.find((choice) => choice === text);
    return value !== undefined ? { value } : expected(text, `one of ${choices.join(", ")}`);
  };
}

function expected(text: string, what: string): { readonly problem: string } {
  return { problem: `is ${JSON.stringify(shorten(text))}; expected ${what}` };
}

function shorten(text: string): string {
  return text.length > 60 ? `${text.slice(0, 60)}…` : text;
}
