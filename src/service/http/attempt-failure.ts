import type { IncomingHttpHeaders } from "node:http";
import { hasErrorCode } from "../../errors.ts";
import { printable } from "../../printable.ts";
import { ProxyFailure } from "./connection-pool.ts";

/** Makes text of the service safe for a message: no secret, no control characters, at most 200 characters. */
export type Quote = (text: string) => string;

const MAX_LENGTH = 200;

export function createQuote(mask: (text: string) => string): Quote {
  return (text) => {
    const safe = printable(mask(text)).trim();
    return safe.length > MAX_LENGTH ? `${safe.slice(0, MAX_LENGTH).replace(/[\ud800-\udbff]$/, "")}…` : safe;
  };
}

/** Why an attempt failed. */
type FailureKind =
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
  | "too_many_files"
  /** The request was not sent, because a pause began while it waited for its connection. */
  | "deferred";

export function isRetryableStatus(status: number): boolean {
  return status === 408 || status === 429 || (status >= 500 && status < 600);
}

/** True if the status asks for fewer requests. 503 counts, because many rate limiters use it. */
export function isThrottled(status: number): boolean {
  return status === 429 || status === 503;
}

/** Status and headers of a response. */
export interface ResponseHead {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** Local monotonic time at which the request was passed to the connection pool. */
  readonly sentAt: number;
}

type FailureOptions = Partial<Pick<AttemptFailure, "detail" | "hint" | "head" | "retryAfterMs">>;

/** One attempt at a GET failed: no response, or one that cannot be accepted. */
export class AttemptFailure extends Error {
  readonly kind: FailureKind;
  /** Continues "GET …": `answered 503`, `timed out`. */
  readonly summary: string;
  /** Details for parentheses; may be empty. */
  readonly detail: string;
  /** Advice to the operator; empty if the failure does not show it. */
  readonly hint: string;
  /** The response if its status was not 200, otherwise null. */
  readonly head: ResponseHead | null;
  /** The delay that the response requested; null if it requested none. */
  readonly retryAfterMs: number | null;

  constructor(kind: FailureKind, summary: string, options: FailureOptions = {}) {
    const { detail = "", hint = "", head = null, retryAfterMs = null } = options;
    super(detail === "" ? summary : `${summary} (${detail})`);
    this.name = "AttemptFailure";
    this.kind = kind;
    this.summary = summary;
    this.detail = detail;
    this.hint = hint;
    this.head = head;
    this.retryAfterMs = retryAfterMs;
  }

  get status(): number | null {
    return this.head?.status ?? null;
  }
}

const CERTIFICATE_CODE =
  /CERT|^CRL_|^UNABLE_TO_|^INVALID_CA$|^INVALID_PURPOSE$|^PATH_LENGTH_EXCEEDED$|^HOSTNAME_MISMATCH$|^ERR_SSL_\w*UNKNOWN_CA/;
/** Other codes of undici, Node and TLS that mean a connection or proxy failed. Any other code is a bug in simcat. */
const NETWORK_CODE = /^(E(?!RR_)[A-Z0-9_]+|ERR_SSL_\w+|ERR_TLS_\w+|UND_ERR_(SOCKET|ABORTED|INFO|PRX_TLS))$/;

function codeOf(error: Error): string {
  return "code" in error && typeof error.code === "string" ? error.code : "";
}

/**
 * The error's message. One of OpenSSL names its source files, so only its reason is used. A host with several addresses
 * gives an AggregateError without a message: those of its errors are joined.
 */
function messageOf(error: Error): string {
  if (error instanceof AggregateError && error.message === "") return error.errors.map(String).join("; ");
  const isOpenSsl = codeOf(error).startsWith("ERR_SSL_") && "reason" in error;
  return isOpenSsl ? `TLS: ${error.reason}` : error.message;
}

function proxyFailure({ variable, host, reason, message }: ProxyFailure, quote: Quote): AttemptFailure {
  const isAnswer = typeof reason === "number";
  const isFinal = isAnswer ? !isRetryableStatus(reason) : CERTIFICATE_CODE.test(codeOf(reason));
  return new AttemptFailure(isFinal ? "proxy_refused" : "network", `failed at the proxy ${host}`, {
    detail: quote(isAnswer ? message : messageOf(reason) || codeOf(reason)),
    hint: `the service was not asked; check ${variable}`,
  });
}

/** The failure if the process ran out of file descriptors, in whatever call; null for other errors. */
function tooManyFiles(error: Error, quote: Quote): AttemptFailure | null {
  const reason = error instanceof ProxyFailure && typeof error.reason === "object" ? error.reason : error;
  const errors = reason instanceof AggregateError ? reason.errors : [reason];
  if (!errors.some((each) => hasErrorCode(each, "EMFILE", "ENFILE"))) return null;
  return new AttemptFailure("too_many_files", "failed: too many open files on this machine", {
    detail: quote(messageOf(reason)),
    hint: "raise the limit (ulimit -n) or lower SIMCAT_CONCURRENCY",
  });
}

/**
 * Classifies an error of the connection; null for an error that no network fault explains, which is a bug.
 * `responseStarted` says if the head of the response had arrived.
 */
export function networkFailure(error: Error, responseStarted: boolean, quote: Quote): AttemptFailure | null {
  const noFiles = tooManyFiles(error, quote);
  if (noFiles !== null) return noFiles;
  if (error instanceof ProxyFailure) return proxyFailure(error, quote);
  // undici gives no network code to a 407 of a proxy that receives absolute URLs, nor to what is not HTTP.
  if (error.message.startsWith("Proxy Authentication Required")) {
    return new AttemptFailure("proxy_refused", "failed at the proxy", {
      detail: "it answered 407",
      hint: "the service was not asked; check HTTP_PROXY",
    });
  }
  const code = codeOf(error);
  // Not the error itself as the cause: undici attaches received bytes to some errors, and those may contain the key.
  const options = { detail: quote(messageOf(error) || code) };
  if (CERTIFICATE_CODE.test(code) || code === "UND_ERR_PRX_TLS") {
    return new AttemptFailure("certificate", "failed: the certificate does not verify", options);
  }
  if (code === "UND_ERR_HEADERS_OVERFLOW") {
    return new AttemptFailure("untrusted", "answered with headers over the limit of 16 KiB");
  }
  // undici skips other statuses below 200.
  if (code === "UND_ERR_SOCKET" && error.message === "bad response") {
    return new AttemptFailure("network", "failed", {
      detail: "the answer began with an unasked 100 Continue",
      hint: "simcat cannot read such an answer: turn that off at the server, or the proxy in front of it",
    });
  }
  // The body ended before its announced length, before its last chunk, or with the connection.
  const isCut = responseStarted && (code === "UND_ERR_SOCKET" || error.message.includes("Invalid EOF state"));
  if (isCut || code === "UND_ERR_RES_CONTENT_LENGTH_MISMATCH")
    return new AttemptFailure("truncated", "was cut short", options);
  if (hasErrorCode(error, "UND_ERR_CONNECT_TIMEOUT", "ETIMEDOUT"))
    return new AttemptFailure("timeout", "timed out", options);
  if (!NETWORK_CODE.test(code) && !error.message.startsWith("Response does not match the HTTP")) return null;
  return new AttemptFailure("network", "failed", options);
}
