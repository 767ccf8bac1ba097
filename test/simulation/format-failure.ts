import type { SeedResult } from "./run-seed.ts";

const LINES = 60;

/** The seed, the violations, and the end of the trace. */
export function formatFailure({ seed, wrong, trace }: SeedResult): string {
  const head = trace[0] ?? "";
  const tail = trace.slice(1).slice(-LINES);
  const left = trace.length - 1 - tail.length;
  return [
    `seed ${seed} fails; it plays again with: npm run simulate -- --seed ${seed} --verbose`,
    ...wrong.map((line) => `  WRONG ${line}`),
    head,
    ...(left > 0 ? [`… ${left} lines …`] : []),
    ...tail,
  ].join("\n");
}
