import pg from "pg";
import type { Organization } from "../../src/mock/organization.ts";
import { metadataSource, scenarioSource } from "../support/mock/answer.ts";
import type { MockLibrary } from "../support/mock/library.ts";

export interface Watch {
  /** The service has changed: its new content is valid too from now on. */
  learn(organization: Organization): void;
  /** Call after emptying the tables between two reads: discards what has been seen so far. */
  between(work: () => Promise<unknown>): Promise<void>;
  readonly looks: () => number;
  /** Stops reading; returns one sentence per violation. */
  stop(): Promise<string[]>;
}

/** One snapshot: each live library with its metadata and all of its live scenarios. */
const LOOK = `
SELECT l.owner, l.library_name AS name, l.metadata,
  coalesce(jsonb_agg(s.raw ORDER BY s.scenario_id) FILTER (WHERE s.removed_at IS NULL AND s.scenario_id IS NOT NULL), '[]') AS scenarios
FROM simcat.libraries l LEFT JOIN simcat.scenarios s USING (owner, library_name)
WHERE l.removed_at IS NULL GROUP BY l.owner, l.library_name`;

/**
 * A reader that polls continuously, as a dashboard would. A library must match the service at one moment (metadata and
 * scenarios of the same moment) or not exist yet; once it exists it must not disappear.
 */
export async function watchLibraries(url: string, organization: Organization): Promise<Watch> {
  const client = new pg.Client({ connectionString: url, application_name: "reader" });
  client.on("error", () => {});
  await client.connect();
  const right = new Map<string, Set<string>>();
  const seen = new Set<string>();
  const wrong: string[] = [];
  let looks = 0;
  let looking = true;

  const learn = (changed: Organization) => {
    for (const one of changed.libraries()) {
      const key = JSON.stringify([one.owner, one.name]);
      const versions = right.get(key) ?? new Set();
      right.set(key, versions.add(versionOf(one)));
    }
  };
  learn(organization);

  const look = async () => {
    const { rows } = await client.query<{ owner: string; name: string; metadata: unknown; scenarios: unknown[] }>(LOOK);
    const there = new Set<string>();
    for (const row of rows) {
      const key = JSON.stringify([row.owner, row.name]);
      there.add(key);
      if (!right.get(key)?.has(canonical([row.metadata, row.scenarios]))) {
        wrong.push(`${key} was seen with ${row.scenarios.length} scenarios as the service never had it`);
      }
    }
    for (const key of seen) if (!there.has(key)) wrong.push(`${key} was there and is not any more`);
    for (const key of there) seen.add(key);
    looks += 1;
  };
  let turn: Promise<unknown> = Promise.resolve();
  const inTurn = (work: () => Promise<unknown>) => {
    turn = turn.then(work);
    return turn;
  };
  const looked = (async () => {
    while (looking) await inTurn(look);
  })();
  looked.catch(() => {});

  return {
    learn,
    async between(work) {
      await inTurn(async () => {
        await work();
        seen.clear();
      });
    },
    looks: () => looks,
    async stop() {
      looking = false;
      await looked;
      await client.end();
      return wrong;
    },
  };
}

function versionOf(library: MockLibrary): string {
  const scenarios = library.scenarios.toSorted((a, b) => a.scenarioId - b.scenarioId);
  return canonical([JSON.parse(metadataSource(library)), scenarios.map((one) => JSON.parse(scenarioSource(one)))]);
}

/** jsonb has its own field order. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_, inner: unknown) =>
    typeof inner === "object" && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  );
}
