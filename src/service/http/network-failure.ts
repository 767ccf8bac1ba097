import { AttemptFailure } from "./attempt-failure.ts";
import type { Printable } from "./printable.ts";
import { ProxyFailure } from "./proxy.ts";
import { isRetryableStatus } from "./retry.ts";

/** Where in the exchange the connection failed. */
interface Moment {
  readonly answerBegan: boolean;
  readonly reusedConnection: boolean;
}

const CERTIFICATE =
  /CERT|^CRL_|^UNABLE_TO_|^INVALID_CA$|^INVALID_PURPOSE$|^PATH_LENGTH_EXCEEDED$|^HOSTNAME_MISMATCH$|^ERR_SSL_\w*UNKNOWN_CA/;
const LOST = new Set(["ECONNRESET", "EPIPE", "UND_ERR_SOCKET"]);
const TOO_LATE = new Set(["UND_ERR_CONNECT_TIMEOUT", "ETIMEDOUT"]);
/** What else undici, Node and its TLS say of a connection or of a proxy, as opposed to a mistake of ours. */
const NETWORK = /^(E(?!RR_)[A-Z0-9_]+|ERR_SSL_\w+|ERR_TLS_\w+|UND_ERR_(SOCKET|ABORTED|INFO|PRX_TLS))$/;

/** undici gives these errors no code of the network. The first is a 407 of a proxy that is asked by absolute URLs. */
const PROXY_AUTHENTICATION = /^Proxy Authentication Required/;
const NETWORK_BY_WORDS = /^Response does not match the HTTP/;
/** undici's words for an answer that begins with 100; other answers below 200 are skipped, as they should be. */
const CONTINUE = "bad response";

/** The body ended before its announced length, its last chunk, or simply in the middle. */
function isCutShort(error: Error, code: string, { answerBegan }: Moment): boolean {
  if (code === "UND_ERR_RES_CONTENT_LENGTH_MISMATCH") return true;
  return answerBegan && (code === "UND_ERR_SOCKET" || error.message.includes("Invalid EOF state"));
}

function codeOf(error: Error): string {
  return "code" in error && typeof error.code === "string" ? error.code : "";
}

/** The message; for a name with several addresses (an AggregateError, whose own message is empty) those of all. */
function messageOf(error: Error): string {
  if (error instanceof AggregateError && error.message === "") return error.errors.map(String).join("; ");
  return error.message;
}

function proxyFailure(failed: ProxyFailure, printable: Printable): AttemptFailure {
  const { variable, host, status, cause } = failed;
  const code = cause instanceof Error ? codeOf(cause) : "";
  const detail = printable(cause instanceof Error ? messageOf(cause) || code : failed.message);
  const because = {
    detail,
    hint: `the service was not asked; check ${variable}`,
    cause: Object.assign(new Error(detail), { code }),
  };
  const isFinal = status === null ? CERTIFICATE.test(code) : !isRetryableStatus(status);
  return new AttemptFailure(isFinal ? "proxy_refused" : "network", `failed at the proxy ${host}`, because);
}

/** Names the lack of file descriptors, in whichever call it showed; null for other errors. */
function tooManyFiles(error: Error, printable: Printable): AttemptFailure | null {
  const reason = error instanceof ProxyFailure && error.cause instanceof Error ? error.cause : error;
  const errors = reason instanceof AggregateError ? reason.errors : [reason];
  if (!errors.some((one) => one instanceof Error && /^E[MN]FILE$/.test(codeOf(one)))) return null;
  return new AttemptFailure("too_many_files", "failed: too many open files on this machine", {
    detail: printable(messageOf(reason)),
    hint: "raise the limit (ulimit -n) or lower SIMCAT_CONCURRENCY",
  });
}

/** What an error of the connection means for the attempt; null for an error that no network explains: a bug. */
export function networkFailure(error: Error, moment: Moment, printable: Printable): AttemptFailure | null {
  const noFiles = tooManyFiles(error, printable);
  if (noFiles !== null) return noFiles;
  if (error instanceof ProxyFailure) return proxyFailure(error, printable);
  if (PROXY_AUTHENTICATION.test(error.message)) {
    return new AttemptFailure("proxy_refused", "failed at the proxy", {
      detail: "it answered 407",
      hint: "the service was not asked; check HTTP_PROXY",
    });
  }
  const code = codeOf(error);
  const detail = printable(messageOf(error) || code);
  // Not the error itself: some carry the bytes that came, which can hold anything, the key too.
  const because = { detail, cause: Object.assign(new Error(detail), { code }) };
  if (CERTIFICATE.test(code) || code === "UND_ERR_PRX_TLS") {
    return new AttemptFailure("certificate", "failed: the certificate does not verify", because);
  }
  if (code === "UND_ERR_HEADERS_OVERFLOW") {
    return new AttemptFailure("untrusted", "answered with headers over the limit of 16 KiB");
  }
  if (code === "UND_ERR_SOCKET" && error.message === CONTINUE) {
    return new AttemptFailure("network", "failed", {
      ...because,
      detail: "the answer began with an unasked 100 Continue",
      hint: "simcat cannot read such an answer: turn that off at the server, or the proxy in front of it",
    });
  }
  if (isCutShort(error, code, moment)) return new AttemptFailure("truncated", "was cut short", because);
  if (TOO_LATE.has(code)) return new AttemptFailure("timeout", "timed out", because);
  if (!NETWORK.test(code) && !NETWORK_BY_WORDS.test(error.message)) return null;
  const stale = LOST.has(code) && moment.reusedConnection && !moment.answerBegan;
  return new AttemptFailure("network", "failed", { ...because, stale });
}
