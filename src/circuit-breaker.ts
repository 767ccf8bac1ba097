import { type ContentError, SourceUnavailableError } from "./errors.ts";

/** After this many consecutive failures by network, time-out, throttling or 5xx, the service may be down. */
const THRESHOLD = 20;

/** A circuit breaker: ends the work on many libraries when the service, not a single library, fails. */
export interface CircuitBreaker {
  /** A library was read, or its failure had another cause. */
  reset(): void;
  /** A library failed because the service was unavailable. `failedBefore`: its last read failed too, so it may be broken itself. */
  countFailure(failedBefore: boolean): void;
  /** True after each twenty consecutive failures, whichever libraries they are of. */
  isDoubtful(): boolean;
  /** @throws SourceUnavailableError after twenty failures of libraries that did not fail before; `advice` ends its message */
  assertClosed(lastError: ContentError, advice: string): void;
}

export function createCircuitBreaker(): CircuitBreaker {
  let failures = 0;
  let newFailures = 0;
  return {
    reset() {
      failures = 0;
      newFailures = 0;
    },
    countFailure(failedBefore) {
      failures += 1;
      if (!failedBefore) newFailures += 1;
    },
    isDoubtful: () => failures > 0 && failures % THRESHOLD === 0,
    assertClosed(lastError, advice) {
      if (newFailures < THRESHOLD) return;
      throw new SourceUnavailableError(
        `${THRESHOLD} libraries in a row could not be read, so the service is considered down (the last: ${lastError.message})${advice}`,
        { cause: lastError },
      );
    },
  };
}
