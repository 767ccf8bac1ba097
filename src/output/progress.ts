import { formatCount, formatElapsed } from "../format.ts";
import type { ObservedEvent } from "../sync/run-types.ts";
import { truncate } from "./table.ts";

/** A terminal with a line that is redrawn. */
export interface Screen {
  readonly terminal: { readonly columns: number };
  /** Writes raw text. */
  readonly draw: (text: string) => void;
}

/** Overwrites the line before clearing its rest, because clearing it first would flicker. */
function drawLine({ terminal, draw }: Screen, text: string): void {
  draw(`\r${truncate(text, Math.max(10, terminal.columns - 1))}\x1b[K`);
}

export function clearLine({ draw }: Pick<Screen, "draw">): void {
  draw("\r\x1b[K");
}

const REDRAW_MS = 200;
const LOG_EVERY_MS = 30_000;

/** Shows a text and the time since the start: redraws a line of a terminal, or without one calls `log` now and then. */
export function createStatusLine(screen: Screen | null, log: (text: string) => void) {
  const startedAt = performance.now();
  let shownAt = startedAt;
  let isDrawn = false;
  return {
    show(text: string): void {
      const now = performance.now();
      if (now - shownAt < (screen === null ? LOG_EVERY_MS : REDRAW_MS)) return;
      shownAt = now;
      isDrawn = screen !== null;
      const timed = `${text}, ${formatElapsed(now - startedAt)}`;
      if (screen === null) log(timed);
      else drawLine(screen, timed);
    },
    /** Clears the line. */
    end(): void {
      if (screen !== null && isDrawn) clearLine(screen);
    },
  };
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

/**
 * Shows a run's progress and its waits for the service: redraws a terminal line five times per second. Without a terminal,
 * logs the progress every 30 seconds, and each wait once.
 */
export function createProgressLine(
  screen: Screen | null,
  log: { progress(progress: Progress): void; waiting(text: string): void },
) {
  const waits = createServiceWaits();
  let progress: Progress = { done: 0, total: 0, failed: 0, elapsedMs: 0 };
  let startedAt = 0;
  let isDrawn = false;
  let loggedAt = Number.NEGATIVE_INFINITY;
  let loggedWait = Number.NEGATIVE_INFINITY;

  const current = () => ({ ...progress, elapsedMs: performance.now() - startedAt });
  const clear = () => {
    if (screen !== null && isDrawn) clearLine(screen);
    isDrawn = false;
  };
  const draw = (to: Screen) => {
    const wait = waits.current(SHOWN_WAIT_MS);
    const parts = [wait?.text ?? null, progress.total === 0 ? null : formatProgress(current())];
    const text = parts.filter((part) => part !== null).join("; ");
    if (text === "") return clear();
    drawLine(to, text);
    isDrawn = true;
  };
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
  const timer = screen === null ? setInterval(write, 1_000) : setInterval(() => draw(screen), REDRAW_MS);
  timer.unref();
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
    end() {
      clearInterval(timer);
      clear();
    },
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
