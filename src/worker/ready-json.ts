import type { Observation } from "./observer.ts";

/** The answer of `/readyz`. Times are ISO texts. */
export function toReadyJson({ readiness, lastGoodRun, nextRun, currentRun }: Observation) {
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
