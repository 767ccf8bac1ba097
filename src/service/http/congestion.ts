/** How many requests may be in flight, learned from how the service takes them. */
export interface Congestion {
  limit(): number;
  /** A request succeeded: one more at first; later, behind the point where it was too much, one more for each full round. */
  succeeded(): void;
  /** The service said that it is too much (429, 503): a quarter less, at most once in so many milliseconds. */
  cut(now: number): void;
  /** After a pause, everybody would start at once: begin slowly again, up to where it was too much. */
  slowStart(): void;
}

const FIRST = 4;

export function openCongestion(concurrency: number, cutEveryMs: number): Congestion {
  let limit = Math.min(FIRST, concurrency);
  let threshold = concurrency;
  let round = 0;
  let lastCut = Number.NEGATIVE_INFINITY;
  return {
    limit: () => limit,
    succeeded() {
      if (limit >= concurrency) return;
      round++;
      if (limit >= threshold && round < limit) return;
      round = 0;
      limit++;
    },
    cut(now) {
      if (now - lastCut < cutEveryMs) return;
      lastCut = now;
      limit = Math.max(1, Math.floor(limit * 0.75));
      threshold = limit;
      round = 0;
    },
    slowStart() {
      limit = Math.min(FIRST, limit);
    },
  };
}
