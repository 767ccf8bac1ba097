import { MAX_TIMER_MS } from "../../async.ts";
import type { Congestion } from "./congestion.ts";
import type { StopSignal } from "./life.ts";
import type { Pacer } from "./pacer.ts";

/** Lets requests leave: first come, first served, so many in flight, evenly spaced, and none during a pause. */
export interface Limiter {
  /** Resolves when the request may leave; then `leave` must follow. Rejects with the signal's reason. */
  enter(signal: StopSignal): Promise<void>;
  leave(): void;
  /** Nobody leaves before this moment of `performance.now()`. A shorter pause does not shorten a longer one. */
  pauseUntil(moment: number): void;
  paused(): boolean;
  /** Forgets the timer, so that nothing keeps the process alive. */
  close(): void;
}

export function openLimiter(congestion: Congestion, pacer: Pacer): Limiter {
  const waiting = new Set<() => void>();
  let inFlight = 0;
  let pausedUntil = 0;
  let lastStart = Number.NEGATIVE_INFINITY;
  let stopAlarm = () => {};

  /** Timers know milliseconds only, and may be early: the last part of one is waited for by looking. */
  function wakeIn(ms: number): void {
    if (ms >= 1) {
      const timer = setTimeout(admit, Math.min(Math.floor(ms), MAX_TIMER_MS));
      stopAlarm = () => clearTimeout(timer);
    } else {
      const immediate = setImmediate(admit);
      stopAlarm = () => clearImmediate(immediate);
    }
  }

  function admit(): void {
    stopAlarm();
    while (inFlight < congestion.limit()) {
      const [next] = waiting;
      if (next === undefined) return;
      const now = performance.now();
      const opens = Math.max(pausedUntil, lastStart + pacer.spacing());
      if (opens > now) {
        wakeIn(opens - now);
        return;
      }
      waiting.delete(next);
      inFlight++;
      lastStart = now;
      next();
    }
  }

  return {
    enter(signal) {
      return new Promise((resolve, reject) => {
        if (signal.aborted) return reject(signal.reason);
        const onAbort = () => {
          waiting.delete(start);
          reject(signal.reason);
        };
        const start = () => {
          signal.removeEventListener("abort", onAbort);
          resolve();
        };
        signal.addEventListener("abort", onAbort);
        waiting.add(start);
        admit();
      });
    },
    leave() {
      inFlight--;
      admit();
    },
    pauseUntil(moment) {
      if (moment <= pausedUntil) return;
      pausedUntil = moment;
      congestion.slowStart();
      pacer.paused();
    },
    paused: () => performance.now() < pausedUntil,
    close: () => stopAlarm(),
  };
}
