import { CONTENT_SECURITY_POLICY } from "../report/html/page.ts";
import { formatStatusPage } from "../report/status-page.ts";
import type { Answer, Routes } from "./http-server.ts";
import type { Metrics } from "./metrics.ts";
import type { Observation, Observer } from "./observer.ts";
import { toReadyJson } from "./ready-json.ts";

/** How old the answer to a probe may be. */
const PROBE_AGE_MS = 500;

export function openRoutes(observer: Observer, metrics: Metrics, isAlive: () => boolean): Routes {
  return {
    "/": async () => ({
      status: 200,
      contentType: "text/html; charset=utf-8",
      body: formatStatusPage(await observer.page()),
      headers: { "content-security-policy": `${CONTENT_SECURITY_POLICY}; frame-ancestors 'none'` },
    }),
    "/healthz": async () => health(isAlive()),
    "/readyz": async () => ready(await observer.look(PROBE_AGE_MS)),
    "/metrics": async () => ({
      status: 200,
      contentType: metrics.contentType,
      body: await metrics.scrape(await observer.gauges()),
    }),
  };
}

/** That this is answered at all says that the loop turns. */
const health = (isAlive: boolean): Answer => ({
  status: isAlive ? 200 : 503,
  contentType: "text/plain; charset=utf-8",
  body: isAlive ? "ok\n" : "the schedule has stopped\n",
});

const ready = (seen: Observation): Answer => ({
  status: seen.readiness.ready ? 200 : 503,
  contentType: "application/json; charset=utf-8",
  body: `${JSON.stringify(toReadyJson(seen))}\n`,
});
