import { setMaxListeners } from "node:events";
import type { StopSignal } from "../async.ts";
import { ContentError, UnauthorizedError } from "../errors.ts";
import type { LibraryKey, Listing, ReceivedContent, Reject, ScenarioSink } from "../model.ts";
import { type GetRequest, get } from "./http/get.ts";
import { type HttpContext, openHttpContext } from "./http/http-context.ts";
import type { HttpOptions } from "./http/http-options.ts";
import { parseDeferred } from "./http/http-request.ts";
import { maskReject, toContentError, toListingError } from "./service-errors.ts";
import { type KeyFilter, readListing } from "./wire/wire-listing.ts";
import { readMetadata } from "./wire/wire-metadata.ts";
import { readScenarioList } from "./wire/wire-scenarios.ts";

export type { ServiceEvent } from "./http/http-options.ts";

/** The Simulation Cloud service, read only (specification 4). */
export type Service = ReturnType<typeof openService>;

/** A library whose content is read. */
export interface RequestedLibrary extends LibraryKey {
  /** Its last read failed, so a wait that it asks for says nothing about the service. Default: false. */
  readonly failedBefore?: boolean;
}

/** Keeps no scenario: the caller needs only what `ReceivedContent` says. */
export const DISCARD: ScenarioSink = {
  restart: async () => {},
  add: async () => {},
  sources: async () => new Map(),
  remove: async () => {},
  finish: async () => ({ kind: "memory", scenarios: [], count: 0 }),
};

export interface ServiceOptions extends HttpOptions {
  /** The owner of list entries without one. */
  readonly defaultOwner: string | null;
}

export function openService(options: ServiceOptions) {
  const { defaultOwner } = options;
  const context = openHttpContext(options);
  const isKeyRefused = createKeyCheck(context);
  return {
    /**
     * Keeps the libraries that pass the filter; of all others only whether they are listed.
     * @throws SourceUnavailableError, UnauthorizedError, SourceUntrustedError
     */
    listLibraries: (signal: AbortSignal, isKept?: KeyFilter) => getListing(context, defaultOwner, signal, isKept),
    /**
     * On abort it does not wait for a call of the sink in progress, and makes no further one.
     * @throws ContentError, UnauthorizedError or SourceUnavailableError if the run must end, or an error of the sink
     */
    readContent: (library: RequestedLibrary, sink: ScenarioSink, signal: AbortSignal) =>
      runScoped(signal, (scope) => readContent(context, library, sink, scope)).catch(async (error) => {
        const isRefused =
          error instanceof ContentError && error.code === "unauthorized" && (await isKeyRefused(signal));
        throw isRefused ? new UnauthorizedError(REFUSED_MIDWAY, { cause: error }) : error;
      }),
    /** Counts since the client was opened. `bytes` are decoded bytes of responses with status 200, `throttled` are 429, and 503 before a success. */
    counters: () => ({ ...context.counters }),
    /** Closes all connections. Calls in progress fail, and so do later ones. */
    close: context.close,
  };
}

/**
 * Reads one library's content (specification 4.2 and 4.3): requests both at the same time; its scenarios go into the
 * sink. A failure aborts `scope`, and so the other request.
 */
async function readContent(
  context: HttpContext,
  { failedBefore = false, ...key }: RequestedLibrary,
  sink: ScenarioSink,
  scope: AbortScope,
): Promise<ReceivedContent> {
  const resource = `${context.basePath}/libs/user/${encodeSegment(key.owner)}/${encodeSegment(key.name)}`;
  const getOrAbort = async <T>(operation: "metadata" | "scenarios", parse: GetRequest<T>["parse"]) => {
    try {
      const request = { operation, path: `${resource}/${operation}`, resource, failedBefore, parse };
      const answer = await get(context, request, scope);
      if (!("failure" in answer)) return answer;
      scope.abort(toContentError(answer, context));
    } catch (error) {
      scope.abort(error);
    }
    return null;
  };
  // Wait for both, so that the sink is not called after this function has returned.
  const [metadata, scenarios] = await Promise.all([
    getOrAbort("metadata", (response) => readMetadata(response, key)),
    getOrAbort("scenarios", (response) => readScenarioList(response, key, sink, scope)),
  ]);
  if (metadata === null || scenarios === null) throw scope.reason;
  const list = scenarios.value;
  const masked = (reject: Reject): Reject => maskReject(reject, context.mask);
  if (list.items > 0 && list.accepted === 0) {
    const first = list.rejects[0]?.reason ?? "no reason given";
    const none = list.items === 1 ? "the only scenario cannot" : `not one of the ${list.items} scenarios can`;
    const message = `${none} be stored (the first: ${first})`;
    throw new ContentError("all_rejected", message, { rejects: list.rejects.slice(0, 1).map(masked) });
  }
  const paged = rejectPaged({ key, kind: "scenario" }, ONE_PAGE_OF_SCENARIOS, scenarios.response.nextPage);
  const both = [metadata.response, scenarios.response];
  const dates = both.map(({ date }) => date);
  return {
    metadata: metadata.value.metadata,
    rejects: [...metadata.value.rejects, ...list.rejects, ...paged].map(masked),
    scenarios: list.scenarios,
    items: list.items,
    present: list.present,
    // With the length of one, so that moving a byte between the bodies changes the digest.
    digest: list.hash.update(metadata.value.bytes).update(`\n${metadata.value.bytes.length}`).digest("hex"),
    sentAt: Math.min(...both.map(({ sentAt }) => sentAt)),
    date: dates.includes(null) ? null : Math.min(...dates.filter((date) => date !== null)),
    cachedMs: Math.max(...both.map(({ cachedMs }) => cachedMs)),
  };
}

