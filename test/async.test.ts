import { describe, expect, onTestFinished, test, vi } from "vitest";
import { concurrently, sleep, startTimer, unlessAborted, withTimeout } from "../src/async.ts";

const never = new AbortController().signal;
const pending = new Promise<never>(() => {});

describe("sleep", () => {
  test("resolves after the time, and not before", async () => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    const [woken, wokenLate] = [vi.fn(), vi.fn()];
    void sleep(1_000, never).then(woken);
    // Too long for one timer of Node.js.
    void sleep(2 ** 40, never).then(wokenLate);
    await vi.advanceTimersByTimeAsync(999);
    expect(woken).not.toHaveBeenCalled();
    await vi.advanceTimersByTimeAsync(1);
    expect(woken).toHaveBeenCalled();
    await vi.advanceTimersByTimeAsync(60_000);
    expect(wokenLate).not.toHaveBeenCalled();
  });

  test("rejects with the reason of a signal that is aborted before or during it", async () => {
    const reason = new Error("stop");
    await expect(sleep(60_000, AbortSignal.abort(reason))).rejects.toBe(reason);
    const stop = new AbortController();
    const sleeping = sleep(60_000, stop.signal);
    stop.abort(reason);
    await expect(sleeping).rejects.toBe(reason);
  });
});

test("a timer has a delay that no version of Node.js changes or warns of (fault 344)", () => {
  const started = vi.spyOn(globalThis, "setTimeout");
  onTestFinished(() => started.mockRestore());
  for (const ms of [-4_024.9, 0, 250, 2 ** 40]) clearTimeout(startTimer(() => {}, ms));
  expect(started.mock.calls.map(([, ms]) => ms)).toEqual([0, 0, 250, 2 ** 31 - 1]);
});

test("unlessAborted returns the result, or rejects with the reason of the signal", async () => {
  await expect(unlessAborted(Promise.resolve(7), never)).resolves.toBe(7);
  const reason = new Error("stop");
  await expect(unlessAborted(pending, AbortSignal.abort(reason))).rejects.toBe(reason);
});

test("withTimeout returns the result, or says that it took too long", async () => {
  await expect(withTimeout(Promise.resolve(7), 60_000)).resolves.toBe(7);
  await expect(withTimeout(pending, 1)).resolves.toBe("timeout");
});

describe("concurrently", () => {
  const tick = () => new Promise((resolve) => setImmediate(resolve));

  /** The results that are yielded before the end, and the error that ends them. */
  async function collect<T>(results: AsyncIterable<T>, onResult = (_: T) => {}) {
    const yielded: T[] = [];
    try {
      for await (const result of results) {
        yielded.push(result);
        onResult(result);
      }
      return { yielded, error: null };
    } catch (error) {
      return { yielded, error };
    }
  }

  test("works on the items in order, a limited number at once", async () => {
    const events: string[] = [];
    const work = async (item: number) => {
      events.push(`begin ${item}`);
      await tick();
      events.push(`end ${item}`);
      return -item;
    };
    expect(await collect(concurrently([1, 2, 3], 2, work))).toEqual({ yielded: [-1, -2, -3], error: null });
    expect(events).toEqual(["begin 1", "begin 2", "end 1", "begin 3", "end 2", "end 3"]);
  });

  test("begins another item only when a result is taken", async () => {
    const begun: number[] = [];
    const results = concurrently([1, 2, 3, 4], 2, async (item) => begun.push(item));
    await results.next();
    await tick();
    expect(begun).toEqual([1, 2, 3]);
    await results.return();
    expect(begun).toEqual([1, 2, 3]);
  });

  test("after an error yields what was begun, begins nothing more, and throws the first error", async () => {
    const first = new Error("first");
    const events: string[] = [];
    const work = async (item: number) => {
      events.push(`begin ${item}`);
      if (item === 1) throw first;
      await tick();
      events.push(`end ${item}`);
      if (item === 2) throw new Error("second");
      return item;
    };
    expect(await collect(concurrently([1, 2, 3, 4], 3, work))).toEqual({ yielded: [3], error: first });
    expect(events).toEqual(["begin 1", "begin 2", "begin 3", "end 2", "end 3"]);
  });

  test("throws the error that ends the items, after the results before it", async () => {
    const end = new Error("the service is down");
    async function* items() {
      yield 1;
      throw end;
    }
    expect(await collect(concurrently(items(), 2, async (item) => item))).toEqual({ yielded: [1], error: end });
  });

  test("a consumer that stops early aborts the work, and waits for its end", async () => {
    const stop = new AbortController();
    const ended: number[] = [];
    const work = async (item: number) => {
      if (item > 1) await new Promise<void>((resolve) => stop.signal.addEventListener("abort", () => resolve()));
      await tick();
      ended.push(item);
    };
    for await (const _ of concurrently([1, 2, 3], 2, work, stop)) break;
    expect(ended).toEqual([1, 2, 3]);
  });
});
