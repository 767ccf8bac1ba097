import { stripVTControlCharacters } from "node:util";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { createWorkLine } from "../../src/cli/show-progress.ts";
import { loadConfig } from "../../src/config.ts";
import { createProgressLine, formatProgress } from "../../src/output/progress.ts";
import { widthOf } from "../../src/output/table.ts";
import { createContext } from "../support/call-cli.ts";

const silent = { progress: () => {}, waiting: () => {} };

/** The line on a terminal of this width, and all that it has drawn. */
function lineOf(columns: number) {
  let drawn = "";
  const line = createProgressLine({ terminal: { columns }, draw: (text) => (drawn += text) }, silent);
  const shows = (text: string) => expect(drawn.slice(drawn.lastIndexOf("\r"))).toBe(`\r${text}\u001b[K`);
  return { line, drawn: () => drawn, shows };
}

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

test("estimates the remaining time from the rate so far", () => {
  expect(formatProgress({ done: 250, total: 1_000, failed: 0, elapsedMs: 10_000 })).toBe(
    "250/1,000 libraries (25 %), 25/s, 30 s left",
  );
  expect(formatProgress({ done: 0, total: 1_000, failed: 0, elapsedMs: 10_000 })).toBe("0/1,000 libraries (0 %), 0/s");
  expect(formatProgress({ done: 1_000, total: 1_000, failed: 7, elapsedMs: 10_000 })).toBe(
    "1,000/1,000 libraries (100 %), 100/s, 7 failed",
  );
  expect(formatProgress({ done: 999, total: 1_000, failed: 0, elapsedMs: 10_000 })).toBe(
    "999/1,000 libraries (99 %), 100/s, 1.0 s left",
  );
  expect(formatProgress({ done: 3, total: 30, failed: 0, elapsedMs: 8_000 })).toBe(
    "3/30 libraries (10 %), 0.4/s, 1 min 12 s left",
  );
});

test("on a terminal it overwrites one line that fits the width, and clears it at the end", () => {
  const { line, drawn } = lineOf(24);
  const key = { owner: "ann", name: "A" };
  line.observe({ kind: "planned", listed: 5, toRead: 4, skipped: 1 });
  vi.advanceTimersByTime(199);
  expect(drawn()).toBe("");
  line.observe({ kind: "stored", key });
  vi.advanceTimersByTime(1);
  expect(drawn()).toBe("\r1/4 libraries (25 %), …\u001b[K");
  line.observe({ kind: "failed", key, code: "timeout", message: "" });
  vi.advanceTimersByTime(200);
  line.end();
  expect(drawn().endsWith("\r2/4 libraries (50 %), …\u001b[K\r\u001b[K")).toBe(true);
  expect(drawn()).not.toContain("\n");
  const ended = drawn();
  vi.advanceTimersByTime(10_000);
  expect(drawn()).toBe(ended);
});

test("a line with wide characters fits the width too (fault 234)", () => {
  const { line, drawn } = lineOf(60);
  line.observe({ kind: "planned", listed: 5, toRead: 4, skipped: 1 });
  const reason = "answered 503 (it said 「混雑しています。しばらくしてからもう一度お試しください」)";
  line.observe({ kind: "retry", operation: "listing", delayMs: 5_000, reason });
  vi.advanceTimersByTime(200);
  line.end();
  expect(drawn()).toContain("混雑");
  const shown = drawn()
    .split("\r")
    .map((text) => stripVTControlCharacters(text));
  expect(Math.max(...shown.map(widthOf))).toBeLessThan(60);
});

test("without a terminal it logs a line at intervals", () => {
  const logged: number[] = [];
  const line = createProgressLine(null, { ...silent, progress: ({ done }) => logged.push(done) });
  line.observe({ kind: "planned", listed: 5, toRead: 4, skipped: 1 });
  line.observe({ kind: "stored", key: { owner: "ann", name: "A" } });
  vi.advanceTimersByTime(60_000);
  line.end();
  expect(logged).toEqual([1, 1]);
});

