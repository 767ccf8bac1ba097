import type { RunKind, RunSummary } from "../../src/run-summary.ts";
import { createClock, runSync } from "../built.ts";
import { CONCURRENCY, withClient } from "./client.ts";
import type { Database } from "./database.ts";

const never = new AbortController().signal;

/** Performs a run in this process, as `simcat sync` and `simcat backfill` do. Throws if its status is not ok. */
export async function run(
  kind: RunKind,
  url: string,
  { pool }: Database,
  concurrency = CONCURRENCY,
): Promise<RunSummary> {
  const clock = await createClock(pool, never);
  const settings = {
    concurrency,
    fullEveryMs: 7 * 86_400_000,
    maxRemoved: 300_000,
    serviceTimezone: "UTC",
  };
  const selection = { libraries: [], owners: [] };
  const request = { kind, trigger: "cli", selection, allowRemovals: false, restart: false } as const;
  const { summary, error } = await withClient(
    url,
    (service) =>
      runSync(
        { pool, clock, service, settings, version: "bench", mask: (text) => text, onEvent: () => {} },
        request,
        never,
      ),
    concurrency,
  );
  if (error !== null) throw error;
  if (summary.status !== "ok") throw new Error(`the run ended as ${summary.status}`);
  return summary;
}
