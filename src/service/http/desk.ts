import type { Operation, ServiceEvent } from "../events.ts";
import type { Congestion } from "./congestion.ts";
import type { Limiter } from "./limiter.ts";
import type { Pacer } from "./pacer.ts";
import type { Pauses } from "./pauses.ts";
import type { Pulse } from "./pulse.ts";
import type { RetryPolicy } from "./retry.ts";
import type { Answer, TransportOptions } from "./transport.ts";

/** A GET, and how to read its answer. */
export interface Ask<T> {
  readonly operation: Operation;
  readonly path: string;
  /** The listing, or a library: its metadata and its scenarios are one resource. */
  readonly resource: string;
  /** Waits that the service asks for use up no attempt while other requests succeed. */
  readonly patient: boolean;
  /** Reads an answer from its start; called anew for every attempt that is answered. What a sink throws goes through. */
  readonly read: (answer: Answer) => Promise<T>;
}

/** What all GETs of one service share. */
export interface Desk {
  readonly transport: TransportOptions;
  readonly policy: RetryPolicy;
  readonly limiter: Limiter;
  readonly congestion: Congestion;
  readonly pacer: Pacer;
  readonly pauses: Pauses;
  readonly pulse: Pulse;
  /** How long nothing may succeed while the service asks to wait. */
  readonly patienceMs: number;
  /** `throttled`: answers of 429 or 503. */
  readonly counters: { requests: number; retries: number; bytes: number; throttled: number };
  readonly onEvent: (event: ServiceEvent) => void;
}
