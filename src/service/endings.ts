import {
  ContentError,
  type ContentErrorCode,
  type SimcatError,
  SourceUnavailableError,
  SourceUntrustedError,
  UnauthorizedError,
} from "../errors.ts";
import { formatLimit } from "../format.ts";
import type { FailedGet } from "./http/get.ts";
import { header } from "./http/headers.ts";
import type { Printable } from "./http/printable.ts";
import { isRetryableStatus } from "./http/retry.ts";
import { basePath } from "./urls.ts";

/** What was asked for, as the messages name it. */
export interface Asked {
  /** As it stands in the request, base path included. */
  readonly path: string;
  readonly base: URL;
  readonly printable: Printable;
  readonly maxRetryWaitMs: number;
  readonly patienceMs: number;
  /** The variable that names the proxy; null without one. */
  readonly via: string | null;
}

/** `a redirect to other.example`; null when the answer is none. */
function sayRedirect({ failure: { head } }: FailedGet, { path, base, printable }: Asked): string | null {
  if (head === null || head.status < 300 || head.status > 399) return null;
  const location = header(head.headers, "location");
  if (location === null) return "a redirect without a Location";
  const from = base.origin + path;
  return `a redirect to ${printable(URL.canParse(location, from) ? new URL(location, from).host : location)}`;
}

/** `GET /libs answered 503 after 5 attempts (asked https://…/libs; it said "…")` */
function sayFailure(failed: FailedGet, asked: Asked): string {
  const { failure, attempts, why } = failed;
  const path = asked.path.slice(basePath(asked.base).length);
  const redirect = sayRedirect(failed, asked);
  const what = redirect === null ? failure.verb : `${failure.verb}, ${redirect}`;
  const times = why === "attempts" && attempts > 1 ? ` after ${attempts} attempts` : "";
  const details = failure.detail === "" ? [] : [failure.detail];
  const through = asked.via === null ? "" : ` through ${asked.via}`;
  return `GET ${path} ${what}${times} (${[`asked ${asked.base.origin}${asked.path}${through}`, ...details].join("; ")})`;
}

/** What the connection said. The failure itself is not chained: its head could echo the key. */
function causeOf({ failure: { cause } }: FailedGet): ErrorOptions {
  return cause === undefined ? {} : { cause };
}

/** The endings of a run that do not depend on what was asked for. */
function endRun(failed: FailedGet, asked: Asked): SourceUnavailableError | null {
  const said = sayFailure(failed, asked);
  if (failed.why === "no_success") {
    const patience = formatLimit(asked.patienceMs);
    const advice = "no request has succeeded since; run again later, or set SIMCAT_MAX_RPS lower";
    return new SourceUnavailableError(`${said}; for ${patience} the service has asked to wait, and ${advice}`);
  }
  if (failed.failure.kind === "too_many_files") return new SourceUnavailableError(`${said}; ${failed.failure.hint}`);
  if (failed.why !== "asked_too_long") return null;
  const wait = formatLimit(failed.setback.retryAfterMs ?? 0);
  const most = formatLimit(asked.maxRetryWaitMs);
  return new SourceUnavailableError(
    `${said} and asked to wait ${wait}, longer than SIMCAT_MAX_RETRY_WAIT (${most}); run again later`,
  );
}

const OWN_AUTHORITY =
  "nothing was asked of it. If the certificate is of your own authority, name that one in NODE_EXTRA_CA_CERTS";

/** How a run ends whose listing could not be had. */
export function endListing(failed: FailedGet, asked: Asked): SimcatError {
  const { failure } = failed;
  const said = sayFailure(failed, asked);
  const status = failure.head?.status ?? null;
  const options = causeOf(failed);
  const ending = endRun(failed, asked);
  if (ending !== null) return ending;
  if (failure.hint !== "") return new SourceUnavailableError(`${said}; ${failure.hint}`, options);
  if (failure.kind === "certificate") return new SourceUnavailableError(`${said}; ${OWN_AUTHORITY}`, options);
  if (status === 401 || status === 403) {
    const advice = "check SIMCAT_API_KEY: that it is complete, still valid, and of the organization that is meant";
    // A gateway may refuse a path that it does not know.
    const excess = adviseExcess(asked.base);
    const refused = `the service refused the key: ${advice}`;
    return new UnauthorizedError(`${said}; ${excess === null ? refused : `${excess}. Otherwise ${refused}`}`);
  }
  if (status === 429) {
    return new SourceUnavailableError(`${said}; the service asks for fewer requests: run again later`);
  }
  const isDown = status === null ? !["untrusted", "too_large"].includes(failure.kind) : isRetryableStatus(status);
  if (isDown) {
    const advice = `the service is down or the base URL ${asked.base.href} is wrong`;
    return new SourceUnavailableError(`${said}; ${advice}`, options);
  }
  return new SourceUntrustedError(`${said}; ${adviseUntrusted(failed, asked)}`);
}

function adviseUntrusted({ failure: { kind, head } }: FailedGet, { base }: Asked): string {
  if (kind === "too_large") return "raise SIMCAT_MAX_BODY if the organization is that large";
  const status = head?.status ?? 200;
  if (status >= 300 && status < 400) {
    return "it was not followed, so that the key stays here; set SIMCAT_BASE_URL to the service itself";
  }
  const excess = adviseExcess(base);
  if (excess !== null) return excess;
  if (status !== 404) return `check SIMCAT_BASE_URL (${base.href}); nothing was stored or removed`;
  const hasVersion = /\/v\d[\w.-]*$/i.test(basePath(base));
  const question = hasVersion
    ? "is it the service's, with this version?"
    : "does it end with the version, such as /v1/?";
  return `check SIMCAT_BASE_URL (${base.href}): ${question}`;
}

/** What to remove from a base URL that holds the path of the listing or of a library already; null for any other. */
function adviseExcess(base: URL): string | null {
  const path = basePath(base);
  const excess = /\/libs(?:\/user(?:\/.*)?)?$/.exec(path)?.[0];
  if (excess === undefined) return null;
  const corrected = `${base.origin}${path.slice(0, -excess.length)}/`;
  return `remove ${excess} from SIMCAT_BASE_URL (${base.href}), because simcat adds it: ${corrected}`;
}

function contentCode({ failure: { kind, head } }: FailedGet): ContentErrorCode {
  if (head === null) {
    if (kind === "untrusted") return "invalid_response";
    return kind === "timeout" || kind === "truncated" || kind === "too_large" ? kind : "network";
  }
  const { status } = head;
  if (status === 401) return "unauthorized";
  if (status === 404 || status === 410) return "not_found";
  if (status === 408) return "timeout";
  if (status === 429) return "throttled";
  if (status >= 300 && status < 500) return "client_error";
  return status >= 500 && status < 600 ? "server_error" : "invalid_response";
}

/** How one library's read ends, or the whole run's, when its content could not be had. */
export function endContent(failed: FailedGet, asked: Asked): ContentError | SourceUnavailableError {
  const ending = endRun(failed, asked);
  const code = contentCode(failed);
  const { kind, hint } = failed.failure;
  const endsRun = failed.why === "no_success" || code === "throttled" || kind === "too_many_files";
  if (ending !== null && endsRun) return ending;
  const said = ending?.message ?? sayFailure(failed, asked);
  return new ContentError(code, hint === "" ? said : `${said}; ${hint}`, causeOf(failed));
}
