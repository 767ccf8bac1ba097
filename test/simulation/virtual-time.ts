import { AsyncLocalStorage } from "node:async_hooks";
import { syncBuiltinESMExports } from "node:module";
import timersPromises from "node:timers/promises";
import { createRandom } from "../../src/mock/random.ts";

/** A timer of a simulated worker: it fires when the scheduler decides, not when real time has passed. */
export interface VirtualTimer {
  readonly worker: string;
  readonly due: number;
  /** The period of an interval; null for a timer that fires once. */
  readonly every: number | null;
  fire(): void;
}

export type VirtualTime = ReturnType<typeof installVirtualTime>;

/** Timers of the drivers (connecting, idling, undici's tick): they affect no decision and stay real. */
const REAL = new Set([499, 10_000, 30_000, 900_000]);

/** Code that polls the clock by immediates waits for less than a millisecond; this many at one moment move the clock. */
const POLLS_PER_MS = 200;

/**
 * Replaces time, timers and randomness for code that runs as a simulated worker; outside of a worker they remain the real
 * ones. One at a time.
 */
export function installVirtualTime(seed: number) {
  const workers = new AsyncLocalStorage<string>();
  const random = createRandom(seed);
  const real = { setTimeout, clearTimeout, setInterval, clearInterval, setImmediate, random: Math.random };
  const realNow = performance.now.bind(performance);
  const realSleep = timersPromises.setTimeout;
  const timers = new Set<VirtualTimer>();
  let now = 0;
  let changes = 0;

  const set = (worker: string, ms: number, every: number | null, work: () => void): VirtualTimer => {
    let due = 0;
    const timer: VirtualTimer = {
      worker,
      get due() {
        return due;
      },
      every,
      fire() {
        if (every === null) timers.delete(timer);
        changes += 1;
        workers.run(worker, work);
      },
    };
    const refresh = () => {
      due = now + Math.max(1, ms);
      timers.add(timer);
      changes += 1;
      return timer;
    };
    // Node's timer handles are objects with these methods; no worker here waits for the process to end.
    Object.assign(timer, { ref: () => timer, unref: () => timer, hasRef: () => true, refresh });
    return refresh();
  };
  const clear = (handle: unknown): boolean => {
    if (!timers.delete(handle as VirtualTimer)) return false;
    changes += 1;
    return true;
  };
  const virtualWorker = (ms: number): string | undefined => (REAL.has(ms) ? undefined : workers.getStore());

  const virtual =
    (kind: "setTimeout" | "setInterval") =>
    (work: (...args: unknown[]) => void, ms = 0, ...args: unknown[]) => {
      const worker = virtualWorker(ms);
      if (worker === undefined) return real[kind](work, ms, ...args);
      return set(worker, ms, kind === "setInterval" ? ms : null, () => work(...args));
    };
  const virtualSleep = <T>(ms = 0, value?: T, options: { signal?: AbortSignal } = {}) => {
    const worker = virtualWorker(ms);
    if (worker === undefined) return realSleep(ms, value, options);
    return new Promise<T | undefined>((resolve, reject) => {
      const onAbort = () => {
        if (clear(timer)) reject(options.signal?.reason);
      };
      const timer = set(worker, ms, null, () => {
        options.signal?.removeEventListener("abort", onAbort);
        resolve(value);
      });
      options.signal?.addEventListener("abort", onAbort);
    });
  };

  let polledAt = 0;
  let polls = 0;
  const virtualImmediate = <A extends unknown[]>(work: (...args: A) => void, ...args: A) => {
    if (workers.getStore() === undefined) return real.setImmediate(work, ...args);
    polls = polledAt === now ? polls + 1 : 1;
    if (polls > POLLS_PER_MS) now += 1;
    polledAt = now;
    return real.setImmediate(work, ...args);
  };

  Object.assign(globalThis, {
    setImmediate: virtualImmediate,
    setTimeout: virtual("setTimeout"),
    setInterval: virtual("setInterval"),
    clearTimeout: (handle: NodeJS.Timeout) => clear(handle) || real.clearTimeout(handle),
    clearInterval: (handle: NodeJS.Timeout) => clear(handle) || real.clearInterval(handle),
  });
  Math.random = () => (workers.getStore() === undefined ? real.random() : random.next());
  performance.now = () => now;
  Object.assign(timersPromises, { setTimeout: virtualSleep });
  syncBuiltinESMExports();

  return {
    /** Milliseconds; `performance.now()` of the workers. */
    now: () => now,
    /** Never moves back. */
    advanceTo(moment: number): void {
      now = Math.max(now, moment);
    },
    timers: () => [...timers],
    /** Incremented whenever a timer is set or cleared. */
    changes: () => changes,
    /** Runs the work as that worker. */
    as: <T>(worker: string, work: () => T): T => workers.run(worker, work),
    /** A dead worker's timers never fire. */
    forget(worker: string): void {
      for (const timer of timers) if (timer.worker === worker) timers.delete(timer);
    },
    uninstall(): void {
      const { random: realRandom, ...globals } = real;
      Object.assign(globalThis, globals);
      Math.random = realRandom;
      performance.now = realNow;
      Object.assign(timersPromises, { setTimeout: realSleep });
      syncBuiltinESMExports();
    },
  };
}
