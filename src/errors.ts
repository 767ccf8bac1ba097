import type { FailedLibrary, LibraryKey, Reject } from "./model.ts";

/** The documented exit codes by their names, which are also codes of errors and statuses of runs. */
export const EXIT = {
  ok: 0,
  failed: 1,
  output_failed: 1,
  partial: 2,
  held: 3,
  usage: 64,
  source_unavailable: 69,
  database_failed: 69,
  busy: 75,
  lost_lease: 75,
  source_untrusted: 76,
  unauthorized: 77,
  configuration: 78,
  hung_up: 129,
  interrupted: 130,
  terminated: 143,
} as const;

interface ErrorDetails extends ErrorOptions {
  /** The action that solves it, as an imperative. */
  readonly hint?: string | null;
}

/** An expected failure, printed without a stack trace. Any other error is a bug or a fault of the machine (exit 1). */
export abstract class SimcatError extends Error {
  /** Stable name of this failure in log lines. A run that ends with it has it as its status, if it is one. */
  abstract readonly code: keyof typeof EXIT;
  /** The failure with its place and numbers. `message` is the summary and the hint in one line. */
  readonly summary: string;
  /** The action that solves it; null if there is nothing to add to the summary. */
  readonly hint: string | null;

  constructor(summary: string, { hint = null, ...options }: ErrorDetails = {}) {
    super(hint === null ? summary : `${summary}; ${hint}`, options);
    this.name = new.target.name;
    this.summary = summary;
    this.hint = hint;
  }

  get exitCode(): number {
    return EXIT[this.code];
  }
}

/** A wrong command line, or a library or owner that is neither listed nor stored. Leaves no run row. */
export class UsageError extends SimcatError {
  readonly code = "usage";
}

/** An environment, a directory or a database schema that simcat cannot work with. */
export class ConfigurationError extends SimcatError {
  readonly code = "configuration";
}

/** Standard output cannot be written: its disk is full, for example. */
export class OutputError extends SimcatError {
  readonly code = "output_failed";
}

/** The service did not respond after all retries: network, TLS, truncation, time-out, 408, 429 or 5xx. */
export class SourceUnavailableError extends SimcatError {
  readonly code = "source_unavailable";
  /** How long the service asked to wait, in milliseconds; null if it did not. */
  readonly retryAfterMs: number | null;

  constructor(summary: string, details: ErrorDetails & { readonly retryAfterMs?: number | null } = {}) {
    const { retryAfterMs = null, ...options } = details;
    super(summary, options);
    this.retryAfterMs = retryAfterMs;
  }
}

/** The response to the listing cannot be from the Simulation Cloud API. */
export class SourceUntrustedError extends SimcatError {
  readonly code = "source_untrusted";
}

/** The service rejected the API key. */
export class UnauthorizedError extends SimcatError {
  readonly code = "unauthorized";
}

/** The database is unreachable, or refused a statement that a run needs. */
export class DatabaseError extends SimcatError {
  readonly code: "database_failed" | "configuration" = "database_failed";
}

/** A table, a column or a schema of simcat does not exist, as `migrate` and `check` show it too. */
export class MissingObjectError extends DatabaseError {
  override readonly code = "configuration";
}

/** Another run holds the lease. */
export class BusyError extends SimcatError {
  readonly code = "busy";
}

/** Another run took the lease from this one, which wrote nothing after that. */
export class LostLeaseError extends SimcatError {
  readonly code = "lost_lease";

  constructor() {
    const cause =
      "another run took over the lease, because this one had not renewed it in time, or a migration ended it";
    super(`${cause}; this one wrote nothing more. Run: simcat status`);
  }
}

/** The signals that stop a command, with its exit code: 128 plus the signal's number. */
export const STOP_SIGNALS = { SIGHUP: EXIT.hung_up, SIGINT: EXIT.interrupted, SIGTERM: EXIT.terminated } as const;

export type SignalName = keyof typeof STOP_SIGNALS;

/** A signal asked the command to stop. */
export class InterruptedError extends SimcatError {
  readonly code = "interrupted";
  readonly #signal: SignalName;

  constructor(signal: SignalName) {
    super(`stopped by ${signal}`, { hint: "what was stored stays; simcat status says how to continue" });
    this.#signal = signal;
  }

  override get exitCode(): number {
    return STOP_SIGNALS[this.#signal];
  }
}

/** Why content could not be stored, and whether it was received: `unavailable` and `unread` mean that it was not. */
const CONTENT_ERRORS = {
  network: "unavailable",
  timeout: "unavailable",
  truncated: "unavailable",
  throttled: "unavailable",
  server_error: "unavailable",
  unauthorized: "unread",
  not_found: "unread",
  client_error: "unread",
  invalid_response: "unread",
  too_large: "unread",
  all_rejected: "read",
  drift: "read",
  mismatched: "read",
  rejected_by_database: "read",
} as const;

export type ContentErrorCode = keyof typeof CONTENT_ERRORS;

interface ContentErrorDetails extends ErrorOptions {
  readonly rejects?: readonly Reject[];
  readonly retryAfterMs?: number | null;
}

/** The content of one library could not be read or stored. What is stored stays, and the next run reads it again. */
export class ContentError extends Error {
  readonly code: ContentErrorCode;
  /** Network, time-out, throttling or 5xx: the service may be down. Any other failure is an answer about this library. */
  readonly unavailable: boolean;
  /** No content was received. With any other failure, it was received and cannot be stored. */
  readonly unread: boolean;
  /** Items of the response to store as rejects. */
  readonly rejects: readonly Reject[];
  /** How long the service asked to wait, in milliseconds; null if it did not. */
  readonly retryAfterMs: number | null;

  constructor(code: ContentErrorCode, message: string, details: ContentErrorDetails = {}) {
    const { rejects = [], retryAfterMs = null, ...options } = details;
    super(message, options);
    this.rejects = rejects;
    this.retryAfterMs = retryAfterMs;
    this.name = "ContentError";
    this.code = code;
    this.unavailable = CONTENT_ERRORS[code] === "unavailable";
    this.unread = CONTENT_ERRORS[code] !== "read";
  }

  /** The failure as it is counted, logged and stored. `mask` takes the secrets out of the message. */
  toFailedLibrary(key: LibraryKey, mask: (message: string) => string): FailedLibrary {
    return { key, code: this.code, message: mask(this.message), rejects: this.rejects };
  }
}

/** Returns whether an error of the system or of Postgres has one of these codes. */
export function hasErrorCode(error: unknown, ...codes: string[]): boolean {
  return error instanceof Error && "code" in error && codes.some((code) => code === error.code);
}

/** The thrown value, or an error with its text if it is not an error. */
export function toError(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error(String(thrown));
}

/** The reason of a failed file operation, without the call and the path that Node adds: messages of simcat name the path. */
export const fileErrorReason = (error: unknown) => toError(error).message.replace(/, \w+(?: '.*)?$/s, "");
