import type { Connection, Pool } from "../db/connect.ts";
import {
  type ColumnDifference,
  type ComparedRow,
  type ComparedScenario,
  compareLibraryRow,
  compareScenarioRows,
  MAX_EXAMPLES,
  readScenarioSources,
  readUnlistedScenarios,
} from "../db/read/compare-rows.ts";
import type { ReadSource } from "../db/read/read-source.ts";
import { readSnapshot } from "../db/transaction.ts";
import type { LibraryKey, ListedLibrary, ReceivedContent, Scenario, ScenarioId, ScenarioSink } from "../model.ts";
import type { TextParsers } from "../parse-values.ts";

/** As in ComparedRow. `unlisted`: only the database has it. */
export type DifferenceKind = ComparedRow["kind"] | "unlisted";

interface ScenarioDifference extends Pick<ComparedScenario, "id" | "columns"> {
  readonly kind: DifferenceKind;
}

/** How the rows of a library differ from its content. */
export interface ContentDifference {
  readonly key: LibraryKey;
  readonly kind: DifferenceKind;
  /** Differences of the library's own row. */
  readonly columns: readonly ColumnDifference[];
  /** How many of its scenarios differ. */
  readonly counts: Readonly<Record<DifferenceKind, number>>;
  /** The first MAX_EXAMPLES scenarios of each kind. */
  readonly examples: readonly ScenarioDifference[];
}

export interface StoredSide {
  readonly pool: Pool;
  readonly source: ReadSource;
  readonly parsers: TextParsers;
}

/** Long lists are compared in chunks of this size to bound memory; shorter ones in one snapshot. In characters. */
const CHUNK_CHARS = 2 ** 20;

/** Takes one library's scenarios while they are read, and compares them with its rows. */
export function compareContent({ pool, source, parsers }: StoredSide, listed: ListedLibrary, signal: AbortSignal) {
  const { key } = listed;
  const held = new Map<ScenarioId, Scenario>();
  let chars = 0;
  const seen = new Set<ScenarioId>();
  const differing = new Map<ScenarioId, ScenarioDifference>();

  const look = <T>(work: (connection: Connection) => Promise<T>) =>
    readSnapshot(pool, "reading a library's rows", work, signal);
  const compareHeld = async (connection: Connection) => {
    const found = await compareScenarioRows({ connection, source, key }, [...held.values()], parsers);
    for (const one of found) differing.set(one.id, one);
  };
  const sink: ScenarioSink = {
    async restart() {
      for (const all of [held, seen, differing]) all.clear();
      chars = 0;
    },
    async add(scenarios) {
      for (const one of scenarios) {
        held.set(one.id, one);
        seen.add(one.id);
        chars += one.source.length;
      }
      if (chars < CHUNK_CHARS) return;
      await look(compareHeld);
      held.clear();
      chars = 0;
    },
    async sources(ids) {
      const inMemory = ids.flatMap((id) => held.get(id) ?? []).map((one) => [one.id, one.source] as const);
      // An item that agreed equals its row. The text of one that differed is not known.
      const agreed = ids.filter((id) => !held.has(id) && !differing.has(id));
      const stored = await look((connection) => readScenarioSources({ connection, source, key }, agreed));
      return new Map([...inMemory, ...stored]);
    },
    async remove(id) {
      for (const all of [held, seen, differing]) all.delete(id);
    },
  };
  /** Returns how the rows differ, null if they do not, and the number of compared scenarios. */
  const finish = async ({ metadata, rejects }: ReceivedContent) => {
    // The row of an item that could not be read stays, so its absence from the good ones means nothing.
    const isWhole = rejects.every(({ kind }) => kind !== "scenario");
    const { row, unlisted } = await look(async (connection) => {
      await compareHeld(connection);
      return {
        row: await compareLibraryRow(connection, source, { listed, metadata }, parsers),
        unlisted: isWhole ? await readUnlistedScenarios({ connection, source, key }, seen) : [],
      };
    });
    for (const id of unlisted) differing.set(id, { id, kind: "unlisted", columns: [] });
    const agrees = row.kind === "content" && row.columns.length === 0 && differing.size === 0;
    return { difference: agrees ? null : toDifference(key, row, differing.values()), scenarios: seen.size };
  };
  return { sink, finish };
}

/** Counts the scenarios by kind and keeps the first ones as examples. */
export function toDifference(
  key: LibraryKey,
  { kind, columns }: Pick<ContentDifference, "kind" | "columns">,
  scenarios: Iterable<ScenarioDifference>,
): ContentDifference {
  const counts = { missing: 0, removed: 0, unlisted: 0, content: 0 };
  const examples = [...scenarios].filter((one) => ++counts[one.kind] <= MAX_EXAMPLES);
  return { key, kind, columns, counts, examples };
}
