import { type ContentError, SourceUnavailableError } from "./errors.ts";

/** After this many consecutive failures by network, time-out, throttling or 5xx, the service may be down. */
const THRESHOLD = 20;

/** A circuit breaker: ends the work on many libraries when the service, not a single library, fails. */
export class CircuitBreaker {
  #failures = 0;
  #newFailures = 0;

  /** A library was read, or its failure had another cause. */
  reset(): void {
    this.#failures = 0;
    this.#newFailures = 0;
  }

  /** `open` after twenty failures of libraries that did not fail before, `doubtful` after each twenty of any libraries. */
  addFailure(failedBefore: boolean): "closed" | "doubtful" | "open" {
    this.#failures += 1;
    if (!failedBefore) this.#newFailures += 1;
    if (this.#newFailures >= THRESHOLD) return "open";
    return this.#failures % THRESHOLD === 0 ? "doubtful" : "closed";
  }
}

const MANY_FAILED = `${THRESHOLD} libraries in a row could not be read`;

/** The error of a service that counts as down. `advice` ends its message; `found` begins it, by default for an open circuit breaker. */
export function outageError(last: ContentError, advice: string, found = MANY_FAILED): SourceUnavailableError {
  return new SourceUnavailableError(
    `${found}, so the service is considered down (the last: ${last.message})${advice}`,
    { retryAfterMs: last.retryAfterMs, cause: last },
  );
}
