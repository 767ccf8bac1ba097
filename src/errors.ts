import type { FailedLibrary, LibraryKey, Reject, RunStatus } from "./model.ts";

/** The documented exit codes. */
export const EXIT = {
  ok: 0,
  failed: 1,
  partial: 2,
  held: 3,
  usage: 64,
  sourceUnavailable: 69,
  databaseFailed: 69,
  busy: 75,
  sourceUntrusted: 76,
  unauthorized: 77,
  configuration: 78,
  hungUp: 129,
  interrupted: 130,
  terminated: 143,
} as const;

/**
 * An ending that was foreseen. The message says what was tried, what came back and what to do;
 * the top prints it without a stack trace. Everything else that is thrown is a bug or an accident (exit 1).
 */
export abstract class SimcatError extends Error {
  abstract readonly exitCode: number;
  /** Stable name of this ending in log lines. */
  abstract readonly code: string;
  /** The status of the run that ends so; null where no run row is written. */
  abstract readonly status: RunStatus | null;
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = new.target.name;
  }
}

/** A wrong command line, or a library or owner that is neither listed nor stored. Leaves no run row. */
export class UsageError extends SimcatError {
  readonly exitCode = EXIT.usage;
  readonly code = "usage";
  readonly status = null;
}

/** Environment or schema that does not let simcat work. Holds every problem found. */
export class ConfigurationError extends SimcatError {
  readonly exitCode = EXIT.configuration;
  readonly code = "configuration";
  readonly status = "failed" as const;
}

/** The service did not answer: network, TLS, truncation, time-out, 408, 429 or 5xx after all retries. */
export class SourceUnavailableError extends SimcatError {
  readonly exitCode = EXIT.sourceUnavailable;
  readonly code = "source_unavailable";
  readonly status = "source_unavailable" as const;
}

/** The listing answered something that cannot be the service's. */
export class SourceUntrustedError extends SimcatError {
  readonly exitCode = EXIT.sourceUntrusted;
  readonly code = "source_untrusted";
  readonly status = "source_untrusted" as const;
}

/** The service refused the key. */
export class UnauthorizedError extends SimcatError {
  readonly exitCode = EXIT.unauthorized;
  readonly code = "unauthorized";
  readonly status = "unauthorized" as const;
}

/** The database could not be reached, or refused what a run needs. */
export class DatabaseError extends SimcatError {
  readonly exitCode = EXIT.databaseFailed;
  readonly code = "database_failed";
  readonly status = "database_failed" as const;
}

/** Another run holds the lease. */
export class BusyError extends SimcatError {
  readonly exitCode = EXIT.busy;
  readonly code = "busy";
  readonly status = null;
}

/** Another run took the lease from this one, which therefore wrote nothing more. */
export class LostLeaseError extends SimcatError {
  readonly exitCode = EXIT.busy;
  readonly code = "lost_lease";
  readonly status = "lost_lease" as const;
}

/** The exit code of an interruption by each signal that stops a command in order: 128 and the signal's number. */
export const STOP_SIGNALS = { SIGHUP: EXIT.hungUp, SIGINT: EXIT.interrupted, SIGTERM: EXIT.terminated } as const;

export type StopSignal = keyof typeof STOP_SIGNALS;

/** A signal asked us to stop. */
export class InterruptedError extends SimcatError {
  readonly code = "interrupted";
  readonly status = "interrupted" as const;
  readonly exitCode: number;
  constructor(signal: StopSignal, options?: ErrorOptions) {
    super(`stopped by ${signal}; what was stored stays, and the next run goes on from there`, options);
    this.exitCode = STOP_SIGNALS[signal];
  }
}

/**
 * One library's content could not be read. Not an ending: the run goes on, keeps what is stored of that library,
 * and reads it again next time.
 */
export class ContentError extends Error {
  readonly code: ContentErrorCode;
  /** Network, time-out or 5xx: counts towards the breaker (twenty libraries in a row end the run). */
  readonly unavailable: boolean;
  /** What the answer held that is worth keeping. */
  readonly rejects: readonly Reject[];
  constructor(code: ContentErrorCode, message: string, options: ErrorOptions & { rejects?: readonly Reject[] } = {}) {
    super(message, options);
    this.rejects = options.rejects ?? [];
    this.name = "ContentError";
    this.code = code;
    this.unavailable = code === "network" || code === "timeout" || code === "truncated" || code === "server_error";
  }

  /** The failure as it is counted, logged and stored. `mask` takes the secrets out of the message. */
  toFailedLibrary(key: LibraryKey, mask: (message: string) => string): FailedLibrary {
    return { key, code: this.code, message: mask(this.message), rejects: this.rejects };
  }
}

export type ContentErrorCode =
  | "network"
  | "timeout"
  | "truncated"
  | "server_error"
  | "throttled"
  | "unauthorized"
  | "not_found"
  | "client_error"
  | "invalid_response"
  | "too_large"
  | "all_rejected"
  | "drift"
  | "mismatched"
  | "rejected_by_database";

/** Returns whether an error of the system or of Postgres has one of these codes. */
export function hasErrorCode(error: unknown, ...codes: string[]): boolean {
  return error instanceof Error && "code" in error && codes.some((code) => code === error.code);
}
