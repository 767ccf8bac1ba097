import { drizzle } from "drizzle-orm/node-postgres";
import type { Scenario } from "../../src/model.ts";
import { createValueParsers, libraries as librariesTable, scenarios as scenariosTable } from "../built.ts";
import type { ReadLibrary } from "../tools/contents.ts";
import type { Database } from "../tools/database.ts";

const { microseconds } = createValueParsers("UTC");
const NOW = new Date();

const LIBRARY_KEY = [librariesTable.owner, librariesTable.libraryName];
const SCENARIO_KEY = [scenariosTable.owner, scenariosTable.libraryName, scenariosTable.scenarioId];

/**
 * A simple program: one statement per row through the ORM, all in one transaction. It upserts, because a program that
 * keeps a copy runs more than once.
 */
export async function upsertRowByRow({ pool }: Database, libraries: readonly ReadLibrary[]): Promise<void> {
  await drizzle(pool).transaction(async (transaction) => {
    for (const { listed, received, scenarios } of libraries) {
      const library = toLibraryRow(listed, received);
      await transaction
        .insert(librariesTable)
        .values(library)
        .onConflictDoUpdate({ target: LIBRARY_KEY, set: library });
      for (const one of scenarios) {
        const scenario = toScenarioRow(listed.key, one);
        await transaction
          .insert(scenariosTable)
          .values(scenario)
          .onConflictDoUpdate({ target: SCENARIO_KEY, set: scenario });
      }
    }
  });
}

const VERSION = { firstSeenAt: NOW, changedAt: NOW, runId: 1 };

function toLibraryRow({ key, lastModified, source }: ReadLibrary["listed"], { metadata }: ReadLibrary["received"]) {
  const { source: raw = null, ...fields } = metadata ?? {};
  return {
    ...fields,
    ...VERSION,
    owner: key.owner,
    libraryName: key.name,
    lastModified,
    lastModifiedAt: toDate(lastModified),
    listed: JSON.parse(source ?? "null"),
    metadata: JSON.parse(raw ?? "null"),
  };
}

function toScenarioRow(key: ReadLibrary["listed"]["key"], one: Scenario) {
  return {
    ...VERSION,
    owner: key.owner,
    libraryName: key.name,
    scenarioId: BigInt(one.id),
    parentId: one.parentId === null ? null : BigInt(one.parentId),
    scenarioName: one.name,
    isResult: one.isResult,
    lastModified: one.lastModified,
    lastModifiedAt: toDate(one.lastModified),
    description: one.description,
    raw: JSON.parse(one.source),
  };
}

function toDate(text: string | null): Date | null {
  const at = microseconds(text);
  return at === null ? null : new Date(Number(at / 1000n));
}
