import { hash } from "node:crypto";
import { setMaxListeners } from "node:events";
import { concurrently } from "../async.ts";
import { CircuitBreaker, outageError } from "../circuit-breaker.ts";
import { COLUMN_SIGNATURE } from "../db/store/columns.ts";
import { RefusedRows, refusedByDatabase } from "../db/store/refused-rows.ts";
import { saveOutcomes } from "../db/store/save-outcomes.ts";
import type { SaveContext } from "../db/store/save-scenarios.ts";
import { createScenarioBuffers } from "../db/store/scenario-buffer.ts";
import { ContentError, SourceUnavailableError } from "../errors.ts";
import { formatKey, keyText } from "../key.ts";
import type { FailedLibrary, LibraryKey, ListedLibrary, ReadAction, ReadOutcome, ReceivedContent } from "../model.ts";
import { DISCARD } from "../service/client.ts";
import { createDriftFinder } from "./find-drift.ts";
import type { PlannedRun } from "./plan-run.ts";
import { DRIFT_ADVICE, lacksFields } from "./rules/drift.ts";
import { guardScenarios } from "./rules/guard.ts";
import { buildLibraryContent, findOtherListed, isSilent, mayBeOther } from "./rules/library-content.ts";
import { hasFailed } from "./rules/settle.ts";
import type { Run } from "./run-types.ts";

/**
 * Reads the content of the planned libraries, `concurrency` at once, stores it, and yields what became of each. The libraries that
 * have already failed in this run are not read.
 * @throws what ended the run, after the requests in flight have ended and everything that was read is stored
 */
export function copyLibraries(run: Run, planned: PlannedRun, failed: readonly FailedLibrary[], signal: AbortSignal) {
  const { lease, mask, parsers, id: runId, settings, request } = run;
  const stop = new AbortController();
  const outcomes = readLibraries(run, planned, failed, stop, signal);
  const limits = { maxRemoved: settings.maxRemoved, allowed: request.allowRemovals };
  const context: SaveContext = { runId, parsers, guard: (numbers) => guardScenarios({ ...numbers, ...limits }) };
  return saveOutcomes(outcomes, { lease, mask, context }, stop);
}

/** Yields the outcome of each library, first those that have already failed. The reader and the writer abort `stop` to end the reading. */
async function* readLibraries(
  run: Run,
  planned: PlannedRun,
  alreadyFailed: readonly FailedLibrary[],
  stop: AbortController,
  signal: AbortSignal,
): AsyncGenerator<ReadOutcome> {
  for (const failure of alreadyFailed) yield { kind: "failed", failure };
  const { actions, witness } = planned.plan;
  if (actions.length === 0) return;
  const readLibrary = await createLibraryReader(run, planned);
  const stopped = AbortSignal.any([signal, stop.signal]);
  // Every request in flight listens to it.
  setMaxListeners(0, stopped);
  const outage = watchForOutage(run, witness, stopped);

  const read = async (action: ReadAction) => {
    try {
      stopped.throwIfAborted();
      return await readLibrary(action, stopped);
    } catch (error) {
      // Otherwise each waiting request would wait until the pause ends.
      if (error instanceof SourceUnavailableError) stop.abort(error);
      throw error;
    }
  };
  const failedKeys = new Set(alreadyFailed.map(({ key }) => keyText(key)));
  function* remaining(): Generator<ReadAction> {
    for (const action of actions) if (!failedKeys.has(keyText(action.listed.key))) yield action;
  }

  for await (const outcome of concurrently(remaining(), run.settings.concurrency, read, stop)) {
    if (outcome.kind === "read") {
      outage.addRead(outcome.action.listed.key);
      yield outcome;
      continue;
    }
    const { action, error } = outcome;
    const silent = ["all_rejected", "drift"].includes(error.code) && isSilent(action, null);
    yield { kind: "failed", failure: { ...error.toFailedLibrary(action.listed.key, run.mask), silent } };
    const down = stop.signal.aborted ? null : await outage.judgeFailure(action, error);
    if (down !== null) stop.abort(down);
  }
  stop.signal.throwIfAborted();
  await outage.assertRead();
}

