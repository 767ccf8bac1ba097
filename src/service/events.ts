export type Operation = "listing" | "metadata" | "scenarios";

/** What happens on the way, for counters and log lines. */
export type ServiceEvent =
  /** One attempt ended. `outcome` is a class of status (`2xx`), or how it failed (`network`, `timeout`, …). */
  | { readonly kind: "request"; readonly operation: Operation; readonly outcome: string; readonly ms: number }
  /** The same GET will be sent once more. */
  | { readonly kind: "retry"; readonly operation: Operation; readonly reason: string; readonly delayMs: number }
  /** The service asked for a pause, and everybody keeps it. */
  | { readonly kind: "throttled"; readonly operation: Operation; readonly waitMs: number };
