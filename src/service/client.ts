import type { Listing, ReceivedContent, ScenarioSink } from "../model.ts";
import { type AbortScope, createAbortScopes } from "./http/abort-scope.ts";
import { FailedGet, get } from "./http/get.ts";
import { type HttpContext, type HttpOptions, openHttpContext } from "./http/http-context.ts";
import { listLibraries } from "./list-libraries.ts";
import { type RequestedLibrary, readContent } from "./read-content.ts";
import { listingPath } from "./urls.ts";
import type { KeyFilter } from "./wire/wire-listing.ts";

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
   * Checks the key by the status of the listing, without its body. Sends at most one request per minute; in between, it
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
      scopes.runScoped(signal, (scope) => listLibraries(context, defaultOwner, scope, isKept)),
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

function createKeyCheck(context: HttpContext): (scope: AbortScope) => Promise<KeyState> {
  const path = listingPath(context.basePath);
  let last: { readonly at: number; readonly scope: AbortScope; readonly state: Promise<KeyState> } | null = null;

  async function check(scope: AbortScope): Promise<KeyState> {
    const parse = async () => "accepted" as const;
    try {
      return await get(context, { operation: "listing", path, resource: path, parse }, scope);
    } catch (error) {
      if (!(error instanceof FailedGet)) throw error;
      const { status } = error.failure;
      return status === 401 || status === 403 ? "refused" : "unknown";
    }
  }

  return (scope) => {
    const now = performance.now();
    // An aborted check has no result that others could use.
    if (last === null || last.scope.aborted || now - last.at >= context.timing.confirmEveryMs) {
      last = { at: now, scope, state: check(scope) };
    }
    return last.state;
  };
}
