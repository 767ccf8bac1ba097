import type { Connection } from "../db/connect.ts";
import { compareFields } from "../db/read/compare-fields.ts";
import { createScenarioBuffer, MEMORY_LIMITS, type MemoryBudget } from "../db/store/scenario-buffer.ts";
import { createStaging, type Staging } from "../db/store/staging.ts";
import { detectRefusedRows, RefusedRows, refusedByDatabase } from "../db/store/write-in-halves.ts";
import { withTransaction } from "../db/transaction.ts";
import { ContentError } from "../errors.ts";
import { formatKey, keyText } from "../key.ts";
import type { LibraryContent, LibraryKey, ReadAction, ReceivedContent, ScenarioBuffer } from "../model.ts";
import { hashContent } from "./content-hash.ts";
import type { PlannedListing } from "./plan-run.ts";
import { findLostFields, type LostField, lackedFields, lacksFields } from "./rules/drift.ts";
import { buildLibraryContent } from "./rules/library-content.ts";
import { findOtherListed } from "./rules/named-library.ts";
import type { Run } from "./run-types.ts";

/** One library's content, received and compared with the stored rows; nothing of it is stored yet. */
export interface LibraryRead {
  readonly action: ReadAction;
  readonly received: ReceivedContent;
  readonly content: LibraryContent;
  readonly buffer: ScenarioBuffer;
  /** Fields that the stored rows have and the received content lacks. */
  readonly lostFields: readonly LostField[];
}

/**
 * Reads one library. Many reads may be in flight, which share the memory for scenarios.
 * @throws ContentError if this library failed; anything else ends the run
 */
export type ReadLibrary = (action: ReadAction, signal: AbortSignal) => Promise<LibraryRead>;

export async function createLibraryReader(run: Run, planned: PlannedListing): Promise<ReadLibrary> {
  const budget: MemoryBudget = { usedBytes: 0, limits: run.memory ?? MEMORY_LIMITS };
  const staging: Staging = createStaging(run.pool, run.lease, run.parsers);
  await staging.clear();
  const { hashesSince, settings } = run;
  const { listing, listedAt, plan } = planned;
  const unheld = new Set(plan.unheld.map(keyText));
  const held = new Set(plan.missing.map(keyText).filter((key) => !unheld.has(key)));
  /** A library that was moved may still name its earlier owner, so a missing one counts only by its name. */
  const isOther = ({ listed, stored }: ReadAction) => {
    const isStored = stored?.state === "live";
    return (key: LibraryKey) =>
      listing.libraries.find(key) !== undefined || (isStored && key.name !== listed.key.name && held.has(keyText(key)));
  };

  return async (action, signal) => {
    const { key } = action.listed;
    const buffer = createScenarioBuffer(staging, budget);
    try {
      const received = await run.service.readContent(key, buffer, signal);
      const other = received.metadata && findOtherListed(received.metadata, key, isOther(action));
      if (other) throw mismatched(key, other);
      const readAt = run.clock.at(received.sentAt);
      const contentHash = hashContent(action.listed, received, settings.serviceTimezone);
      const facts = { listedAt, readAt, contentHash, hashesSince };
      const content = buildLibraryContent(action, received, await buffer.finish(), facts);
      return { action, received, content, buffer, lostFields: await findLost(run, content, received) };
    } catch (thrown) {
      const error = thrown instanceof RefusedRows ? refusedByDatabase("storing the library", thrown.cause) : thrown;
      if (error instanceof ContentError) await buffer.free();
      throw error;
    }
  };
}

/** Compares the received fields with the stored rows of the library; asks the database only if a field is absent. */
async function findLost(
  { pool, lease }: Run,
  content: LibraryContent,
  received: ReceivedContent,
): Promise<readonly LostField[]> {
  if (content.kind !== "changed" || !lacksFields(received)) return [];
  const operation = "comparing the fields of a library with its stored rows";
  const find = (connection: Connection) => compareFields(connection, content, lackedFields(received));
  const stored = await detectRefusedRows(lease.write, operation, (patience) =>
    withTransaction(pool, { operation, snapshot: true, byKey: true, ...patience }, find, lease.lost),
  );
  return findLostFields(received, stored);
}

function mismatched(key: LibraryKey, other: LibraryKey): ContentError {
  return new ContentError(
    "mismatched",
    `the metadata that was received for ${formatKey(key)} names ${formatKey(other)}, another library of this organization, so nothing was overwritten. Does a proxy or cache mix up answers?`,
  );
}
