import { setMaxListeners } from "node:events";
import type { LibraryWriter } from "../db/store/library-writer.ts";
import type { ScenarioBuffer } from "../db/store/scenario-buffer.ts";
import { ContentError, SourceUnavailableError, UnauthorizedError } from "../errors.ts";
import type { ContentRead, LibraryContent, ReadAction, ScenarioSet } from "../model.ts";
import type { Service } from "../service/client.ts";
import type { DriftWatch, LostField } from "./rules/drift.ts";

/** So many libraries in a row that worked last time and fail now by network or 5xx: it is the service, not the libraries. */
const BREAKER = 20;

export interface ReadTools {
  readonly service: Service;
  readonly writer: LibraryWriter;
  readonly concurrency: number;
  readonly drift: DriftWatch;
  readonly openBuffer: () => ScenarioBuffer;
  /** @throws ContentError where the answers are those of another library */
  readonly toContent: (action: ReadAction, read: ContentRead, scenarios: ScenarioSet) => LibraryContent;
  /** Fields that the library's stored rows have and that were not read. */
  readonly findLost: (content: LibraryContent, read: ContentRead) => Promise<readonly LostField[]>;
  /** Told before the content is handed to the writer, so that its outcome finds its action. */
  readonly onRead: (action: ReadAction, content: LibraryContent, buffer: ScenarioBuffer) => void;
  readonly onFailed: (action: ReadAction, error: ContentError) => Promise<void>;
  /** What the database refused of this library's scenarios while they came; null for what is not theirs alone. */
  readonly asRefusal: (error: unknown) => ContentError | null;
}

interface Deferred {
  readonly action: ReadAction;
  readonly lost: readonly LostField[];
  readonly rejects: ContentRead["rejects"];
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
  const ending: unknown[] = [];
  /** Their content was dropped: it lacks a field, and only the rest of the run shows whether the service still has it. */
  const deferred: Deferred[] = [];
  let unread = actions.length;
  let unavailableInARow = 0;

  const storeOrDefer = async (action: ReadAction, read: ContentRead, buffer: ScenarioBuffer, isAgain: boolean) => {
    const content = tools.toContent(action, read, await buffer.finish());
    const lost = await tools.findLost(content, read);
    if (!isAgain) drift.count(read, !content.isNew, lost);
    const verdict = drift.judge(lost, isAgain || unread === 1);
    if (verdict.kind === "drift") throw new ContentError("drift", verdict.message, { rejects: read.rejects });
    if (verdict.kind === "defer") {
      deferred.push({ action, lost, rejects: read.rejects });
      return buffer.free();
    }
    tools.onRead(action, content, buffer);
    return writer.store(content);
  };

  const readOne = async (action: ReadAction, isAgain: boolean) => {
    const buffer = tools.openBuffer();
    try {
      const read = await service.readContent(action.listed.key, buffer, reading);
      unavailableInARow = 0;
      await storeOrDefer(action, read, buffer, isAgain);
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
  const work = async (queue: Iterable<ReadAction>, isAgain: boolean) => {
    for (const action of queue) {
      if (ending.length > 0) return;
      try {
        reading.throwIfAborted();
        await readOne(action, isAgain);
        unread -= 1;
      } catch (error) {
        ending.push(error);
        // Whoever only waits for its turn would wait as the service asked, once more each.
        if (error instanceof SourceUnavailableError) ended.abort(error);
        return;
      }
    }
  };
  const readAll = async (some: readonly ReadAction[], isAgain: boolean) => {
    const queue = some.values();
    await Promise.all(Array.from({ length: Math.min(tools.concurrency, some.length) }, () => work(queue, isAgain)));
  };
  /** Fails those that would lose what the whole run lacked, and reads the others again. */
  const settleDeferred = async () => {
    const again: ReadAction[] = [];
    for (const { action, lost, rejects } of deferred) {
      const verdict = drift.judge(lost, true);
      if (verdict.kind === "drift")
        await tools.onFailed(action, new ContentError("drift", verdict.message, { rejects }));
      else again.push(action);
    }
    await readAll(again, true);
  };

  await readAll(actions, false);
  if (ending.length === 0) await settleDeferred();
  await writer.drain();
  if (ending.length > 0) throw ending[0];
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
