import { createQuote } from "./attempt-failure.ts";
import { openConnectionPool } from "./connection-pool.ts";
import { HTTP_TIMING, type HttpOptions } from "./http-options.ts";
import { createLimiter } from "./limiter.ts";
import { SocketPauses } from "./socket-pause.ts";

/** Dependencies and state that all GETs of one client share. */
export type HttpContext = ReturnType<typeof openHttpContext>;

export function openHttpContext(options: HttpOptions) {
  const { baseUrl, apiKey, version, requestTimeoutMs, maxBodyBytes, mask, onEvent = () => {} } = options;
  const timing = { ...HTTP_TIMING, ...options.timing };
  const { origin } = baseUrl;
  const pool = openConnectionPool({ ...options, ...timing, origin });
  const limiter = createLimiter({ ...options, ...timing });
  const pauses = new SocketPauses();
  return {
    pool,
    baseUrl,
    origin,
    /** The path of the base URL without a trailing slash, so that `/v1` and `/v1/` are the same. */
    basePath: baseUrl.pathname.replace(/\/+$/, ""),
    /** Names and values in turn. */
    headers: [
      ["x-ss-api-key", apiKey],
      ["user-agent", `simcat/${version}`],
      ["accept", "application/json"],
      ["accept-encoding", "gzip"],
      ["cache-control", "no-cache"],
    ].flat(),
    requestTimeoutMs,
    maxBodyBytes,
    /** Removes secrets from text of the service. */
    mask,
    quote: createQuote(mask),
    pauses,
    limiter,
    retryPolicy: { ...options, ...timing },
    timing,
    counters: { requests: 0, retries: 0, bytes: 0, throttled: 0 },
    onEvent,
    async close(): Promise<void> {
      limiter.close();
      pauses.close();
      await pool.dispatcher.destroy();
    },
  };
}
