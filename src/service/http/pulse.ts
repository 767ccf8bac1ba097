/** Whether anything succeeds at all, while the service asks us to wait. */
export interface Pulse {
  /** Requests that succeeded, ever. */
  successes(): number;
  succeeded(): void;
  asked(now: number): void;
  /** Since when the service asks to wait without one success in between; null while it does not. */
  askedSince(): number | null;
}

export function openPulse(): Pulse {
  let successes = 0;
  let since: number | null = null;
  return {
    successes: () => successes,
    succeeded() {
      successes++;
      since = null;
    },
    asked(now) {
      since ??= now;
    },
    askedSince: () => since,
  };
}
