import { setTimeout as sleep } from "node:timers/promises";

/** Asks again and again until the answer is not null; null when `limit` ms pass first. */
export async function poll<T>(
  ask: () => T | null | Promise<T | null>,
  limit: number,
  signal: AbortSignal,
): Promise<T | null> {
  const end = performance.now() + limit;
  for (let pause = 5; ; pause = Math.min(pause * 1.5, 100)) {
    signal.throwIfAborted();
    const answer = await ask();
    if (answer !== null) return answer;
    if (performance.now() > end) return null;
    await sleep(pause);
  }
}
