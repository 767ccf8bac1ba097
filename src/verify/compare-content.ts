import { findDifferences, type RowDifference, readScenarioSources, type StoredRows } from "../db/read/compare-rows.ts";
import type { ListedLibrary, ReceivedContent, Scenario, ScenarioId, ScenarioSink } from "../model.ts";
import { DISCARD } from "../service/client.ts";

/** Characters of the items that differ from their rows which are kept, in case that the list repeats them. */
const KEPT_CHARS = 2 ** 20;

/** Compares one library's scenarios with its rows while they are received, so a long list takes little memory. */
export function compareContent(stored: StoredRows, listed: ListedLibrary) {
  /** The scenarios that were received last, so that a short list is compared on one snapshot. */
  let waiting: readonly Scenario[] = [];
  const seen = new Set<ScenarioId>();
  const differing = new Map<ScenarioId, RowDifference>();
  const differingTexts = new Map<ScenarioId, string>();
  let keptChars = 0;
  /** Returns how the library's own row differs. */
  const compare = async (end?: Parameters<typeof findDifferences>[2]) => {
    const found = await findDifferences(stored, waiting, end);
    for (const one of found) if (one.id !== null) differing.set(one.id, one);
    for (const { id, source } of waiting) {
      if (!differing.has(id) || keptChars >= KEPT_CHARS) continue;
      differingTexts.set(id, source);
      keptChars += source.length;
    }
    return found.find(({ id }) => id === null) ?? ({ kind: "content", columns: [] } as const);
  };
  const sink: ScenarioSink = {
    async restart() {
      for (const all of [seen, differing, differingTexts]) all.clear();
      keptChars = 0;
      waiting = [];
    },
    async add(scenarios) {
      if (waiting.length > 0) await compare();
      waiting = scenarios;
      for (const { id } of scenarios) seen.add(id);
    },
    async sources(ids) {
      // An item that agreed equals its row. The texts of many that differed are not known.
      const agreed = ids.filter((id) => !differing.has(id));
      const inMemory = waiting.map(({ id, source }) => [id, source] as const);
      return new Map([...(await readScenarioSources(stored, agreed)), ...differingTexts, ...inMemory]);
    },
    async remove(id) {
      for (const all of [seen, differing, differingTexts]) all.delete(id);
      waiting = waiting.filter((one) => one.id !== id);
    },
    finish: DISCARD.finish,
  };
  /** Returns how the rows differ, null if they do not, and how many scenarios were compared. `kind` and `columns` are of its own row. */
  const finish = async ({ metadata, rejects }: ReceivedContent) => {
    // The row of an item that could not be read stays, so its absence from the good ones means nothing.
    const isWhole = rejects.every(({ kind }) => kind !== "scenario");
    const { kind, columns } = await compare({ library: { listed, metadata }, listed: isWhole ? seen : null });
    const agrees = kind === "content" && columns.length === 0 && differing.size === 0;
    return { difference: agrees ? null : { kind, columns, scenarios: [...differing.values()] }, compared: seen.size };
  };
  return { sink, finish };
}
