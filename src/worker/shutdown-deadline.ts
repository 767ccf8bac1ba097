import { aborted, withTimeout } from "../async.ts";
import type { Logger } from "../log.ts";

/** Kubernetes kills a pod 30 s after SIGTERM. The rest is left to close the server, the pool and the embedded database. */
const SHUTDOWN_DEADLINE_MS = 22_000;

/**
 * Settles like `work`, but rejects with the signal's reason if the work is still running 22 s after the signal. Content
 * that is not stored by then is read again by the next run, as after a crash.
 */
export async function withShutdownDeadline<T>(work: Promise<T>, log: Logger, signal: AbortSignal): Promise<T> {
  await Promise.race([work, aborted(signal)]);
  const result = await withTimeout(work, SHUTDOWN_DEADLINE_MS);
  if (result !== "timeout") return result;
  log.error({ code: "drain_timeout", after_ms: SHUTDOWN_DEADLINE_MS }, "the run did not end in time and was abandoned");
  throw signal.reason;
}
