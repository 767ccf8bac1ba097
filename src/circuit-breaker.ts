import { type ContentError, SourceUnavailableError } from "./errors.ts";

/** After this many consecutive failures by network, time-out or 5xx, the service is considered down. */
const THRESHOLD = 20;

/** A circuit breaker: ends the work on many libraries when the service, not a single library, fails. */
export interface CircuitBreaker {
  /** The service answered, or a failure had another cause. */
  reset(): void;
  /** A library failed because the service was unavailable. */
  countFailure(): void;
  /** @throws SourceUnavailableError if the threshold is reached; `advice` ends its message */
  assertClosed(lastError: ContentError, advice: string): void;
}

export function createCircuitBreaker(): CircuitBreaker {
  let failures = 0;
  return {
    reset() {
      failures = 0;
    },
    countFailure() {
      failures += 1;
    },
    assertClosed(lastError, advice) {
      if (failures < THRESHOLD) return;
      throw new SourceUnavailableError(
        `${THRESHOLD} libraries in a row could not be read, so the service is considered down (the last: ${lastError.message})${advice}`,
        { cause: lastError },
      );
    },
  };
}
