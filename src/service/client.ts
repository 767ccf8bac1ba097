import type { LibraryKey, Listing, ReceivedContent, ScenarioSink } from "../model.ts";
import { type AbortScope, createAbortScopes } from "./http/abort-scope.ts";
import { FailedGet, get } from "./http/get.ts";
import { type HttpOptions, openHttpContext } from "./http/http-context.ts";
import { listLibraries } from "./list-libraries.ts";
import { readLibraryContent } from "./read-content.ts";
import { createPrintable, redactKey, redactReject } from "./redact.ts";
import { toContentError, toListingError } from "./service-errors.ts";
import { basePath, contentPaths, listingPath } from "./urls.ts";

export type { ServiceEvent } from "./http/http-context.ts";

/** The Simulation Cloud service, read only (specification 4). */
export interface Service {
  /** @throws SourceUnavailableError, UnauthorizedError, SourceUntrustedError */
  listLibraries(signal: AbortSignal): Promise<Listing>;
  /**
   * On abort it does not wait for a call of the sink in progress, and makes no further one.
   * @throws ContentError, SourceUnavailableError if the run must end, or an error of the sink
   */
  readContent(key: LibraryKey, sink: ScenarioSink, signal: AbortSignal): Promise<ReceivedContent>;
  /**
   * Checks the key by the status of the listing, without its body. Sends at most one request per minute; in between, it
   * returns the last result.
   */
  confirmKey(signal: AbortSignal): Promise<KeyState>;
  /** Counts since the client was opened. `bytes` are decoded bytes of accepted responses, `throttled` are 429 and 503. */
  counters(): { requests: number; retries: number; bytes: number; throttled: number };
  /** Aborts all calls in progress and closes all connections. */
  close(): Promise<void>;
}

type KeyState = "accepted" | "refused" | "unknown";

export interface ServiceOptions extends HttpOptions {
  /** The owner of list entries without one. */
  readonly defaultOwner: string | null;
  /** Removes secrets other than the key, and other spellings of the key, from messages and from payloads of rejects. */
  readonly mask?: (text: string) => string;
}

export function openService(options: ServiceOptions): Service {
  const { baseUrl, apiKey, defaultOwner, maxRetryWaitMs, mask = (text: string) => text } = options;
  const maskKey = redactKey(apiKey);
  const redact = (text: string) => mask(maskKey(text));
  const printable = createPrintable(redact);
  const context = openHttpContext(options, printable);
  const scopes = createAbortScopes(context.parsing.flush);
  const { maxThrottledMs, confirmEveryMs } = context.timing;
  const base = basePath(baseUrl);
  const listing = listingPath(base);
  const errorContext = () => {
    const proxyVariable = context.pool.proxyVariable();
    return { base: baseUrl, printable, maxRetryWaitMs, maxThrottledMs, proxyVariable };
  };

  async function list(scope: AbortScope): Promise<Listing> {
    try {
      const result = await listLibraries(listing, defaultOwner, context, scope);
      return { ...result, rejects: result.rejects.map((reject) => redactReject(reject, redact)) };
    } catch (error) {
      throw error instanceof FailedGet ? toListingError(error, errorContext()) : error;
    }
  }

  async function readContent(key: LibraryKey, sink: ScenarioSink, scope: AbortScope): Promise<ReceivedContent> {
    const request = { key, sink, paths: contentPaths(base, key), redact };
    try {
      return await readLibraryContent(request, context, scope);
    } catch (error) {
      throw error instanceof FailedGet ? toContentError(error, errorContext()) : error;
    }
  }

  async function checkKey(scope: AbortScope): Promise<KeyState> {
    const request = { operation: "listing", path: listing, resource: listing } as const;
    try {
      return await get(context, { ...request, parse: async () => "accepted" as const }, scope);
    } catch (error) {
      if (!(error instanceof FailedGet)) throw error;
      const { status } = error.failure;
      return status === 401 || status === 403 ? "refused" : "unknown";
    }
  }

  let lastCheck: { readonly at: number; readonly scope: AbortScope; readonly state: Promise<KeyState> } | null = null;
  function confirmKey(scope: AbortScope): Promise<KeyState> {
    const now = performance.now();
    // An aborted check has no result that others could use.
    if (lastCheck === null || lastCheck.scope.aborted || now - lastCheck.at >= confirmEveryMs) {
      lastCheck = { at: now, scope, state: checkKey(scope) };
    }
    return lastCheck.state;
  }

  return {
    listLibraries: (signal) => scopes.runScoped(signal, list),
    readContent: (key, sink, signal) => scopes.runScoped(signal, (scope) => readContent(key, sink, scope)),
    confirmKey: (signal) => scopes.runScoped(signal, confirmKey),
    counters: () => ({ ...context.counters }),
    async close() {
      scopes.abortAll(new Error("the client of the service was closed"));
      await context.close();
    },
  };
}
