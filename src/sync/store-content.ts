import type { DatabaseClock } from "../db/clock.ts";
import type { Pool } from "../db/connect.ts";
import { databaseError, isBadData } from "../db/failures.ts";
import type { Lease } from "../db/lease.ts";
import { readSnapshot } from "../db/snapshot.ts";
import { openLibraryWriter } from "../db/store/library-writer.ts";
import {
  MEMORY_LIMITS,
  type MemoryLimits,
  openScenarioBuffer,
  type ScenarioBuffer,
} from "../db/store/scenario-buffer.ts";
import { openStaging } from "../db/store/staging.ts";
import { readStoredFields } from "../db/store/stored-fields.ts";
import { ContentError, DatabaseError } from "../errors.ts";
import type { LibraryContent, ReadAction } from "../model.ts";
import type { Service } from "../service/client.ts";
import { toContent } from "./content.ts";
import type { Prepared, RunSettings } from "./prepare.ts";
import { readLibraries } from "./read-libraries.ts";
import { watchDrift } from "./rules/drift.ts";
import { guardScenarios } from "./rules/guard.ts";
import type { RunEvent } from "./run-event.ts";
import type { Tally } from "./tally.ts";
import type { TextReader } from "./texts.ts";

export interface StoreTools {
  readonly pool: Pool;
  readonly clock: DatabaseClock;
  readonly lease: Lease;
  readonly service: Service;
  readonly settings: RunSettings;
  readonly runId: number;
  readonly allowRemovals: boolean;
  readonly trustHash: boolean;
  readonly tally: Tally;
  readonly texts: TextReader;
  readonly mask: (message: string) => string;
  readonly tell: (event: RunEvent) => void;
  readonly memory?: MemoryLimits;
}

/** Reads the planned libraries and stores them, under the run's token. */
export async function storeContent(
  tools: StoreTools,
  { plan, listedAt }: Prepared,
  signal: AbortSignal,
): Promise<void> {
  const { pool, clock, lease, service, settings, runId, tally, texts, tell } = tools;
  if (plan.actions.length === 0) return;
  const actions = new WeakMap<LibraryContent, ReadAction>();
  const buffers = new WeakMap<LibraryContent, ScenarioBuffer>();
  const budget = { usedBytes: 0, limits: tools.memory ?? MEMORY_LIMITS };
  const staging = openStaging(pool, lease, texts.seconds);
  await staging.clear();

  const failed = ({ listed: { key } }: ReadAction, error: ContentError) => {
    const { code, rejects } = error;
    const message = tools.mask(error.message);
    tally.failed({ key, code, message });
    tally.rejected(rejects);
    tell({ kind: "failed", key, code, message });
    if (rejects.length > 0) tell({ kind: "rejected", key, rejects });
    return { key, error: `${code}: ${message}`, rejects };
  };
  const writer = openLibraryWriter({
    pool,
    lease,
    context: {
      runId,
      seconds: texts.seconds,
      bytes: texts.bytes,
      guard: (numbers) => guardScenarios({ ...numbers, maxRemoved: settings.maxRemoved, allowed: tools.allowRemovals }),
    },
    onSaved: async (content, saved) => {
      const action = actions.get(content);
      if (action) tally.saved(action, content, saved);
      tally.rejected(content.rejects);
      if (content.rejects.length > 0) tell({ kind: "rejected", key: saved.key, rejects: content.rejects });
      await buffers.get(content)?.free();
      tell({ kind: "stored", key: saved.key });
    },
    onRefused: async (content, error) => {
      const action = { listed: content.listed, stored: null, reason: "forced" } as const;
      await buffers.get(content)?.free();
      return failed(action, unstorable(error));
    },
  });
  const drift = watchDrift(await readSnapshot(pool, "reading which fields are stored", readStoredFields, signal));
  await readLibraries(
    plan.actions,
    {
      service,
      writer,
      drift,
      concurrency: settings.concurrency,
      openBuffer: () => openScenarioBuffer(staging, budget),
      toContent: (action, read, scenarios) =>
        toContent(action, { ...read, startedAt: clock.at(read.startedAt) }, scenarios, {
          listedAt,
          serviceTimezone: settings.serviceTimezone,
          trustHash: tools.trustHash,
        }),
      onRead: (action, content, buffer) => {
        actions.set(content, action);
        buffers.set(content, buffer);
      },
      onFailed: (action, error) => writer.fail(failed(action, error)),
      asRefusal: (error) => (isBadData(error) && !(error instanceof DatabaseError) ? unstorable(error) : null),
    },
    signal,
  );
}

function unstorable(error: unknown): ContentError {
  return new ContentError("unstorable", databaseError("storing the library", error).message, { cause: error });
}
