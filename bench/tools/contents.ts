import type { ListedLibrary, ReadOutcome, ReceivedContent, Scenario, StoredLibrary } from "../../src/model.ts";
import { buildLibraryContent, hashContent } from "../built.ts";
import { CONCURRENCY, withClient } from "./client.ts";
import { inParallel } from "./in-parallel.ts";

/** A library as read, before any decision about it. */
export interface ReadLibrary {
  readonly listed: ListedLibrary;
  readonly received: ReceivedContent;
  /** In ms since the epoch. */
  readonly readAt: number;
  readonly scenarios: readonly Scenario[];
}

const never = new AbortController().signal;

/** Reads the whole organization into memory. */
export async function readEverything(url: string): Promise<ReadLibrary[]> {
  return withClient(url, async (service) => {
    const { libraries } = await service.listLibraries(never);
    const found: ReadLibrary[] = [];
    await inParallel(libraries, CONCURRENCY, async (listed) => {
      const scenarios: Scenario[] = [];
      const received = await service.readContent(listed.key, collectInto(scenarios), never);
      found.push({ listed, received, readAt: Date.now(), scenarios });
    });
    return found;
  });
}

function collectInto(scenarios: Scenario[]) {
  return {
    restart: async () => {
      scenarios.length = 0;
    },
    add: async (more: readonly Scenario[]) => {
      scenarios.push(...more);
    },
    sources: async () => new Map(),
    remove: async () => {},
    finish: async () => ({ kind: "memory", scenarios, count: scenarios.length }) as const,
  };
}

/** What a run's reader would yield, given the stored state. */
export function outcomeOf(
  { listed, received, readAt }: ReadLibrary,
  stored: StoredLibrary | null,
  listedAt: number,
): ReadOutcome {
  const contentHash = hashContent(listed, received, "UTC");
  const facts = { listedAt, readAt, contentHash, hashesTrustedSince: null, mayBeOther: false };
  const action = { listed, stored, reason: "forced" } as const;
  const buffer = { ...collectInto([]), free: async () => {} };
  return { kind: "read", action, content: buildLibraryContent(action, received, facts), buffer };
}
