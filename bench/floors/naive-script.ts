import { drizzle } from "drizzle-orm/node-postgres";
import type { LibraryKey } from "../../src/model.ts";
import { libraries, scenarios } from "../built.ts";
import type { Database } from "../tools/database.ts";
import { API_KEY } from "../tools/service-order.ts";
import { contentPaths } from "./paths.ts";

const headers = { "x-ss-api-key": API_KEY };
const NOW = new Date();
const VERSION = { firstSeenAt: NOW, changedAt: NOW, runId: 1 };

interface SentScenario {
  readonly scenarioId: number;
  readonly parentId: number | null;
  readonly scenarioName: string;
  readonly isResult: boolean;
  readonly lastModified: string;
  readonly description: string | null;
}

/** A simple script: it fetches one library after the other, and upserts each row in its own transaction. */
export async function fetchAndUpsert(url: string, { pool }: Database, keys: readonly LibraryKey[]): Promise<void> {
  const db = drizzle(pool);
  const read = async (path: string) => (await fetch(url + path, { headers })).json();
  for (const key of keys) {
    const [metadataPath = "", scenariosPath = ""] = contentPaths([key]);
    const metadata = (await read(metadataPath)) as Record<string, string | null>;
    const library = { owner: key.owner, libraryName: key.name };
    const fields = { ...VERSION, lastModified: metadata.lastModified, description: metadata.description, metadata };
    await db
      .insert(libraries)
      .values({ ...library, ...fields })
      .onConflictDoUpdate({ target: [libraries.owner, libraries.libraryName], set: fields });
    for (const one of (await read(scenariosPath)) as SentScenario[]) {
      const { scenarioId, parentId, ...rest } = one;
      const values = { ...VERSION, ...rest, parentId: parentId === null ? null : BigInt(parentId), raw: one };
      const target = [scenarios.owner, scenarios.libraryName, scenarios.scenarioId];
      await db
        .insert(scenarios)
        .values({ ...library, scenarioId: BigInt(scenarioId), ...values })
        .onConflictDoUpdate({ target, set: values });
    }
  }
}
