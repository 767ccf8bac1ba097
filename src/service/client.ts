import { setMaxListeners } from "node:events";
import type { StopSignal } from "../async.ts";
import type { Listing, ReceivedContent, Reject, ScenarioSink } from "../model.ts";
import { FailedGet, get } from "./http/get.ts";
import { type HttpContext, type HttpOptions, openHttpContext } from "./http/http-context.ts";
import { AbortScope, type RequestedLibrary, readContent } from "./read-content.ts";
import { redactReject, toListingError } from "./service-errors.ts";
import type { ByteSource } from "./wire/json-array.ts";
import { type KeyFilter, readListing } from "./wire/wire-listing.ts";

export type { ServiceEvent } from "./http/http-context.ts";

/** The Simulation Cloud service, read only (specification 4). */
export interface Service {
  /**
   * Keeps the libraries that pass the filter; of all others only whether they are listed.
   * @throws SourceUnavailableError, UnauthorizedError, SourceUntrustedError
   */
  listLibraries(signal: AbortSignal, isKept?: KeyFilter): Promise<Listing>;
  /**
   * On abort it does not wait for a call of the sink in progress, and makes no further one.
   * @throws ContentError, SourceUnavailableError if the run must end, or an error of the sink
   */
  readContent(library: RequestedLibrary, sink: ScenarioSink, signal: AbortSignal): Promise<ReceivedContent>;
  /**
   * Checks the key by the status of the listing, without its body. At most one check per minute; in between, it
   * returns the last result.
   */
  confirmKey(signal: AbortSignal): Promise<KeyState>;
  /** Counts since the client was opened. `bytes` are decoded bytes of accepted responses, `throttled` are 429, and 503 before a success. */
  counters(): { requests: number; retries: number; bytes: number; throttled: number };
  /** Aborts all calls in progress and closes all connections. */
  close(): Promise<void>;
}

type KeyState = "accepted" | "refused" | "unknown";

export interface ServiceOptions extends HttpOptions {
  /** The owner of list entries without one. */
  readonly defaultOwner: string | null;
}

export function openService(options: ServiceOptions): Service {
  const { defaultOwner } = options;
  const context = openHttpContext(options);
  const scopes = createAbortScopes(context.parsing.flush);
  const confirmKey = createKeyCheck(context);
  return {
    listLibraries: (signal, isKept) =>
      scopes.runScoped(signal, (scope) => getListing(context, defaultOwner, scope, isKept)),
    readContent: (library, sink, signal) =>
      scopes.runScoped(signal, (scope) => readContent(context, library, sink, scope)),
    confirmKey: (signal) => scopes.runScoped(signal, confirmKey),
    counters: () => ({ ...context.counters }),
    async close() {
      scopes.abortAll(new Error("the client of the service was closed"));
      await context.close();
    },
  };
}

/** The calls in progress of one client. `flushDeferred` starts the deferred parsing of received responses. */
function createAbortScopes(flushDeferred: () => void) {
  const aborts = new Set<(reason: unknown) => void>();
  let closed: Error | null = null;
  return {
    /**
     * Runs `work` in its own scope. Rejects with the signal's reason on abort, except that a response that has been
     * received completely is still parsed.
     */
    runScoped<T>(signal: AbortSignal, work: (scope: AbortScope) => Promise<T>): Promise<T> {
      return new Promise((resolve, reject) => {
        signal.throwIfAborted();
        if (closed !== null) throw closed;
        const scope = new AbortScope();
        const abort = (reason: unknown) => {
          scope.abort(reason);
          reject(reason);
        };
        const onAbort = () => {
          flushDeferred();
          setImmediate(() => abort(signal.reason));
        };
        aborts.add(abort);
        setMaxListeners(0, signal);
        signal.addEventListener("abort", onAbort);
        const forget = () => {
          aborts.delete(abort);
          signal.removeEventListener("abort", onAbort);
        };
        work(scope).then(resolve, reject).finally(forget);
      });
    },
    /** Aborts every call in progress and rejects later ones. */
    abortAll(reason: Error): void {
      closed = reason;
      for (const abort of aborts) abort(reason);
    },
  };
}

/** The request for the listing (specification 4.1), without its parser. */
function listingRequest({ basePath }: HttpContext) {
  const path = `${basePath}/libs`;
  return { operation: "listing", path, resource: path } as const;
}

const ONE_PAGE =
  "the service sent only one page of its list (Link: rel=next), and simcat knows no way to ask for the rest";

/** The reject that keeps the run partial while the other pages of the listing are missing. */
function rejectPagedListing(link: string): Reject {
  return { key: null, kind: "listing", code: "paged_answer", path: "", reason: ONE_PAGE, payload: link };
}

async function getListing(
  context: HttpContext,
  defaultOwner: string | null,
  signal: StopSignal,
  isKept?: KeyFilter,
): Promise<Listing> {
  const request = { ...listingRequest(context), parse: (body: ByteSource) => readListing(body, defaultOwner, isKept) };
  const { value, response } = await get(context, request, signal).catch((error) => {
    throw error instanceof FailedGet ? toListingError(error, context) : error;
  });
  const { nextPage, sentAt, cachedMs, date } = response;
  const paged = nextPage === null ? [] : [rejectPagedListing(nextPage)];
  const incomplete = [value.incomplete, nextPage === null ? null : ONE_PAGE].filter((reason) => reason !== null);
  return {
    ...value,
    rejects: [...value.rejects, ...paged].map((reject) => redactReject(reject, context.redact)),
    incomplete: incomplete.length === 0 ? null : incomplete.join("; "),
    startedAt: sentAt,
    cachedMs,
    date,
  };
}

function createKeyCheck(context: HttpContext): (signal: StopSignal) => Promise<KeyState> {
  let last: { readonly at: number; readonly signal: StopSignal; readonly state: Promise<KeyState> } | null = null;

  async function check(signal: StopSignal): Promise<KeyState> {
    try {
      await get(context, { ...listingRequest(context), parse: async () => null }, signal);
      return "accepted";
    } catch (error) {
      if (!(error instanceof FailedGet)) throw error;
      const { status } = error.failure;
      return status === 401 || status === 403 ? "refused" : "unknown";
    }
  }

  return (signal) => {
    const now = performance.now();
    // An aborted check has no result that others could use.
    if (last === null || last.signal.aborted || now - last.at >= context.timing.confirmEveryMs) {
      last = { at: now, signal, state: check(signal) };
    }
    return last.state;
  };
}
