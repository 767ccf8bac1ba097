import type { Connection, Pool } from "../db/connect.ts";
import {
  type ComparedScenario,
  compareLibraryRow,
  compareScenarioRows,
  type ReadTexts,
  readScenarioSources,
  readUnlistedScenarios,
} from "../db/read/read-library-rows.ts";
import { readSnapshot } from "../db/snapshot.ts";
import type { ContentRead, ListedLibrary, Scenario, ScenarioId, ScenarioSink } from "../model.ts";
import { type LibraryDifference, MAX_EXAMPLES, type ScenarioDifference, toScenarioDifferences } from "./findings.ts";

/** Compares the scenarios of one library with its rows while they are read. */
export interface ContentComparison extends ScenarioSink {
  /** Compares the rest and the library's own row. `difference` is null if all rows agree. */
  finish(read: ContentRead): Promise<{ readonly difference: LibraryDifference | null; readonly scenarios: number }>;
}

/** Long lists are compared in chunks of this size to bound memory; shorter ones in one snapshot. */
const MAX_CHUNK_ITEMS = 5_000;
const MAX_CHUNK_BYTES = 8 * 2 ** 20;

export function compareContent(
  pool: Pool,
  listed: ListedLibrary,
  texts: ReadTexts,
  signal: AbortSignal,
): ContentComparison {
  const { key } = listed;
  let chunk = new Map<ScenarioId, Scenario>();
  let bytes = 0;
  let seen = new Set<ScenarioId>();
  let differing = new Map<ScenarioId, ComparedScenario>();

  const inSnapshot = <T>(work: (connection: Connection) => Promise<T>) =>
    readSnapshot(pool, "reading a library's rows", work, signal);
  const compareChunk = (connection: Connection) =>
    compareScenarioRows(connection, key, [...chunk.values()], texts, MAX_EXAMPLES - differing.size);
  const finishChunk = (found: readonly ComparedScenario[]) => {
    for (const scenario of found) differing.set(scenario.id, scenario);
    chunk = new Map();
    bytes = 0;
  };
  return {
    async restart() {
      finishChunk([]);
      seen = new Set();
      differing = new Map();
    },
    async add(scenarios) {
      for (const scenario of scenarios) {
        chunk.set(scenario.id, scenario);
        seen.add(scenario.id);
        bytes += scenario.source.length;
      }
      if (chunk.size >= MAX_CHUNK_ITEMS || bytes >= MAX_CHUNK_BYTES) finishChunk(await inSnapshot(compareChunk));
    },
    async sources(ids) {
      const inMemory = ids.flatMap((id) => chunk.get(id) ?? []);
      // An item that agreed equals its row. The source of an item that differed was discarded, and it differs anyway.
      const agreed = ids.filter((id) => !chunk.has(id) && !differing.has(id));
      const stored =
        agreed.length === 0 ? [] : await inSnapshot((connection) => readScenarioSources(connection, key, agreed));
      return new Map([...stored, ...inMemory.map(({ id, source }) => [id, source] as const)]);
    },
    async remove(id) {
      chunk.delete(id);
      seen.delete(id);
      differing.delete(id);
    },
    async finish(read) {
      // The row of a rejected item is kept, so it must not be reported as unlisted.
      const isWhole = read.rejects.every(({ kind }) => kind !== "scenario");
      const { row, last, unlisted } = await inSnapshot(async (connection) => ({
        row: await compareLibraryRow(connection, listed, read.metadata, texts),
        last: await compareChunk(connection),
        unlisted: isWhole ? await readUnlistedScenarios(connection, key, seen) : [],
      }));
      finishChunk(last);
      const scenarios = [...[...differing.values()].map(toDifference), ...unlisted.map(toUnlisted)];
      const agrees = row.state === "live" && row.columns.length + scenarios.length === 0;
      const kind = row.state === "live" ? "content" : row.state;
      const found = {
        key,
        kind,
        columns: row.columns,
        scenarios: toScenarioDifferences(scenarios),
        removalHeldAt: null,
      } as const;
      return { difference: agrees ? null : found, scenarios: seen.size };
    },
  };
}

function toDifference({ id, state, columns }: ComparedScenario): ScenarioDifference {
  return { id, kind: state === "live" ? "content" : state, columns };
}

function toUnlisted(id: ScenarioId): ScenarioDifference {
  return { id, kind: "unlisted", columns: [] };
}
