import { hash } from "node:crypto";
import { COLUMN_SIGNATURE } from "../db/store/columns.ts";
import { RefusedRows, refusedByDatabase } from "../db/store/save-in-halves.ts";
import { createScenarioBuffers } from "../db/store/scenario-buffer.ts";
import { ContentError } from "../errors.ts";
import { formatKey, keyText } from "../key.ts";
import type { LibraryKey, ListedLibrary, ReadAction, ReadOutcome, ReceivedContent } from "../model.ts";
import { DriftFinder } from "./find-drift.ts";
import type { PlannedRun } from "./plan-run.ts";
import { DRIFT_ADVICE } from "./rules/drift.ts";
import { buildLibraryContent, findOtherListed, mayBeOther } from "./rules/library-content.ts";
import type { Run } from "./run-types.ts";

/**
 * Reads one library. Many reads may be in flight, which share the memory for scenarios.
 * @throws ContentError if this library failed; anything else ends the run
 */
export type ReadLibrary = (action: ReadAction, signal: AbortSignal) => Promise<Extract<ReadOutcome, { kind: "read" }>>;

export async function createLibraryReader(run: Run, planned: PlannedRun): Promise<ReadLibrary> {
  const createBuffer = await createScenarioBuffers(run);
  const drift = new DriftFinder(run, planned.listing.libraries);
  const { hashesTrustedSince, settings } = run;
  const { listing, listedAt, plan } = planned;
  const unheld = new Set(plan.unheld.map(keyText));
  const held = new Set(plan.missing.map(keyText).filter((key) => !unheld.has(key)));
  const isListed = (key: LibraryKey) => listing.libraries.has(key);

  return async (action, signal) => {
    const { key } = action.listed;
    const buffer = createBuffer();
    try {
      const failedBefore = (action.stored?.sync?.failures ?? 0) > 0;
      const received = await run.service.readContent({ ...key, failedBefore }, buffer, signal);
      const { metadata } = received;
      // A library that was never stored may be a renamed one whose metadata still has its earlier name.
      const isStored = action.stored?.state === "live";
      const isOther = (named: LibraryKey) => isListed(named) || (isStored && held.has(keyText(named)));
      const other = metadata && findOtherListed(metadata, key, isOther);
      if (other) throw mismatched(key, other);
      const isUncertain = metadata !== null && mayBeOther(metadata, key, isListed);
      const readAt = run.clock.at(received.sentAt);
      const contentHash = hashContent(action.listed, received, settings.serviceTimezone);
      const facts = { listedAt, readAt, contentHash, hashesTrustedSince, isUncertain };
      const content = buildLibraryContent(action, received, await buffer.finish(), facts);
      const lost = await drift.explain(action, content, received, signal);
      if (lost !== "") throw new ContentError("drift", `${lost}. ${DRIFT_ADVICE}`, { rejects: received.rejects });
      return { kind: "read", action, content, buffer };
    } catch (thrown) {
      const error = thrown instanceof RefusedRows ? refusedByDatabase("storing the library", thrown.cause) : thrown;
      if (error instanceof ContentError) await buffer.free();
      throw error;
    }
  };
}

function mismatched(key: LibraryKey, other: LibraryKey): ContentError {
  return new ContentError(
    "mismatched",
    `the metadata that was received for ${formatKey(key)} names ${formatKey(other)}, another library of this owner, so nothing was overwritten. Does a proxy or cache mix up answers?`,
  );
}

/** Raise this if the same text is parsed to another value than before, so that stored rows are compared again. */
const PARSERS = 1;

/** Earlier versions of simcat numbered their hashes by hand. Number 2 is the version of the fields and parsers with this digest. */
const NUMBERED: Readonly<Record<string, number>> = { IhdRwtUrStVf: 2 };

/**
 * Part of every content hash. It changes with the stored fields, so after a field is added the next read of each library
 * compares its rows, whatever its stored hash is.
 */
export function hashVersion(fields: readonly string[]): number | string {
  const digest = hash("sha256", JSON.stringify([PARSERS, fields]), "base64url").slice(0, 12);
  return NUMBERED[digest] ?? digest;
}

const HASH_VERSION = hashVersion(COLUMN_SIGNATURE);

/** Equal for two reads of a library only if both store the same rows. Base64url. */
export function hashContent(
  { source }: ListedLibrary,
  { digest }: Pick<ReceivedContent, "digest">,
  serviceTimezone: string,
): string {
  return hash("sha256", JSON.stringify([HASH_VERSION, serviceTimezone, source, digest]), "base64url");
}
