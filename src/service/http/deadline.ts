import { MAX_TIMER_MS } from "../../async.ts";

/** A time limit that runs only while the one caller waits. */
export class Deadline {
  #remainingMs: number;
  readonly #onExpired: () => void;
  #waitingSince = 0;
  #timer: NodeJS.Timeout | undefined;
  #resolve: (() => void) | null = null;

  constructor(ms: number, onExpired: () => void) {
    this.#remainingMs = ms;
    this.#onExpired = onExpired;
  }

  /** Resolves at the next `wake`. Calls `onExpired` if the time runs out first. */
  wait(): Promise<void> {
    return new Promise((resolve) => {
      this.#waitingSince = performance.now();
      this.#resolve = resolve;
      // A busy process runs a late timer before it reads bytes that arrived long ago: read the sockets once more.
      const onTimeout = () => setImmediate(() => this.#expire(resolve));
      this.#timer = setTimeout(onTimeout, Math.min(this.#remainingMs, MAX_TIMER_MS));
    });
  }

  /** Ends the wait. `schedule` decides when the caller continues. */
  wake(schedule: (resolve: () => void) => void): void {
    if (this.#resolve === null) return;
    clearTimeout(this.#timer);
    this.#remainingMs -= performance.now() - this.#waitingSince;
    schedule(this.#resolve);
    this.#resolve = null;
  }

  shorten(ms: number): void {
    this.#remainingMs = Math.min(this.#remainingMs, ms);
  }

  #expire(resolve: () => void): void {
    if (this.#resolve === resolve) this.#onExpired();
  }
}