test("on a terminal it names each wait for the service that takes over a second (fault 149)", () => {
  const { line, drawn, shows } = lineOf(120);
  line.observe({ kind: "sent" });
  vi.advanceTimersByTime(800);
  expect(drawn()).toBe("");
  vi.advanceTimersByTime(2_200);
  shows("waiting for the service: no complete answer for 3.0 s");
  line.observe({ kind: "ended" });
  line.observe({ kind: "throttled", operation: "listing", waitMs: 30_000 });
  line.observe({ kind: "retry", operation: "listing", reason: "answered 429", delayMs: 30_000 });
  vi.advanceTimersByTime(10_000);
  shows("waiting for the service: answered 429; next request in 20 s (Retry-After)");
  vi.advanceTimersByTime(20_000);
  shows("");

  line.observe({ kind: "planned", listed: 5, toRead: 4, skipped: 1 });
  line.observe({ kind: "sent" });
  line.observe({ kind: "sent" });
  vi.advanceTimersByTime(1_000);
  line.observe({ kind: "ended" });
  vi.advanceTimersByTime(800);
  shows("0/4 libraries (0 %), 0/s");
  vi.advanceTimersByTime(1_200);
  shows("waiting for the service: no complete answer for 2.0 s; 0/4 libraries (0 %), 0/s");
  line.end();
});

test("of several waits for repetitions it names the one that ends first (faults 351, 354)", () => {
  const { line, shows } = lineOf(120);
  line.observe({ kind: "retry", operation: "metadata", reason: "answered 503", delayMs: 5_000 });
  line.observe({ kind: "retry", operation: "scenarios", reason: "answered 500", delayMs: 60_000 });
  vi.advanceTimersByTime(3_000);
  shows("waiting for the service: answered 503; next request in 2.0 s");
  vi.advanceTimersByTime(3_000);
  shows("waiting for the service: answered 500; next request in 54 s");
  line.observe({ kind: "paced", delayMs: 8_000 });
  vi.advanceTimersByTime(3_000);
  shows("waiting for the service: the rate of requests is limited; next request in 5.0 s");
  line.end();
});

test("without a terminal it logs each wait for the service of ten seconds once (fault 149)", () => {
  const waits: string[] = [];
  const line = createProgressLine(null, { ...silent, waiting: (text) => waits.push(text) });
  line.observe({ kind: "sent" });
  vi.advanceTimersByTime(9_000);
  expect(waits).toEqual([]);
  vi.advanceTimersByTime(20_000);
  line.observe({ kind: "ended" });
  line.observe({ kind: "retry", operation: "listing", reason: "timed out", delayMs: 9_000 });
  vi.advanceTimersByTime(9_000);
  line.observe({ kind: "sent" });
  vi.advanceTimersByTime(11_000);
  line.end();
  expect(waits).toEqual(Array(2).fill("waiting for the service: no complete answer for 10 s"));
});

test("an export or a prune is drawn on a terminal, logged without one, and silent if quiet (fault 299)", () => {
  const show = (isErr: boolean, SIMCAT_LOG_LEVEL: string) => {
    const context = createContext({});
    const config = loadConfig({ SIMCAT_LOG_LEVEL, SIMCAT_LOG_FORMAT: "json" }, { service: false, database: true });
    const line = createWorkLine({ ...context, terminal: { ...context.terminal, isErr } }, config, "prune_progress");
    line.show("9 rows deleted");
    vi.advanceTimersByTime(30_000);
    line.end();
    return context.stderr();
  };
  expect(show(true, "info").endsWith("\r9 rows deleted, 30 s\u001b[K\r\u001b[K")).toBe(true);
  expect(JSON.parse(show(false, "info"))).toMatchObject({ code: "prune_progress", msg: "9 rows deleted, 30 s" });
  expect([show(true, "warn"), show(false, "warn")]).toEqual(["", ""]);
});
