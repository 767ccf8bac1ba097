import type { ContentRead, LibraryKey, Listing, ScenarioSink } from "../model.ts";
import type { ServiceEvent } from "./events.ts";
import type { Timing } from "./http/timing.ts";

export interface ServiceOptions {
  readonly baseUrl: URL;
  readonly apiKey: string;
  /** The owner of list entries that name none. */
  readonly defaultOwner: string | null;
  /** Requests in flight at the most. */
  readonly concurrency: number;
  readonly maxRps: number | null;
  /** One attempt, from its start to its last byte. */
  readonly requestTimeoutMs: number;
  /** Attempts beyond the first. */
  readonly maxRetries: number;
  /** The longest Retry-After that is waited for. */
  readonly maxRetryWaitMs: number;
  /** Decoded bytes of one answer. */
  readonly maxBodyBytes: number;
  /** Of simcat, for the User-Agent. */
  readonly version: string;
  /** HTTPS_PROXY, HTTP_PROXY and NO_PROXY are looked up here. */
  readonly environment: Record<string, string | undefined>;
  /** Takes secrets other than the key, and the key in further spellings, out of messages and of rejects' payloads. */
  readonly mask?: (text: string) => string;
  readonly onEvent?: (event: ServiceEvent) => void;
  /** Durations that nobody configures; see `Timing`. */
  readonly timing?: Partial<Timing>;
}

export type KeyState = "accepted" | "refused" | "unknown";

/** The Simulation Cloud service, read only (specification 4). */
export interface Service {
  /** Throws SourceUnavailableError, UnauthorizedError, SourceUntrustedError. */
  listLibraries(signal: AbortSignal): Promise<Listing>;
  /**
   * Throws ContentError, or SourceUnavailableError where the run must end, or what the sink threw. When the signal is
   * aborted, a call that the sink has not finished is not waited for; it gets no further one.
   */
  readContent(key: LibraryKey, sink: ScenarioSink, signal: AbortSignal): Promise<ContentRead>;
  /**
   * Whether the service accepts the key: the status of the listing, without its body. Asked at most once a minute; in
   * between, the last answer is returned.
   */
  confirmKey(signal: AbortSignal): Promise<KeyState>;
  /** Since it was opened. `bytes` are decoded ones of believed answers, `throttled` counts answers of 429 and 503. */
  counters(): { requests: number; retries: number; bytes: number; throttled: number };
  /** Ends everything that is under way; nothing keeps the process alive afterwards. */
  close(): Promise<void>;
}
