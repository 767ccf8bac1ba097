import type { LibraryKey } from "../../src/model.ts";
import type { Bench } from "../bench.ts";
import { fetchSequentially, readBare } from "../floors/bare-client.ts";
import { contentPaths } from "../floors/paths.ts";
import { CONCURRENCY, withClient } from "../tools/client.ts";
import { inParallel } from "../tools/in-parallel.ts";
import { formatCount, formatMedians, interleave, median, ratios, timed } from "../tools/measure.ts";
import { withService } from "../tools/service.ts";

const never = new AbortController().signal;
/** The sequential calls are measured on a tenth of the paths, and their time is multiplied. */
const SEQUENTIAL_SHARE = 10;

/** A sink that discards all scenarios. */
const DISCARD = {
  restart: async () => {},
  add: async () => {},
  sources: async () => new Map(),
  remove: async () => {},
  finish: async () => ({ kind: "memory", scenarios: [], count: 0 }) as const,
};

export const extract: Bench = {
  work: "10,000 libraries with 20 scenarios each, read over loopback and not stored",
  run({ tiny, rounds }) {
    const count = tiny ? 50 : 10_000;
    return withService({ libraries: count, scenarios: 20, latencyMs: 0 }, async ({ url }) => {
      const keys = await listKeys(url);
      const paths = contentPaths(keys);
      const sample = paths.slice(0, paths.length / SEQUENTIAL_SHARE);
      await readBare(url, paths, CONCURRENCY); // The service prepares its answers.
      const times = await interleave(rounds, {
        simcat: () => timed(() => readAll(url, keys)),
        bare: () => timed(() => readBare(url, paths, CONCURRENCY)),
        fetch: async () => (await timed(() => fetchSequentially(url, sample))) * SEQUENTIAL_SHARE,
      });
      return [
        {
          name: "rate ÷ bare client that parses and discards",
          values: ratios(times.bare, times.simcat),
          target: { atLeast: 0.6 },
          detail: `${formatMedians(times.simcat, times.bare)}; ${formatCount(paths.length / median(times.simcat))} requests/s`,
        },
        {
          name: "rate ÷ sequential fetch calls",
          values: ratios(times.fetch, times.simcat),
          target: { atLeast: 3.5 },
          detail: formatMedians(times.simcat, times.fetch),
        },
      ];
    });
  },
};

function listKeys(url: string): Promise<LibraryKey[]> {
  return withClient(url, async (service) =>
    Array.from((await service.listLibraries(never)).libraries, ({ key }) => key),
  );
}

function readAll(url: string, keys: readonly LibraryKey[]): Promise<void> {
  return withClient(url, (service) => inParallel(keys, CONCURRENCY, (key) => service.readContent(key, DISCARD, never)));
}
