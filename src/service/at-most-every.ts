import type { Life } from "./http/life.ts";

/** Does the work at most once in this time: concurrent callers share it, later ones get its last result. */
export function atMostEvery<T>(ms: number, work: (life: Life) => Promise<T>): (life: Life) => Promise<T> {
  let last: { readonly at: number; readonly life: Life; readonly result: Promise<T> } | null = null;
  return (life) => {
    const now = performance.now();
    // Work whose caller was aborted has no result to share.
    if (last === null || last.life.aborted || now - last.at >= ms) last = { at: now, life, result: work(life) };
    return last.result;
  };
}
