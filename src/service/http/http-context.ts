import { createQuote, type Quote } from "../redact.ts";
import { basePath } from "../urls.ts";
import { type ConnectionPool, openConnectionPool } from "./connection-pool.ts";
import { createLimiter, type Limiter } from "./limiter.ts";
import type { RetryPolicy } from "./retry-policy.ts";
import { SocketPauses } from "./socket-pause.ts";

type Operation = "listing" | "metadata" | "scenarios";

/** Events for counters and log lines. */
export type ServiceEvent =
  /** An attempt has a slot and is sent. Exactly one `ended` follows. */
  | { readonly kind: "sent" | "ended" }
  /** One attempt ended. `outcome` is a status class (`2xx`) or a kind of failure (`network`, `timeout`, …). */
  | { readonly kind: "request"; readonly operation: Operation; readonly outcome: string; readonly ms: number }
  /** The same GET will be sent again after the delay. */
  | { readonly kind: "retry"; readonly operation: Operation; readonly reason: string; readonly delayMs: number }
  /** The service asked for a pause, and all requests wait. */
  | { readonly kind: "throttled"; readonly operation: Operation; readonly waitMs: number };

/** Durations in milliseconds that are not settings. Tests shorten them. */
interface Timing {
  /** The first step of the back-off, which doubles. */
  readonly backoffBaseMs: number;
  readonly maxBackoffMs: number;
  /** How long the service may ask for waits without any success before the run ends. */
  readonly maxThrottledMs: number;
  /** Throttling cuts the concurrency at most once in this time. */
  readonly cutEveryMs: number;
  /** How long an idle connection is kept. A server that closes it earlier costs a retry. */
  readonly keepAliveMs: number;
  /** How long the body of an error is read, to quote it and to keep the connection. */
  readonly errorBodyMs: number;
  /** How long a confirmation of the key is valid. */
  readonly confirmEveryMs: number;
}

const TIMING: Timing = {
  backoffBaseMs: 250,
  maxBackoffMs: 10_000,
  maxThrottledMs: 300_000,
  cutEveryMs: 500,
  keepAliveMs: 2_000,
  errorBodyMs: 1_000,
  confirmEveryMs: 60_000,
};

export interface HttpOptions {
  readonly baseUrl: URL;
  readonly apiKey: string;
  /** The most requests in flight. */
  readonly concurrency: number;
  /** The most requests per second; null for no limit. */
  readonly maxRps: number | null;
  /** The time for one attempt, from its start to its last byte. */
  readonly requestTimeoutMs: number;
  /** Attempts after the first. */
  readonly maxRetries: number;
  /** The longest Retry-After to wait for. */
  readonly maxRetryWaitMs: number;
  /** The most decoded bytes of one response. */
  readonly maxBodyBytes: number;
  /** The version of simcat that the User-Agent names. */
  readonly version: string;
  /** HTTPS_PROXY, HTTP_PROXY and NO_PROXY are read from here. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Removes secrets, the key included, from messages and from payloads of rejects. */
  readonly mask: (text: string) => string;
  readonly onEvent?: (event: ServiceEvent) => void;
  readonly timing?: Partial<Timing>;
}

/** What a GET asks for. */
export interface RequestTarget {
  readonly operation: Operation;
  readonly path: string;
  /** The listing, or a library: its metadata and its scenarios are one resource. */
  readonly resource: string;
  /** The resource failed last time, so the waits that it asks for say nothing about the service. */
  readonly failedBefore?: boolean;
}

/** undici sends the next request of a connection in the second turn of the event loop after a response. */
const DEFERRED_TURNS = 3;

/**
 * Defers the parsing of responses until all readable sockets are read and idle connections have their next requests.
 * Parsing at once would delay both. With 50 ms per response it reached 0.88 of a bare client's rate, deferred 0.93.
 */
class DeferredParsing {
  #waiting: (() => void)[] = [];

  readonly defer = (parse: () => void) => {
    if (this.#waiting.length === 0) this.#flushAfter(DEFERRED_TURNS);
    this.#waiting.push(parse);
  };

  /** Starts all deferred parsing now. */
  readonly flush = () => {
    const due = this.#waiting;
    this.#waiting = [];
    for (const parse of due) parse();
  };

  #flushAfter(turns: number): void {
    setImmediate(turns === 1 ? this.flush : () => this.#flushAfter(turns - 1));
  }
}

/** Dependencies and state that all GETs of one client share. */
export interface HttpContext extends Pick<HttpOptions, "baseUrl" | "requestTimeoutMs" | "maxBodyBytes"> {
  readonly pool: ConnectionPool;
  readonly origin: string;
  /** The path of the base URL without a trailing slash. */
  readonly basePath: string;
  /** Names and values in turn. */
  readonly headers: string[];
  /** Removes secrets from text of the service. */
  readonly redact: (text: string) => string;
  readonly quote: Quote;
  readonly parsing: DeferredParsing;
  readonly pauses: SocketPauses;
  readonly limiter: Limiter;
  readonly retryPolicy: RetryPolicy;
  readonly timing: Timing;
  readonly counters: { requests: number; retries: number; bytes: number; throttled: number };
  readonly onEvent: (event: ServiceEvent) => void;
  close(): Promise<void>;
}

export function openHttpContext(options: HttpOptions): HttpContext {
  const { baseUrl, apiKey, version, requestTimeoutMs, maxBodyBytes, mask: redact, onEvent = () => {} } = options;
  const timing = { ...TIMING, ...options.timing };
  const { origin } = baseUrl;
  const headers = [
    ["x-ss-api-key", apiKey],
    ["user-agent", `simcat/${version}`],
    ["accept", "application/json"],
    ["accept-encoding", "gzip"],
    ["cache-control", "no-cache"],
  ].flat();
  const pool = openConnectionPool({ ...options, ...timing, origin });
  const limiter = createLimiter({ ...options, ...timing });
  const pauses = new SocketPauses();
  return {
    pool,
    baseUrl,
    origin,
    basePath: basePath(baseUrl),
    headers,
    requestTimeoutMs,
    redact,
    quote: createQuote(redact),
    parsing: new DeferredParsing(),
    pauses,
    limiter,
    retryPolicy: { ...options, ...timing },
    timing,
    maxBodyBytes,
    counters: { requests: 0, retries: 0, bytes: 0, throttled: 0 },
    onEvent,
    async close() {
      limiter.close();
      pauses.close();
      await pool.dispatcher.destroy();
    },
  };
}
