import { setMaxListeners } from "node:events";
import type { LibraryWriter } from "../db/store/library-writer.ts";
import type { ScenarioBuffer } from "../db/store/scenario-buffer.ts";
import { ContentError, SourceUnavailableError, UnauthorizedError } from "../errors.ts";
import type { ContentRead, LibraryContent, ReadAction, ScenarioSet } from "../model.ts";
import type { Service } from "../service/client.ts";
import type { DriftWatch } from "./rules/drift.ts";

/** So many libraries in a row that worked last time and fail now by network or 5xx: it is the service, not the libraries. */
const BREAKER = 20;

export interface ReadTools {
  readonly service: Service;
  readonly writer: LibraryWriter;
  readonly concurrency: number;
  readonly drift: DriftWatch;
  readonly openBuffer: () => ScenarioBuffer;
  readonly toContent: (action: ReadAction, read: ContentRead, scenarios: ScenarioSet) => LibraryContent;
  /** Told before the content is handed to the writer, so that its outcome finds its action. */
  readonly onRead: (action: ReadAction, content: LibraryContent, buffer: ScenarioBuffer) => void;
  readonly onFailed: (action: ReadAction, error: ContentError) => Promise<void>;
  /** What the database refused of this library's scenarios while they came; null for what is not theirs alone. */
  readonly asRefusal: (error: unknown) => ContentError | null;
}

interface Parked {
  readonly action: ReadAction;
  readonly content: LibraryContent;
  readonly buffer: ScenarioBuffer;
}

/**
 * Reads and stores the content of these libraries, as many at once as the settings allow. One library's failure is its own;
 * what ends the run is thrown after the requests in flight have ended and everything that was read is stored.
 */
export async function readLibraries(
  actions: readonly ReadAction[],
  tools: ReadTools,
  signal: AbortSignal,
): Promise<void> {
  const { service, writer, drift } = tools;
  const ended = new AbortController();
  const reading = AbortSignal.any([signal, ended.signal]);
  // Every request in flight listens to it.
  setMaxListeners(0, reading);
  const queue = actions.values();
  const ending: unknown[] = [];
  let parked: Parked[] = [];
  let unavailableInARow = 0;

  const store = async ({ action, content, buffer }: Parked) => {
    tools.onRead(action, content, buffer);
    await writer.store(content);
  };
  const failDrifted = async ({ action, buffer }: Parked) => {
    await buffer.free();
    await tools.onFailed(action, driftError(drift));
  };
  /** Lists without a field that stored rows have wait until an item of the run shows that the service still sends it. */
  const park = async (one: Parked, read: ContentRead) => {
    drift.count(read);
    if (one.content.isSame || !drift.isSuspect(read)) await store(one);
    else parked.push(one);
    if (parked.length > 0 && (drift.isCertain() || drift.isRuledOut())) await settleParked(drift.isCertain());
  };
  const settleParked = async (drifted: boolean) => {
    const waiting = parked;
    parked = [];
    for (const one of waiting) await (drifted ? failDrifted(one) : store(one));
  };

  const readOne = async (action: ReadAction) => {
    const buffer = tools.openBuffer();
    try {
      const read = await service.readContent(action.listed.key, buffer, reading);
      unavailableInARow = 0;
      await park({ action, content: tools.toContent(action, read, await buffer.finish()), buffer }, read);
    } catch (thrown) {
      const error = thrown instanceof ContentError ? thrown : tools.asRefusal(thrown);
      if (error === null) throw thrown;
      await buffer.free();
      if (error.code === "unauthorized" && (await service.confirmKey(reading)) === "refused")
        throw refusedMidway(error);
      const failedBefore = (action.stored?.sync?.failures ?? 0) > 0;
      if (!error.unavailable) unavailableInARow = 0;
      else if (!failedBefore) unavailableInARow += 1;
      await tools.onFailed(action, error);
      if (unavailableInARow >= BREAKER) throw broken(error);
    }
  };
  const work = async () => {
    for (const action of queue) {
      if (ending.length > 0) return;
      try {
        reading.throwIfAborted();
        await readOne(action);
      } catch (error) {
        ending.push(error);
        // Whoever only waits for its turn would wait as the service asked, once more each.
        if (error instanceof SourceUnavailableError) ended.abort(error);
        return;
      }
    }
  };

  await Promise.all(Array.from({ length: Math.min(tools.concurrency, actions.length) }, work));
  if (ending.length === 0) await settleParked(drift.drifted().length > 0);
  await writer.drain();
  if (ending.length > 0) throw ending[0];
}

function driftError(drift: DriftWatch): ContentError {
  const fields = drift.drifted().join(" and ");
  return new ContentError(
    "drift",
    `no scenario that this run read has the field ${fields}, which the stored ones have: the service's answers changed their shape; nothing was overwritten. Compare the service's documentation with the installed simcat version`,
  );
}

function refusedMidway(error: ContentError): UnauthorizedError {
  return new UnauthorizedError(
    "the service refused the key in the middle of the run: it was revoked or has expired. What was read until then is stored; set SIMCAT_API_KEY to a valid key and run again",
    { cause: error },
  );
}

function broken(error: ContentError): SourceUnavailableError {
  return new SourceUnavailableError(
    `${BREAKER} libraries in a row could not be read, so the service is taken to be down (the last: ${error.message}). What was read until then is stored; the next run goes on`,
    { cause: error },
  );
}
