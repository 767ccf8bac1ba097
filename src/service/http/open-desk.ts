import type { ServiceOptions } from "../service.ts";
import { openCongestion } from "./congestion.ts";
import type { Desk } from "./desk.ts";
import { openLimiter } from "./limiter.ts";
import { openLine } from "./line.ts";
import { openPacer } from "./pacer.ts";
import { openPauses } from "./pauses.ts";
import type { Printable } from "./printable.ts";
import { openPulse } from "./pulse.ts";
import { TIMING } from "./timing.ts";

/** Puts together what all requests of one service share. */
export function openDesk(options: ServiceOptions, printable: Printable): Desk {
  const { baseUrl, apiKey, version, concurrency, maxRps, requestTimeoutMs, environment } = options;
  const { maxBodyBytes, maxRetries, maxRetryWaitMs, onEvent = () => {} } = options;
  const { drainMs, cutEveryMs, patienceMs, keepAliveMs, backoffBaseMs, backoffMostMs } = {
    ...TIMING,
    ...options.timing,
  };
  const { origin } = baseUrl;
  const headers = [
    ["x-ss-api-key", apiKey],
    ["user-agent", `simcat/${version}`],
    ["accept", "application/json"],
    ["accept-encoding", "gzip, deflate, br"],
    ["cache-control", "no-cache"],
  ].flat();
  const line = openLine({ origin, concurrency, requestTimeoutMs, keepAliveMs, environment });
  const transport = { line, origin, headers, timeoutMs: requestTimeoutMs, printable, maxBodyBytes, drainMs };
  const policy = { maxRetries, maxRetryWaitMs, backoffBaseMs, backoffMostMs };
  const congestion = openCongestion(concurrency, cutEveryMs);
  const pacer = openPacer(maxRps);
  const limiter = openLimiter(congestion, pacer);
  const counters = { requests: 0, retries: 0, bytes: 0, throttled: 0 };
  const pauses = openPauses();
  return { transport, policy, limiter, congestion, pacer, pauses, pulse: openPulse(), patienceMs, counters, onEvent };
}