/** Returns the function that reads one library. If only this library failed, it returns the ContentError. Every other error ends the run. */
async function createLibraryReader(run: Run, planned: PlannedRun) {
  const createBuffer = await createScenarioBuffers(run);
  const findDrift = createDriftFinder(run, planned.listing.libraries);
  const { hashesTrustedSince, settings } = run;
  const { listing, listedAt, plan } = planned;
  const held = new Set(plan.held.map(keyText));
  const isListed = (key: LibraryKey) => listing.libraries.has(key);

  return async (action: ReadAction, signal: AbortSignal) => {
    const { key } = action.listed;
    const buffer = createBuffer();
    try {
      const request = { ...key, failedBefore: hasFailed(action.stored) };
      const received = await run.service.readContent(request, buffer, signal);
      const { metadata } = received;
      // A library that was never stored may be a renamed one whose metadata still has its earlier name.
      const isStored = action.stored?.state === "live";
      const isOther = (named: LibraryKey) => isListed(named) || (isStored && held.has(keyText(named)));
      const other = metadata && findOtherListed(metadata, key, isOther);
      if (other)
        throw new ContentError(
          "mismatched",
          `the metadata that was received for ${formatKey(key)} names ${formatKey(other)}, another library of this owner, so nothing was overwritten. Does a proxy or cache mix up answers?`,
        );
      const readAt = run.clock.at(received.sentAt);
      const contentHash = hashContent(action.listed, received, settings.serviceTimezone);
      const facts = {
        ...{ listedAt, readAt, contentHash, hashesTrustedSince },
        mayBeOther: metadata !== null && mayBeOther(metadata, key, isListed),
      };
      const content = buildLibraryContent(action, received, facts);
      // Most reads have every field, and no stored value is lost if nothing is overwritten.
      const mayLose = action.stored !== null && action.stored.state !== "listed" && !content.isSame;
      const lost = mayLose && lacksFields(received) ? await findDrift(content, received, signal) : null;
      if (lost !== null) throw new ContentError("drift", `${lost}. ${DRIFT_ADVICE}`, { rejects: received.rejects });
      return { kind: "read", action, content, buffer } as const;
    } catch (thrown) {
      const error = thrown instanceof RefusedRows ? refusedByDatabase("storing the library", thrown.cause) : thrown;
      if (!(error instanceof ContentError)) throw error;
      await buffer.free();
      return { kind: "failed", action, error } as const;
    }
  };
}

/** Distinguishes an outage of the service from broken libraries. Only an outage should keep `listedWitness` from being read. */
function watchForOutage({ service }: Run, listedWitness: LibraryKey | null, signal: AbortSignal) {
  const breaker = new CircuitBreaker();
  let witness = listedWitness;
  /** Whether the content of any library could be read. */
  let hasRead = false;
  let lastUnread: ContentError | null = null;

  /** Reads a library, with all parts of its content, because an outage may concern one of them. Returns its failure, or null. */
  const ask = async (library: LibraryKey): Promise<ContentError | null> => {
    try {
      await service.readContent(library, DISCARD, signal);
      hasRead = true;
      return null;
    } catch (error) {
      if (error instanceof ContentError) return error;
      throw error;
    }
  };

  return {
    addRead(key: LibraryKey): void {
      breaker.reset();
      hasRead = true;
      witness = key;
    },
    /** Counts a failure. Returns an error if the service counts as down, otherwise null. */
    async judgeFailure({ stored }: ReadAction, error: ContentError): Promise<SourceUnavailableError | null> {
      if (error.unread) lastUnread = error;
      else hasRead = true;
      if (!error.unavailable) {
        breaker.reset();
        return null;
      }
      const state = breaker.addFailure(hasFailed(stored));
      if (state === "open") return outageError(error, TRIES_AGAIN);
      if (state === "closed" || witness === null) return null;
      const asked = witness;
      const failed = await ask(asked);
      if (failed?.unavailable) return witnessFailed(asked, failed);
      breaker.reset();
      return null;
    },
    /** @throws SourceUnavailableError if content was asked for, and none could be read */
    async assertRead(): Promise<void> {
      if (hasRead || lastUnread === null) return;
      if (witness === null) throw outageError(lastUnread, TRIES_AGAIN, "no library could be read");
      const failed = await ask(witness);
      if (failed?.unread) throw witnessFailed(witness, failed);
    },
  };
}

const TRIES_AGAIN = "; the next run tries again";

function witnessFailed(witness: LibraryKey, last: ContentError): SourceUnavailableError {
  const tried = `neither the libraries that were tried nor ${formatKey(witness)}, whose last read succeeded, could be read`;
  return outageError(last, TRIES_AGAIN, tried);
}

/** Raise this if the same text is parsed to another value than before, so that stored rows are compared again. */
const PARSERS = 1;

/** Part of every content hash: after a stored field is added, the next read of each library compares its rows. */
export const hashVersion = (fields: readonly string[]) =>
  hash("sha256", JSON.stringify([PARSERS, fields]), "base64url");

const HASH_VERSION = hashVersion(COLUMN_SIGNATURE);

/** Equal for two reads of a library only if both store the same rows. Base64url. */
export function hashContent({ source }: ListedLibrary, { digest }: ReceivedContent, serviceTimezone: string): string {
  return hash("sha256", JSON.stringify([HASH_VERSION, serviceTimezone, source, digest]), "base64url");
}
