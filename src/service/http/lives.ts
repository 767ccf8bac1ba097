import { resumeAll } from "./in-turn.ts";
import { Life } from "./life.ts";

/** The calls that are under way, each with an end that its caller, or the closing of everything, can bring about. */
export interface Lives {
  /**
   * Runs the work with a life of its own; rejects when the signal is aborted, with its reason, and at once but for what has
   * come whole: that is read to its end.
   */
  during<T>(signal: AbortSignal, work: (life: Life) => Promise<T>): Promise<T>;
  endAll(reason: Error): void;
}

type Stop = (reason: unknown) => void;

/** One listener for all the calls of one signal: Node warns of a leak from the eleventh on. */
function openWatch(signal: AbortSignal, onIdle: () => void) {
  const stops = new Set<Stop>();
  const stopAll = () => {
    for (const stop of stops) stop(signal.reason);
  };
  const onAbort = () => {
    resumeAll();
    setImmediate(stopAll);
  };
  signal.addEventListener("abort", onAbort);
  return {
    stops,
    forget(stop: Stop) {
      stops.delete(stop);
      if (stops.size > 0) return;
      signal.removeEventListener("abort", onAbort);
      onIdle();
    },
  };
}

export function openLives(): Lives {
  const watches = new Map<AbortSignal, ReturnType<typeof openWatch>>();
  let closed: Error | null = null;

  function watch(signal: AbortSignal) {
    const known = watches.get(signal) ?? openWatch(signal, () => watches.delete(signal));
    watches.set(signal, known);
    return known;
  }

  function during<T>(signal: AbortSignal, work: (life: Life) => Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      signal.throwIfAborted();
      if (closed !== null) throw closed;
      const life = new Life();
      const { stops, forget } = watch(signal);
      const stop = (reason: unknown) => {
        life.end(reason);
        forget(stop);
        reject(reason);
      };
      stops.add(stop);
      work(life).then(
        (value) => {
          forget(stop);
          resolve(value);
        },
        (error) => {
          forget(stop);
          reject(error);
        },
      );
    });
  }

  return {
    during,
    endAll(reason) {
      closed = reason;
      for (const { stops } of watches.values()) for (const stop of stops) stop(reason);
    },
  };
}