const percentEncode = (char: string) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`;

/** Percent-encodes one path segment by RFC 3986, so that decoding it returns the exact name. */
function encodeSegment(text: string): string {
  return /^[\w.~-]*$/.test(text) ? text : encodeURIComponent(text).replace(/[!'()*]/g, percentEncode);
}

/** The request for the listing (specification 4.1). */
function listingRequest<T>({ basePath }: HttpContext, parse: GetRequest<T>["parse"]): GetRequest<T> {
  return { operation: "listing", path: `${basePath}/libs`, resource: `${basePath}/libs`, parse };
}

async function getListing(
  context: HttpContext,
  defaultOwner: string | null,
  signal: StopSignal,
  isKept?: KeyFilter,
): Promise<Listing> {
  const request = listingRequest(context, (body) => readListing(body, defaultOwner, isKept));
  const answer = await get(context, request, signal);
  if ("failure" in answer) throw toListingError(answer, context);
  const { value, response } = answer;
  const { nextPage, sentAt, cachedMs, date } = response;
  const paged = rejectPaged({ key: null, kind: "listing" }, ONE_PAGE, nextPage);
  const incomplete = [value.incomplete, nextPage === null ? null : ONE_PAGE].filter((reason) => reason !== null);
  return {
    ...value,
    rejects: [...value.rejects, ...paged].map((reject) => maskReject(reject, context.mask)),
    incomplete: incomplete.length === 0 ? null : incomplete.join("; "),
    startedAt: sentAt,
    cachedMs,
    date,
  };
}

const NO_REST = "and simcat knows no way to ask for the rest";
const ONE_PAGE = `the service sent only one page of its list (Link: rel=next), ${NO_REST}`;
const ONE_PAGE_OF_SCENARIOS = `the service sent only one page of the scenarios, ${NO_REST}`;

/** The reject that keeps the run, or the library, partial while the other pages of its list are missing; none without a link. */
function rejectPaged(of: Pick<Reject, "key" | "kind">, reason: string, link: string | null): Reject[] {
  return link === null ? [] : [{ ...of, code: "paged_answer", path: "", reason, payload: link }];
}

const REFUSED_MIDWAY =
  "the service refused the key in the middle of the run: it was revoked or has expired. What was stored stays; replace the key by a valid one and run again";

/**
 * Returns a function that checks whether the service refuses the key, by the status of the listing, without its body. At most
 * one check per minute; in between, it returns the last result.
 */
function createKeyCheck(context: HttpContext): (signal: StopSignal) => Promise<boolean> {
  const request = listingRequest(context, async () => null);
  let last: { readonly at: number; readonly signal: StopSignal; readonly isRefused: Promise<boolean> } | null = null;
  return (signal) => {
    const now = performance.now();
    // An aborted check has no result that others could use.
    if (last === null || last.signal.aborted || now - last.at >= context.confirmEveryMs) {
      const isRefused = get(context, request, signal).then(
        (answer) => "failure" in answer && (answer.failure.status === 401 || answer.failure.status === 403),
      );
      last = { at: now, signal, isRefused };
    }
    return last.isRefused;
  };
}

/** The signal of one call, which the call itself can abort. An AbortController and its listeners would be slower. */
class AbortScope implements StopSignal {
  readonly #listeners = new Set<() => void>();
  aborted = false;
  reason: unknown;

  throwIfAborted(): void {
    if (this.aborted) throw this.reason;
  }

  addEventListener(_: "abort", listener: () => void): void {
    this.#listeners.add(listener);
  }

  removeEventListener(_: "abort", listener: () => void): void {
    this.#listeners.delete(listener);
  }

  /** Aborts once: a second reason is ignored. */
  abort(reason: unknown): void {
    if (this.aborted) return;
    this.aborted = true;
    this.reason = reason;
    for (const listener of this.#listeners) listener();
  }
}

/**
 * Runs `work` in its own scope. Rejects with the signal's reason on abort, after responses that arrived completely are
 * parsed, as far as that waits for nothing.
 */
function runScoped<T>(signal: AbortSignal, work: (scope: AbortScope) => Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    signal.throwIfAborted();
    const scope = new AbortScope();
    const onAbort = () => {
      parseDeferred();
      setImmediate(() => {
        scope.abort(signal.reason);
        reject(signal.reason);
      });
    };
    setMaxListeners(0, signal);
    signal.addEventListener("abort", onAbort);
    work(scope)
      .then(resolve, reject)
      .finally(() => signal.removeEventListener("abort", onAbort));
  });
}
