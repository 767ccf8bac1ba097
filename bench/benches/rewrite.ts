import type { Bench } from "../bench.ts";
import { type ReadLibrary, readEverything } from "../tools/contents.ts";
import type { Database } from "../tools/database.ts";
import { formatMedians, ratios, repeatedRounds, timed } from "../tools/measure.ts";
import { withService } from "../tools/service.ts";
import { store } from "../tools/store.ts";

const CONTENT_TABLES = ["libraries", "scenarios", "library_history", "scenario_history"];

export const rewrite: Bench = {
  work: "storing 100,000 scenarios again: first unchanged, then with one scenario in a hundred changed",
  async run({ tiny, rounds, database }) {
    const count = tiny ? 40 : 5_000;
    const versions = await readVersions(count);
    const times = { first: [] as number[], same: [] as number[], changed: [] as number[] };
    for (let round = 0; round < repeatedRounds({ tiny, rounds }); round++) {
      await database.reset();
      times.first.push(await timed(() => store(database, versions.before)));
      await database.pool.query("CHECKPOINT");
      const before = await database.newestWrite(CONTENT_TABLES);
      times.same.push(await timed(() => storeSame(database, versions.before)));
      if ((await database.newestWrite(CONTENT_TABLES)) !== before)
        throw new Error("unchanged content was written again");
      times.changed.push(await timed(() => store(database, versions.after)));
    }
    return [
      {
        name: "unchanged ÷ first load",
        values: ratios(times.same, times.first),
        target: { atMost: 0.15 },
        detail: `${formatMedians(times.same, times.first)}; only library_sync was written`,
      },
      {
        name: "1 % changed ÷ first load",
        values: ratios(times.changed, times.first),
        target: { atMost: 0.3 },
        detail: formatMedians(times.changed, times.first),
      },
    ];
  },
};

/** With 20 scenarios per library, one change in every fifth library is one scenario in a hundred. */
async function readVersions(count: number): Promise<{ before: ReadLibrary[]; after: ReadLibrary[] }> {
  return withService({ libraries: count, scenarios: 20, latencyMs: 0 }, async (service) => {
    const before = await readEverything(service.url);
    await service.order({ kind: "edit", count: count / 5, round: 1 });
    return { before, after: await readEverything(service.url) };
  });
}

async function storeSame(database: Database, libraries: readonly ReadLibrary[]): Promise<void> {
  const saved = await store(database, libraries);
  if (saved.some(({ changed }) => changed)) throw new Error("unchanged content was treated as changed");
}
