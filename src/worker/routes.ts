import { CONTENT_SECURITY_POLICY } from "../report/html/page.ts";
import type { Answer, Routes } from "./http-server.ts";
import type { Metrics } from "./metrics.ts";
import type { StatusReader, StatusSnapshot } from "./status-reader.ts";

/** Maximum age of the answer to a probe. */
const PROBE_AGE_MS = 500;

export function createRoutes(statusReader: StatusReader, metrics: Metrics, isAlive: () => boolean): Routes {
  return {
    "/": async () => {
      // Only this page draws pictures, and d3 takes 40 ms to load.
      const { formatStatusPage } = await import("../report/status-page.ts");
      return {
        status: 200,
        contentType: "text/html; charset=utf-8",
        body: formatStatusPage(await statusReader.page()),
        headers: { "content-security-policy": `${CONTENT_SECURITY_POLICY}; frame-ancestors 'none'` },
      };
    },
    "/healthz": async () => formatHealth(isAlive()),
    "/readyz": async () => formatReadiness(await statusReader.snapshot(PROBE_AGE_MS)),
    "/metrics": async () => ({
      status: 200,
      contentType: metrics.contentType,
      body: await metrics.scrape(await statusReader.gauges()),
    }),
  };
}

/** Any answer shows that the event loop is not blocked. */
const formatHealth = (isAlive: boolean): Answer => ({
  status: isAlive ? 200 : 503,
  contentType: "text/plain; charset=utf-8",
  body: isAlive ? "ok\n" : "the schedule has stopped\n",
});

const formatReadiness = (snapshot: StatusSnapshot): Answer => ({
  status: snapshot.readiness.ready ? 200 : 503,
  contentType: "application/json; charset=utf-8",
  body: `${JSON.stringify(toReadyJson(snapshot))}\n`,
});

/** The body of `/readyz`. Times are ISO texts. */
function toReadyJson({ readiness, lastGoodRun, nextRun, currentRun }: StatusSnapshot) {
  return {
    ready: readiness.ready,
    reasons: readiness.reasons,
    last_good_run: lastGoodRun && {
      id: lastGoodRun.id,
      kind: lastGoodRun.kind,
      status: lastGoodRun.status,
      started_at: lastGoodRun.startedAt,
      finished_at: lastGoodRun.finishedAt,
    },
    next_run: nextRun,
    current_run: currentRun && {
      id: currentRun.id,
      started_at: currentRun.startedAt,
      to_read: currentRun.toRead,
      done: currentRun.done,
    },
  };
}
