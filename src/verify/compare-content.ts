import {
  type DifferenceKind,
  differentLibrary,
  differentScenarios,
  findDifferences,
  MAX_EXAMPLES,
  type RowDifference,
  readScenarioSources,
  type StoredRows,
  unlistedScenarios,
} from "../db/read/compare-rows.ts";
import type { BoundStatement } from "../db/statement.ts";
import type { LibraryKey, ListedLibrary, ReceivedContent, Scenario, ScenarioId, ScenarioSink } from "../model.ts";
import { DISCARD } from "../service/client.ts";

/** How the rows of a library differ from its content; `kind` and `columns` are those of its own row. */
export type ContentDifference = ReturnType<typeof toDifference>;

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
  const compare = async (...more: readonly BoundStatement[]) => {
    const found = await findDifferences(stored, [differentScenarios(stored, waiting), ...more]);
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
  /** Returns how the rows differ, null if they do not, and how many scenarios were compared. */
  const finish = async ({ metadata, rejects }: ReceivedContent) => {
    // The row of an item that could not be read stays, so its absence from the good ones means nothing.
    const isWhole = rejects.every(({ kind }) => kind !== "scenario");
    const unlisted = isWhole ? [unlistedScenarios(stored, seen)] : [];
    const { kind, columns } = await compare(differentLibrary(stored, { listed, metadata }), ...unlisted);
    const agrees = kind === "content" && columns.length === 0 && differing.size === 0;
    const difference = agrees ? null : toDifference(listed.key, kind, columns, differing.values());
    return { difference, compared: seen.size };
  };
  return { sink, finish };
}

/** Counts the scenarios by kind and keeps the first ones as examples. */
export function toDifference(
  key: LibraryKey,
  kind: DifferenceKind,
  columns: RowDifference["columns"] = [],
  scenarios: Iterable<RowDifference> = [],
) {
  const counts = { missing: 0, removed: 0, unlisted: 0, content: 0 };
  const examples = [...scenarios].filter((one) => ++counts[one.kind] <= MAX_EXAMPLES);
  return { key, kind, columns, counts, examples };
}
