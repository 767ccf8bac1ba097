import type { IncomingHttpHeaders } from "node:http";

/** Status and headers of an answer. */
export interface Head {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** Local monotonic time at which its request was handed to the connection. */
  readonly sentAt: number;
}

export type FailureKind =
  | "status"
  | "network"
  | "certificate"
  | "timeout"
  | "truncated"
  | "untrusted"
  | "too_large"
  /** The proxy refused, and will refuse again. */
  | "proxy_refused"
  /** This machine has no file descriptor left for a connection. */
  | "too_many_files";

interface FailureOptions {
  readonly detail?: string;
  readonly hint?: string;
  readonly head?: Head;
  readonly stale?: boolean;
  readonly cause?: unknown;
}

/** One attempt at a GET brought no answer that can be believed. */
export class AttemptFailure extends Error {
  readonly kind: FailureKind;
  /** Goes on from "GET …": `answered 503`, `timed out`. */
  readonly verb: string;
  /** What stands in brackets behind it; empty for nothing. */
  readonly detail: string;
  /** What to do, where the failure itself shows it; else empty. */
  readonly hint: string;
  /** The answer whose status was not 200; null for every other kind. */
  readonly head: Head | null;
  /** A kept-alive connection turned out to be closed before any byte of an answer: nobody's fault. */
  readonly stale: boolean;
  constructor(
    kind: FailureKind,
    verb: string,
    { detail = "", hint = "", head, stale = false, cause }: FailureOptions = {},
  ) {
    super(detail === "" ? verb : `${verb} (${detail})`, cause === undefined ? undefined : { cause });
    this.name = "AttemptFailure";
    this.kind = kind;
    this.verb = verb;
    this.detail = detail;
    this.hint = hint;
    this.head = head ?? null;
    this.stale = stale;
  }
}

/** The request was called back before it left: a pause had begun while it waited for its connection. */
export class HeldBack extends Error {
  constructor() {
    super("held back: the service asked for a pause");
    this.name = "HeldBack";
  }
}
