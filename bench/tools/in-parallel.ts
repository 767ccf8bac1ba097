/** Runs `work` for all values, at most `concurrency` at a time. */
export async function inParallel<T>(
  values: Iterable<T>,
  concurrency: number,
  work: (value: T) => Promise<unknown>,
): Promise<void> {
  const queue = values[Symbol.iterator]();
  const worker = async () => {
    for (let next = queue.next(); !next.done; next = queue.next()) await work(next.value);
  };
  await Promise.all(Array.from({ length: concurrency }, worker));
}
