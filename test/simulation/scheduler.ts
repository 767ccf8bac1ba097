import type { Random } from "../../src/mock/random.ts";
import type { VirtualTime, VirtualTimer } from "./virtual-time.ts";

/** A pending operation of a worker: a request to the service or a statement to the database. */
interface Held {
  readonly worker: string;
  /** Identifies the operation together with the worker, so that the choice does not depend on the order of arrival. */
  readonly label: string;
  /** Executes it; resolves when the worker has its answer, or is known to wait for another one. */
  happen(): Promise<void>;
}

export type Scheduler = ReturnType<typeof openScheduler>;

/** The number of idle event loop turns that count as rest: every local answer takes only a few. */
const TURNS_AT_REST = 8;
const STUCK_AFTER_MS = 8_000;
/** For operations outside the scheduler, such as connecting, on a busy machine. */
const RESTLESS_AFTER_MS = 120_000;

/**
 * Executes one operation at a time, chosen by the seed, and the next one only when the workers are at rest.
 * @param unstick is called when no operation is possible; returns whether it has changed something
 */
export function openScheduler(time: VirtualTime, random: Random, unstick: () => Promise<boolean>) {
  const held = new Set<Held>();
  const paused = new Set<string>();
  let underWay = 0;
  let stirred = 0;

  /** Plain callbacks, because promises cost several times as much here. */
  const rest = () =>
    new Promise<void>((resolve, reject) => {
      const since = Date.now();
      let still = 0;
      let seen = -1;
      const look = () => {
        const state = stirred + time.changes();
        still = state !== seen || underWay > 0 ? 0 : still + 1;
        seen = state;
        if (still >= TURNS_AT_REST) resolve();
        else if (Date.now() - since > RESTLESS_AFTER_MS) reject(new Error(explainUnrest(underWay, held)));
        else setImmediate(look);
      };
      setImmediate(look);
    });

  const choose = (): Held | VirtualTimer | null => {
    const isAwake = ({ worker }: { readonly worker: string }) => !paused.has(worker);
    const ready = [...held].filter(isAwake).sort((a, b) => compare(a, b));
    const timers = time.timers().filter(isAwake);
    const once = timers.filter((timer) => timer.every === null).sort((a, b) => a.due - b.due);
    const soon = once.filter((timer) => timer.due - time.now() < 5_000);
    const intervals = timers.filter((timer) => timer.every !== null);
    if (intervals.length > 0 && random.chance(0.005)) return random.pick(intervals);
    if (soon[0] && (ready.length === 0 || random.chance(0.08))) return soon[0];
    if (ready.length > 0) return random.pick(ready);
    return once[0] ?? null;
  };

  const step = async (): Promise<boolean> => {
    const chosen = choose();
    if (chosen === null) return false;
    if ("fire" in chosen) {
      time.advanceTo(chosen.due);
      chosen.fire();
    } else {
      held.delete(chosen);
      await chosen.happen();
    }
    stirred += 1;
    return true;
  };

  return {
    hold(one: Held): void {
      held.add(one);
      stirred += 1;
    },
    /** Between `begin` and `end` something runs outside the scheduler, and no operation is chosen. */
    begin(): void {
      underWay += 1;
      stirred += 1;
    },
    end(): void {
      underWay -= 1;
      stirred += 1;
    },
    /** Discards the pending operations of a dead worker. */
    forget(worker: string): void {
      for (const one of held) if (one.worker === worker) held.delete(one);
      stirred += 1;
    },
    /** Holds back the operations of a paused worker. */
    pause: (worker: string) => void paused.add(worker),
    resume: (worker: string) => void paused.delete(worker),
    /** Executes operations until the work is done. Throws if no operation is possible any more. */
    async drive<T>(work: Promise<T>): Promise<T> {
      let isDone = false;
      const noted = () => {
        isDone = true;
        stirred += 1;
      };
      work.then(noted, noted);
      let idleSince: number | null = null;
      for (;;) {
        await rest();
        if (isDone) return work;
        if (await step()) {
          idleSince = null;
          continue;
        }
        if (await unstick()) continue;
        idleSince ??= Date.now();
        if (Date.now() - idleSince > STUCK_AFTER_MS) throw new Error("stuck: the workers wait for what never comes");
        await new Promise((resolve) => setTimeout(resolve, 1));
      }
    },
  };
}

function explainUnrest(underWay: number, held: ReadonlySet<Held>): string {
  const waiting = [...held].map(({ worker, label }) => `${worker}: ${label}`).join(", ");
  return `the workers did not come to rest within ${RESTLESS_AFTER_MS / 1000} s; ${underWay} operations outside the scheduler, pending: ${waiting}`;
}

function compare(a: Held, b: Held): number {
  if (a.worker !== b.worker) return a.worker < b.worker ? -1 : 1;
  return a.label === b.label ? 0 : a.label < b.label ? -1 : 1;
}
