export type Operation = "listing" | "metadata" | "scenarios";

/** Events for counters and log lines. */
export type ServiceEvent =
  /** An attempt has a slot and is sent. Exactly one `ended` follows. */
  | { readonly kind: "sent" | "ended" }
  /** One attempt ended. `outcome` is a status class (`2xx`) or a kind of failure (`network`, `timeout`, …). */
  | { readonly kind: "request"; readonly operation: Operation; readonly outcome: string; readonly ms: number }
  /** The same GET will be sent again after the delay. */
  | { readonly kind: "retry"; readonly operation: Operation; readonly reason: string; readonly delayMs: number }
  /** The rate of requests is limited, and the next one waits. */
  | { readonly kind: "paced"; readonly delayMs: number }
  /** The service asked for a pause, and all requests wait. */
  | { readonly kind: "throttled"; readonly operation: Operation; readonly waitMs: number };

/** Durations in milliseconds that are not settings. Tests shorten them. */
export const HTTP_TIMING = {
  /** The first step of the back-off, which doubles. */
  backoffBaseMs: 250,
  maxBackoffMs: 10_000,
  /** How long the service may ask for waits without any success before the run ends. */
  maxThrottledMs: 300_000,
  /** How long the body of an error is read, to quote it and to keep the connection. */
  errorBodyMs: 1_000,
  /** How long a confirmation of the key is valid. */
  confirmEveryMs: 60_000,
};

export type HttpTiming = typeof HTTP_TIMING;

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
  readonly timing?: Partial<HttpTiming>;
}
