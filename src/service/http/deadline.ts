import { MAX_TIMER_MS } from "../../async.ts";

/** Time that runs only while somebody waits, one at a time. */
export class Deadline {
  private left: number;
  private readonly onExpired: () => void;
  private since = 0;
  private timer: NodeJS.Timeout | undefined;
  private resume: (() => void) | null = null;

  constructor(ms: number, onExpired: () => void) {
    this.left = ms;
    this.onExpired = onExpired;
  }

  /** Waits for the next `wake`, at most as long as time is left. */
  wait(): Promise<void> {
    return new Promise((resolve) => {
      this.since = performance.now();
      this.resume = resolve;
      // A busy process runs a late timer before it reads what has long arrived: look at the sockets once more.
      this.timer = setTimeout(() => setImmediate(() => this.expire(resolve)), Math.min(this.left, MAX_TIMER_MS));
    });
  }

  /** The waiting is over, and `goOn` says when it returns. */
  wake(goOn: (resume: () => void) => void): void {
    if (this.resume === null) return;
    clearTimeout(this.timer);
    this.left -= performance.now() - this.since;
    goOn(this.resume);
    this.resume = null;
  }

  /** Leaves at most that much more. */
  hurry(ms: number): void {
    this.left = Math.min(this.left, ms);
  }

  private expire(waiting: () => void): void {
    if (this.resume === waiting) this.onExpired();
  }
}
