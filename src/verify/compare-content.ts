import type { Connection, Pool } from "../db/connect.ts";
import type { TextParsers } from "../db/content-fields.ts";
import {
  type ComparedRow,
  compareLibraryRow,
  compareScenarioRows,
  MAX_EXAMPLES,
  readScenarioSources,
  readUnlistedScenarios,
} from "../db/read/compare-rows.ts";
import type { ReadSource } from "../db/read/read-source.ts";
import { readSnapshot } from "../db/transaction.ts";
import type { ListedLibrary, ReceivedContent, Scenario, ScenarioId, ScenarioSink } from "../model.ts";
import type { DifferenceKind, LibraryDifference, ScenarioDifference } from "./findings.ts";

export interface StoredSide {
  readonly pool: Pool;
  readonly source: ReadSource;
  readonly parsers: TextParsers;
}

/** Long lists are compared in chunks of this size to bound memory; shorter ones in one snapshot. */
const ITEMS_AT_ONCE = 5_000;
const BYTES_AT_ONCE = 8 * 2 ** 20;

/** Takes one library's scenarios while they are read, and compares them with its rows. */
export function compareContent({ pool, source, parsers }: StoredSide, listed: ListedLibrary, signal: AbortSignal) {
  const { key } = listed;
  const held = new Map<ScenarioId, Scenario>();
  let bytes = 0;
  const seen = new Set<ScenarioId>();
  const differing = new Map<ScenarioId, ScenarioDifference>();

  const look = <T>(work: (connection: Connection) => Promise<T>) =>
    readSnapshot(pool, "reading a library's rows", work, signal);
  const compareHeld = async (connection: Connection) => {
    const found = await compareScenarioRows({ connection, source, key }, [...held.values()], parsers);
    for (const { id, state, columns } of found) differing.set(id, { id, kind: kindOfState(state), columns });
  };
  const sink: ScenarioSink = {
    async restart() {
      for (const all of [held, seen, differing]) all.clear();
      bytes = 0;
    },
    async add(scenarios) {
      for (const one of scenarios) {
        held.set(one.id, one);
        seen.add(one.id);
        bytes += one.source.length;
      }
      if (held.size < ITEMS_AT_ONCE && bytes < BYTES_AT_ONCE) return;
      await look(compareHeld);
      held.clear();
      bytes = 0;
    },
    async sources(ids) {
      const inMemory = ids.flatMap((id) => held.get(id) ?? []);
      // An item that agreed equals its row. The source of an item that differed was discarded, and it differs anyway.
      const agreed = ids.filter((id) => !held.has(id) && !differing.has(id));
      const stored =
        agreed.length === 0 ? [] : await look((connection) => readScenarioSources({ connection, source, key }, agreed));
      return new Map([...stored, ...inMemory.map((one) => [one.id, one.source] as const)]);
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
    const scenarios = summarizeScenarios([
      ...differing.values(),
      ...unlisted.map((id) => ({ id, kind: "unlisted" as const, columns: [] })),
    ]);
    const kind = kindOfState(row.state);
    const agrees = kind === "content" && row.columns.length === 0 && scenarios.examples.length === 0;
    const difference = { key, kind, columns: row.columns, ...scenarios, removalHeldAt: null };
    return { difference: agrees ? null : difference, scenarios: seen.size };
  };
  return { sink, finish };
}

const kindOfState = (state: ComparedRow["state"]): DifferenceKind => (state === "live" ? "content" : state);

/** Counts the differences by kind and keeps the first ones as examples. */
export function summarizeScenarios(
  found: readonly ScenarioDifference[],
): Pick<LibraryDifference, "counts" | "examples"> {
  const counts = { missing: 0, removed: 0, unlisted: 0, content: 0 };
  const examples = found.filter(({ kind }) => ++counts[kind] <= MAX_EXAMPLES);
  return { counts, examples };
}
