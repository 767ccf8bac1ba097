import type { Observation } from "./observer.ts";

/** The answer of `/readyz`. Times are ISO texts. */
export function toReadyJson({ readiness, lastGoodRun, nextRun, currentRun }: Observation) {
  return {
    ready: readiness.ready,
    reasons: readiness.reasons,
    lastGoodRun: lastGoodRun && {
      id: lastGoodRun.id,
      kind: lastGoodRun.kind,
      status: lastGoodRun.status,
      startedAt: lastGoodRun.startedAt,
      finishedAt: lastGoodRun.finishedAt,
    },
    nextRun,
    currentRun: currentRun && {
      id: currentRun.id,
      startedAt: currentRun.startedAt,
      toRead: currentRun.toRead,
      done: currentRun.done,
    },
  };
}
