import { formatCount, formatElapsed } from "../format.ts";
import type { ObservedEvent } from "../sync/run-types.ts";
import { truncate } from "./table.ts";

/** A terminal with a line that is redrawn. */
export interface Screen {
  readonly terminal: { readonly columns: number };
  /** Writes raw text. */
  readonly draw: (text: string) => void;
}

export function clearLine({ draw }: Pick<Screen, "draw">): void {
  draw("\r\x1b[K");
}

const REDRAW_MS = 200;
const LOG_EVERY_MS = 30_000;

/** Draws a line five times per second; without a terminal, calls `write`. Returns the function that ends it and clears the line. */
function showRegularly(screen: Screen | null, format: () => string, write: () => void, writeMs: number) {
  let isDrawn = false;
  const drawLine = (to: Screen, text: string) => {
    // Overwritten before its rest is cleared, because clearing it first would flicker.
    if (text !== "") to.draw(`\r${truncate(text, Math.max(10, to.terminal.columns - 1))}\x1b[K`);
    else if (isDrawn) clearLine(to);
    isDrawn = text !== "";
  };
  const timer =
    screen === null ? setInterval(write, writeMs) : setInterval(() => drawLine(screen, format()), REDRAW_MS);
  timer.unref();
  return () => {
    clearInterval(timer);
    if (screen !== null) drawLine(screen, "");
  };
}

/** Shows a text and the time since the start, on a line of a terminal, or without one by `log`. */
export function createStatusLine(screen: Screen | null, log: (text: string) => void) {
  const startedAt = performance.now();
  let shown = "";
  const format = () => shown && `${shown}, ${formatElapsed(performance.now() - startedAt)}`;
  const end = showRegularly(screen, format, () => shown && log(format()), LOG_EVERY_MS);
  const show = (text: string) => {
    shown = text;
  };
  return { show, end };
}

/** The progress of a run, in libraries. */
export interface Progress {
  readonly done: number;
  readonly total: number;
  readonly failed: number;
  readonly elapsedMs: number;
}

export function formatProgress({ done, total, failed, elapsedMs }: Progress): string {
  const rate = done / Math.max(elapsedMs / 1000, 0.001);
  const leftMs = Math.max(1_000, ((total - done) / rate) * 1000);
  const left = done === 0 || done === total ? "" : `, ${formatElapsed(leftMs)} left`;
  const failures = failed === 0 ? "" : `, ${formatCount(failed)} failed`;
  const percent = total === 0 ? 100 : Math.floor((100 * done) / total);
  return `${formatCount(done)}/${formatCount(total)} libraries (${percent} %), ${rate < 10 ? Math.round(rate * 10) / 10 : formatCount(Math.round(rate))}/s${left}${failures}`;
}

/** A shorter wait is not shown. */
export const SHOWN_WAIT_MS = 1_000;
/** A shorter wait is not logged. */
export const LONG_WAIT_MS = 10_000;

/** Shows a run's progress and its waits for the service. Without a terminal, logs each wait once. */
export function createProgressLine(
  screen: Screen | null,
  log: { progress(progress: Progress): void; waiting(text: string): void },
) {
  const waits = createServiceWaits();
  let progress: Progress = { done: 0, total: 0, failed: 0, elapsedMs: 0 };
  let startedAt = 0;
  let loggedAt = Number.NEGATIVE_INFINITY;
  let loggedWait = Number.NEGATIVE_INFINITY;

  const current = () => ({ ...progress, elapsedMs: performance.now() - startedAt });
  const format = () =>
    [waits.current(SHOWN_WAIT_MS)?.text ?? "", progress.total === 0 ? "" : formatProgress(current())]
      .filter((part) => part !== "")
      .join("; ");
  const write = () => {
    if (progress.total > 0 && performance.now() - loggedAt >= LOG_EVERY_MS) {
      loggedAt = performance.now();
      log.progress(current());
    }
    const wait = waits.current(LONG_WAIT_MS);
    if (wait === null || wait.since === loggedWait) return;
    loggedWait = wait.since;
    log.waiting(wait.text);
  };
  return {
    observe(event: ObservedEvent) {
      waits.observe(event);
      if (event.kind === "planned" && event.toRead > 0) {
        progress = { ...progress, total: event.toRead };
        startedAt = performance.now();
        loggedAt = startedAt;
      }
      if (event.kind === "stored") progress = { ...progress, done: progress.done + 1 };
      if (event.kind === "failed") progress = { ...progress, done: progress.done + 1, failed: progress.failed + 1 };
    },
    /** Clears the line. */
    end: showRegularly(screen, format, write, 1_000),
  };
}

/** Follows the requests: which wait for the service is in progress? */
function createServiceWaits() {
  let inFlight = 0;
  let silentSince = 0;
  let pauses: { readonly since: number; readonly until: number; readonly reason: string }[] = [];
  let askedUntil = 0;
  return {
    observe(event: ObservedEvent): void {
      const now = performance.now();
      if (event.kind === "sent" && inFlight++ === 0) silentSince = now;
      if (event.kind === "ended") {
        inFlight--;
        silentSince = now;
      }
      if (event.kind === "throttled") askedUntil = now + event.waitMs;
      if (event.kind !== "retry" && event.kind !== "paced") return;
      const reason = event.kind === "retry" ? event.reason : "the rate of requests is limited";
      const pause = { since: now, until: now + event.delayMs, reason };
      pauses = [...pauses.filter(({ until }) => until > now), pause].sort((a, b) => a.until - b.until);
    },
    /** Returns the wait in progress if it takes at least this long. `since`, as `performance.now()`, identifies it. */
    current(leastMs: number) {
      const now = performance.now();
      const silentMs = now - silentSince;
      if (inFlight > 0) {
        if (silentMs < leastMs) return null;
        return {
          text: `waiting for the service: no complete answer for ${formatElapsed(silentMs)}`,
          since: silentSince,
        };
      }
      const first = pauses.find(({ until }) => until > now);
      if (first === undefined || first.until - first.since < leastMs) return null;
      const { since, until, reason } = first;
      const why = now < askedUntil ? " (Retry-After)" : "";
      return { text: `waiting for the service: ${reason}; next request in ${formatElapsed(until - now)}${why}`, since };
    },
  };
}
