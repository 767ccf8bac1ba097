/** Durations, in milliseconds, that are not configured: chosen once, and shortened where an hour would have to pass. */
export interface Timing {
  /** The first step of the back-off, which doubles. */
  readonly backoffBaseMs: number;
  readonly backoffMostMs: number;
  /** While the service asks to wait: how long nothing may succeed before the run ends. */
  readonly patienceMs: number;
  /** The concurrency is cut at most once in this time. */
  readonly cutEveryMs: number;
  /** How long a connection may lie idle; a server that closes it first costs a retry. */
  readonly keepAliveMs: number;
  /** How long the body of an answer that is no 200 is read for. */
  readonly drainMs: number;
  /** How long the last confirmation of the key is good for. */
  readonly confirmEveryMs: number;
}

export const TIMING: Timing = {
  backoffBaseMs: 250,
  backoffMostMs: 10_000,
  patienceMs: 300_000,
  cutEveryMs: 500,
  keepAliveMs: 2_000,
  drainMs: 1_000,
  confirmEveryMs: 60_000,
};
