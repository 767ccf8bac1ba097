/** What was read last, and why reading failed since, if it did. */
export interface Kept<T> {
  readonly value: T | null;
  readonly error: Error | null;
}

/**
 * Reads anew when what is kept is older than `maxAgeMs`: one reading at a time, whoever asks, and nobody waits for it
 * longer than `patienceMs`. One that failed or takes too long leaves the last value.
 */
export function keepFresh<T>(read: () => Promise<T>, patienceMs: number): (maxAgeMs: number) => Promise<Kept<T>> {
  let kept: Kept<T> = { value: null, error: null };
  let readAt = Number.NEGATIVE_INFINITY;
  let reading: Promise<void> | null = null;
  const readAnew = async () => {
    try {
      kept = { value: await read(), error: null };
    } catch (thrown) {
      kept = { ...kept, error: thrown instanceof Error ? thrown : new Error(String(thrown)) };
    } finally {
      readAt = performance.now();
      reading = null;
    }
  };
  return async (maxAgeMs) => {
    if (performance.now() - readAt <= maxAgeMs) return kept;
    reading ??= readAnew();
    const inTime = await withinTime(reading, patienceMs);
    return inTime ? kept : { ...kept, error: new Error(`no answer within ${patienceMs / 1000} s`) };
  };
}

/** Whether it was done in time. */
async function withinTime(work: Promise<void>, ms: number): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<false>((resolve) => {
    timer = setTimeout(() => resolve(false), ms);
  });
  try {
    return await Promise.race([work.then(() => true as const), late]);
  } finally {
    clearTimeout(timer);
  }
}
