import type { Connection, Pool } from "../db/connect.ts";
import type { TextParsers } from "../db/content-fields.ts";
import {
  type ComparedScenario,
  compareLibraryRow,
  compareScenarioRows,
  readScenarioSources,
  readUnlistedScenarios,
} from "../db/read/compare-rows.ts";
import { readSnapshot } from "../db/transaction.ts";
import type { ListedLibrary, ReceivedContent, Scenario, ScenarioId, ScenarioSink } from "../model.ts";
import { type LibraryDifference, MAX_EXAMPLES, type ScenarioDifference, toScenarioDifferences } from "./findings.ts";

/** Takes one library's scenarios while they are read, and says in the end how its rows differ. */
interface ContentComparison extends ScenarioSink {
  finish(read: ReceivedContent): Promise<{ readonly difference: LibraryDifference | null; readonly scenarios: number }>;
}

/** Long lists are compared in chunks of this size to bound memory; shorter ones in one snapshot. */
const ITEMS_AT_ONCE = 5_000;
const BYTES_AT_ONCE = 8 * 2 ** 20;

export function compareContent(
  pool: Pool,
  listed: ListedLibrary,
  parse: TextParsers,
  signal: AbortSignal,
): ContentComparison {
  const { key } = listed;
  let held = new Map<ScenarioId, Scenario>();
  let bytes = 0;
  let seen = new Set<ScenarioId>();
  let differing = new Map<ScenarioId, ComparedScenario>();

  const look = <T>(work: (connection: Connection) => Promise<T>) =>
    readSnapshot(pool, "reading a library's rows", work, signal);
  const compareHeld = (connection: Connection) =>
    compareScenarioRows(connection, key, [...held.values()], parse, MAX_EXAMPLES - differing.size);
  const take = (found: readonly ComparedScenario[]) => {
    for (const one of found) differing.set(one.id, one);
    held = new Map();
    bytes = 0;
  };
  return {
    async restart() {
      take([]);
      seen = new Set();
      differing = new Map();
    },
    async add(scenarios) {
      for (const one of scenarios) {
        held.set(one.id, one);
        seen.add(one.id);
        bytes += one.source.length;
      }
      if (held.size >= ITEMS_AT_ONCE || bytes >= BYTES_AT_ONCE) take(await look(compareHeld));
    },
    async sources(ids) {
      const inMemory = ids.flatMap((id) => held.get(id) ?? []);
      // An item that agreed equals its row. The source of an item that differed was discarded, and it differs anyway.
      const agreed = ids.filter((id) => !held.has(id) && !differing.has(id));
      const stored =
        agreed.length === 0 ? [] : await look((connection) => readScenarioSources(connection, key, agreed));
      return new Map([...stored, ...inMemory.map((one) => [one.id, one.source] as const)]);
    },
    async remove(id) {
      held.delete(id);
      seen.delete(id);
      differing.delete(id);
    },
    async finish(read) {
      // The row of an item that could not be read stays, so its absence from the good ones means nothing.
      const isWhole = read.rejects.every(({ kind }) => kind !== "scenario");
      const { row, last, unlisted } = await look(async (connection) => ({
        row: await compareLibraryRow(connection, { listed, metadata: read.metadata }, parse),
        last: await compareHeld(connection),
        unlisted: isWhole ? await readUnlistedScenarios(connection, key, seen) : [],
      }));
      take(last);
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
