import type { DatabaseClock } from "../db/clock.ts";
import type { Connection, Pool } from "../db/connect.ts";
import { databaseError, driverError } from "../db/db-errors.ts";
import type { Lease } from "../db/lease.ts";
import { openLibraryWriter } from "../db/store/library-writer.ts";
import {
  MEMORY_LIMITS,
  type MemoryLimits,
  openScenarioBuffer,
  type ScenarioBuffer,
} from "../db/store/scenario-buffer.ts";
import { openStaging } from "../db/store/staging.ts";
import { readNoStoredFields, readStoredFields } from "../db/store/stored-fields.ts";
import { attributeError, RefusedRows } from "../db/store/write-in-halves.ts";
import { withTransaction } from "../db/transaction.ts";
import { ContentError } from "../errors.ts";
import { formatKey } from "../key.ts";
import type { ContentRead, LibraryContent, LibraryKey, ReadAction } from "../model.ts";
import type { Service } from "../service/client.ts";
import { toContent } from "./content.ts";
import { failLibrary, unstorable } from "./fail-library.ts";
import type { Prepared, RunSettings } from "./prepare.ts";
import { readLibraries } from "./read-libraries.ts";
import { findLostFields, lacksFields, watchDrift } from "./rules/drift.ts";
import { guardScenarios } from "./rules/guard.ts";
import { findOtherListed } from "./rules/named-library.ts";
import type { RunEvent } from "./run-event.ts";
import type { Tally } from "./tally.ts";
import type { TextReader } from "./texts.ts";
import { warnOfUnrecorded } from "./warnings.ts";

export interface StoreTools {
  readonly pool: Pool;
  readonly clock: DatabaseClock;
  readonly lease: Lease;
  readonly service: Service;
  readonly settings: RunSettings;
  readonly runId: number;
  readonly allowRemovals: boolean;
  readonly hashesSince: number | null;
  readonly tally: Tally;
  readonly texts: TextReader;
  readonly mask: (message: string) => string;
  readonly tell: (event: RunEvent) => void;
  readonly memory?: MemoryLimits;
}

/** Reads the planned libraries and stores them, under the run's token. */
export async function storeContent(
  tools: StoreTools,
  { listing, plan, listedAt }: Prepared,
  signal: AbortSignal,
): Promise<void> {
  const { pool, clock, lease, service, settings, runId, tally, texts, tell } = tools;
  if (plan.actions.length === 0) return;
  const actions = new WeakMap<LibraryContent, ReadAction>();
  const buffers = new WeakMap<LibraryContent, ScenarioBuffer>();
  const budget = { usedBytes: 0, limits: tools.memory ?? MEMORY_LIMITS };
  const staging = openStaging(pool, lease, texts.microseconds);
  await staging.clear();

  const failed = ({ listed: { key } }: ReadAction, error: ContentError) => failLibrary(tools, key, error);
  const writer = openLibraryWriter({
    pool,
    lease,
    context: {
      runId,
      microseconds: texts.microseconds,
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
      return failed(action, unstorable("storing the library", error));
    },
    onUnrecorded: ({ key }, error) =>
      warnOfUnrecorded(
        tally,
        key,
        tools.mask(databaseError("writing its row of library_sync", driverError(error)).message),
      ),
  });
  const isListed = (key: LibraryKey) => listing.libraries.find(key) !== undefined;
  const findLost = async (content: LibraryContent, read: ContentRead) => {
    if (content.isNew || content.isSame || !lacksFields(read)) return [];
    const options = {
      operation: "comparing the fields of a library with its stored rows",
      snapshot: true,
      byKey: true,
    };
    const find = (connection: Connection) => readStoredFields(connection, content);
    const stored = await attributeError(
      (patience) => withTransaction(pool, { ...options, ...patience }, find, lease.lost),
      () => withTransaction(pool, options, readNoStoredFields, lease.lost),
    );
    return findLostFields(read, stored);
  };
  await readLibraries(
    plan.actions,
    {
      service,
      writer,
      drift: watchDrift(),
      findLost,
      concurrency: settings.concurrency,
      openBuffer: () => openScenarioBuffer(staging, budget),
      toContent: (action, read, scenarios) => {
        const { key } = action.listed;
        const other = read.metadata && findOtherListed(read.metadata, key, isListed);
        if (other) throw mismatched(key, other);
        return toContent(action, { ...read, startedAt: clock.at(read.startedAt) }, scenarios, {
          listedAt,
          serviceTimezone: settings.serviceTimezone,
          hashesSince: tools.hashesSince,
        });
      },
      onRead: (action, content, buffer) => {
        actions.set(content, action);
        buffers.set(content, buffer);
      },
      onFailed: (action, error) => writer.fail(failed(action, error)),
      asRefusal: (error) => (error instanceof RefusedRows ? unstorable("storing the library", error.cause) : null),
    },
    signal,
  );
}

function mismatched(key: LibraryKey, other: LibraryKey): ContentError {
  return new ContentError(
    "mismatched",
    `the metadata that was received for ${formatKey(key)} names ${formatKey(other)}, another listed library, so nothing was overwritten. Does a proxy or cache mix up answers?`,
  );
}
