import {
  ContentError,
  type ContentErrorCode,
  type SimcatError,
  SourceUnavailableError,
  SourceUntrustedError,
  UnauthorizedError,
} from "../errors.ts";
import { formatLimit } from "../format.ts";
import type { Reject } from "../model.ts";
import { isRetryableStatus } from "./http/attempt-failure.ts";
import type { FailedGet } from "./http/get.ts";
import type { HttpContext } from "./http/http-context.ts";
import { header } from "./http/response.ts";

/** Redacts a reject, because it quotes an item, and the service may have echoed the request in it. */
export function maskReject(reject: Reject, mask: (text: string) => string): Reject {
  const { path, reason, payload } = reject;
  return { ...reject, path: mask(path), reason: mask(reason), payload: mask(payload) };
}

/** The error that ends a run because the listing could not be read. */
export function toListingError(failed: FailedGet, context: HttpContext): SimcatError {
  const runError = toRunError(failed, context);
  if (runError !== null) return runError;
  const summary = formatFailure(failed, context);
  const { status, retryAfterMs } = failed.failure;
  if (status === 401 || status === 403) {
    const advice = "check SIMCAT_API_KEY: that it is complete, still valid, and of the organization that is meant";
    // A gateway may refuse a path that it does not know.
    const excess = adviseExcessPath(context);
    const refused = `the service refused the key: ${advice}`;
    return new UnauthorizedError(summary, { hint: excess === null ? refused : `${excess}. Otherwise ${refused}` });
  }
  const hint = adviseUnavailable(failed, context);
  if (hint === null) return new SourceUntrustedError(summary, { hint: adviseUntrusted(failed, context) });
  return new SourceUnavailableError(summary, { hint, retryAfterMs });
}

/** Advice if the service could not be asked, or may answer another time; null for an answer that cannot be its own. */
function adviseUnavailable({ failure: { kind, status, hint } }: FailedGet, { baseUrl }: HttpContext): string | null {
  if (hint !== "") return hint;
  if (kind === "certificate")
    return "nothing was asked of it. If the certificate is of your own authority, name that one in NODE_EXTRA_CA_CERTS";
  if (status === 429) return "the service asks for fewer requests: run again later";
  if (kind === "truncated") return "check whether the service, or a proxy in between, cuts responses short";
  if (kind === "timeout") return `the service is down, slower than SIMCAT_REQUEST_TIMEOUT, or not at ${baseUrl.href}`;
  const isDown = status === null ? kind !== "untrusted" && kind !== "too_large" : isRetryableStatus(status);
  return isDown ? `the service is down or the base URL ${baseUrl.href} is wrong` : null;
}

/** The error of one library whose content could not be read, or the error that ends the run because of it. */
export function toContentError(failed: FailedGet, context: HttpContext): ContentError | SourceUnavailableError {
  const runError = toRunError(failed, context);
  const code = contentErrorCode(failed);
  const { kind, hint, retryAfterMs } = failed.failure;
  const endsRun = failed.why === "no_success" || code === "throttled" || kind === "too_many_files";
  if (runError !== null && endsRun) return runError;
  const message = runError?.message ?? formatFailure(failed, context);
  return new ContentError(code, hint === "" ? message : `${message}; ${hint}`, { retryAfterMs });
}

/** The error of a GET after which no other request of the run can be expected to succeed; null for other failures. */
function toRunError(failed: FailedGet, context: HttpContext): SourceUnavailableError | null {
  const { kind, hint, retryAfterMs } = failed.failure;
  const summary = formatFailure(failed, context);
  if (failed.why === "no_success") {
    const asked = `for ${formatLimit(context.maxThrottledMs)} the service has asked to wait`;
    const advice = `${asked}, and no request has succeeded since; run again later, or set SIMCAT_MAX_RPS lower`;
    return new SourceUnavailableError(summary, { hint: advice, retryAfterMs });
  }
  if (kind === "too_many_files") return new SourceUnavailableError(summary, { hint });
  if (failed.why !== "asked_too_long" || retryAfterMs === null) return null;
  const limit = `longer than SIMCAT_MAX_RETRY_WAIT (${formatLimit(context.maxRetryWaitMs)})`;
  const message = `${summary} and asked to wait ${formatLimit(retryAfterMs)}, ${limit}`;
  return new SourceUnavailableError(message, { hint: "run again later", retryAfterMs });
}

