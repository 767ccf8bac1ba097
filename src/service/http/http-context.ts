import { createQuote } from "./attempt-failure.ts";
import { openConnectionPool } from "./connection-pool.ts";
import { HTTP_TIMING, type HttpOptions } from "./http-options.ts";
import { createLimiter } from "./limiter.ts";
import { SocketPauses } from "./socket-pause.ts";

/** Dependencies and state that all GETs of one client share. */
export type HttpContext = ReturnType<typeof openHttpContext>;

export function openHttpContext({ timing, onEvent = () => {}, ...options }: HttpOptions) {
  const settings = { ...HTTP_TIMING, ...timing, ...options };
  const { baseUrl, apiKey, version, mask } = settings;
  const pool = openConnectionPool(settings);
  const limiter = createLimiter({ ...settings, onEvent });
  const pauses = new SocketPauses();
  return {
    ...settings,
    onEvent,
    pool,
    origin: baseUrl.origin,
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
    quote: createQuote(mask),
    pauses,
    limiter,
    counters: { requests: 0, retries: 0, bytes: 0, throttled: 0 },
    async close(): Promise<void> {
      limiter.close();
      pauses.close();
      await pool.dispatcher.destroy();
    },
  };
}
