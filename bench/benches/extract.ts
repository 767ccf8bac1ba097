import type { LibraryKey } from "../../src/model.ts";
import type { Bench } from "../bench.ts";
import { fetchInTurn, readBare } from "../floors/bare-client.ts";
import { contentPaths } from "../floors/paths.ts";
import { CONCURRENCY, withClient } from "../tools/client.ts";
import { inParallel } from "../tools/in-parallel.ts";
import { interleave, median, ratios, sayBoth, sayCount, timed } from "../tools/measure.ts";
import { withService } from "../tools/service.ts";

const never = new AbortController().signal;
/** The sequential loop is measured on a part, and counted up. */
const PART = 10;

const NOWHERE = {
  restart: async () => {},
  add: async () => {},
  sources: async () => new Map(),
  remove: async () => {},
};

export const extract: Bench = {
  work: "10,000 libraries with 20 scenarios each, read over loopback and not stored",
  run({ tiny, rounds }) {
    const count = tiny ? 50 : 10_000;
    return withService({ libraries: count, scenarios: 20, latencyMs: 0 }, async ({ url }) => {
      const keys = await listKeys(url);
      const paths = contentPaths(keys);
      const some = paths.slice(0, paths.length / PART);
      await readBare(url, paths, CONCURRENCY); // The service prepares its answers.
      const times = await interleave(rounds, {
        ours: () => timed(() => readAll(url, keys)),
        bare: () => timed(() => readBare(url, paths, CONCURRENCY)),
        fetch: async () => (await timed(() => fetchInTurn(url, some))) * PART,
      });
      return [
        {
          name: "rate ÷ bare client that parses and keeps nothing",
          values: ratios(times.bare, times.ours),
          target: { atLeast: 0.6 },
          detail: `${sayBoth(times.ours, times.bare)}; ${sayCount(paths.length / median(times.ours))} requests/s`,
        },
        {
          name: "rate ÷ one fetch after the other",
          values: ratios(times.fetch, times.ours),
          target: { atLeast: 3.5 },
          detail: sayBoth(times.ours, times.fetch),
        },
      ];
    });
  },
};

function listKeys(url: string): Promise<LibraryKey[]> {
  return withClient(url, async (service) =>
    Array.from((await service.listLibraries(never)).libraries, (one) => one.key),
  );
}

function readAll(url: string, keys: readonly LibraryKey[]): Promise<void> {
  return withClient(url, (service) => inParallel(keys, CONCURRENCY, (key) => service.readContent(key, NOWHERE, never)));
}
