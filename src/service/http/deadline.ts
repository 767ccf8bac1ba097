import { LONGEST_TIMER } from "./sleep.ts";

/** Time that runs only while somebody waits. */
export interface Deadline {
  /** Waits for the next `wake`, at most as long as time is left. One at a time. */
  wait(): Promise<void>;
  wake(): void;
  /** Leaves at most that much more. */
  hurry(ms: number): void;
}

export function startDeadline(ms: number, onExpired: () => void): Deadline {
  let left = ms;
  let wake: (() => void) | null = null;

  function wait(): Promise<void> {
    return new Promise((resolve) => {
      const since = performance.now();
      // A busy process runs a late timer before it reads what has long arrived: look at the sockets once more.
      const timer = setTimeout(() => setImmediate(expire), Math.min(left, LONGEST_TIMER));
      function awake(): void {
        wake = null;
        clearTimeout(timer);
        left -= performance.now() - since;
        resolve();
      }
      function expire(): void {
        if (wake === awake) onExpired();
      }
      wake = awake;
    });
  }

  return {
    wait,
    wake: () => wake?.(),
    hurry(most) {
      left = Math.min(left, most);
    },
  };
}