/** `GET /libs answered 503 after 5 attempts (asked https://…/libs; it said "…")` */
function formatFailure(failed: FailedGet, context: HttpContext): string {
  const { failure, attempts, why } = failed;
  const { origin, basePath, pool } = context;
  const path = failed.path.slice(basePath.length);
  const redirect = formatRedirect(failed, context);
  const summary = redirect === null ? failure.summary : `${failure.summary}, ${redirect}`;
  const times = why === "attempts" && attempts > 1 ? ` after ${attempts} attempts` : "";
  const proxyVariable = pool.proxyVariable();
  const proxy = proxyVariable === null ? "" : ` through ${proxyVariable}`;
  const detail = failure.detail && `; ${failure.detail}`;
  return `GET ${path} ${summary}${times} (asked ${origin}${failed.path}${proxy}${detail})`;
}

/** 304 answers a condition, which simcat does not send. */
const isRedirect = (status: number) => status >= 300 && status < 400 && status !== 304;

/** `a redirect to other.example`; null if the response is not a redirect. */
function formatRedirect({ path, failure: { head } }: FailedGet, { origin, quote }: HttpContext): string | null {
  if (head === null || !isRedirect(head.status)) return null;
  const location = header(head.headers, "location");
  if (location === null) return "a redirect without a Location";
  const from = origin + path;
  return `a redirect to ${quote(URL.canParse(location, from) ? new URL(location, from).host : location)}`;
}

function adviseUntrusted({ failure: { kind, head } }: FailedGet, context: HttpContext): string {
  if (kind === "too_large") return "raise SIMCAT_MAX_BODY if the organization is that large";
  const status = head?.status ?? 200;
  if (isRedirect(status))
    return "it was not followed, so that the key stays here; set SIMCAT_BASE_URL to the service itself";
  const { baseUrl, basePath } = context;
  const excess = adviseExcessPath(context);
  if (excess !== null) return excess;
  if (status !== 404) return `check SIMCAT_BASE_URL (${baseUrl.href}); nothing was stored or removed`;
  const hasVersion = /\/v\d[\w.-]*$/i.test(basePath);
  const question = hasVersion
    ? "is it the service's, with this version?"
    : "does it end with the version, such as /v1/?";
  return `check SIMCAT_BASE_URL (${baseUrl.href}): ${question}`;
}

/** Advice for a base URL that already contains the path of the listing or of a library; null for any other. */
function adviseExcessPath({ baseUrl, origin, basePath }: HttpContext): string | null {
  const excess = /\/libs(?:\/user(?:\/.*)?)?$/.exec(basePath)?.[0];
  if (excess === undefined) return null;
  const corrected = `${origin}${basePath.slice(0, -excess.length)}/`;
  return `remove ${excess} from SIMCAT_BASE_URL (${baseUrl.href}), because simcat adds it: ${corrected}`;
}

function contentErrorCode({ failure: { kind, status } }: FailedGet): ContentErrorCode {
  if (status === null) {
    if (kind === "untrusted") return "invalid_response";
    return kind === "timeout" || kind === "truncated" || kind === "too_large" ? kind : "network";
  }
  if (status === 401) return "unauthorized";
  if (status === 404 || status === 410) return "not_found";
  if (status === 408) return "timeout";
  if (status === 429) return "throttled";
  if (status >= 300 && status < 500) return "client_error";
  return status >= 500 && status < 600 ? "server_error" : "invalid_response";
}
