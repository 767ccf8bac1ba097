import { setMaxListeners } from "node:events";
import { forEachConcurrently } from "../async.ts";
import { Channel } from "../channel.ts";
import { type CircuitBreaker, createCircuitBreaker } from "../circuit-breaker.ts";
import { ContentError, SourceUnavailableError, UnauthorizedError } from "../errors.ts";
import { keyText } from "../key.ts";
import type { FailedLibrary, ReadAction, ReadOutcome } from "../model.ts";
import type { PlannedListing } from "./plan-run.ts";
import { createLibraryReader, type LibraryRead, type ReadLibrary } from "./read-library.ts";
import { type DriftWatch, watchDrift } from "./rules/drift.ts";
import type { Run } from "./run-types.ts";

/**
 * Reads the content of the planned libraries, `concurrency` at once, and yields what became of each. Libraries that the
 * database already refused in this run are yielded first, as failures, and are not read.
 * @throws what ended the run, after the requests in flight have ended and everything that was read is yielded
 */
export async function* readLibraries(
  run: Run,
  planned: PlannedListing,
  alreadyFailed: readonly FailedLibrary[],
  signal: AbortSignal,
): AsyncGenerator<ReadOutcome> {
  for (const failure of alreadyFailed) yield { kind: "failed", failure };
  const failedKeys = new Set(alreadyFailed.map(({ key }) => keyText(key)));
  const actions =
    alreadyFailed.length === 0
      ? planned.plan.actions
      : planned.plan.actions.filter(({ listed }) => !failedKeys.has(keyText(listed.key)));
  if (actions.length === 0) return;
  const readers = new ReadQueue(run, await createLibraryReader(run, planned), signal);
  const reading = readers.readAll(actions);
  try {
    yield* readers.outcomes;
  } finally {
    readers.stop();
    await reading;
  }
}

/** Concurrent readers of one queue of libraries. */
class ReadQueue {
  readonly outcomes = new Channel<ReadOutcome>();
  readonly #run: Run;
  readonly #read: ReadLibrary;
  readonly #drift: DriftWatch = watchDrift();
  readonly #stopped = new AbortController();
  readonly #signal: AbortSignal;
  /** Libraries whose content was dropped because it lacks a field; the rest of the run decides. */
  readonly #deferred: (Pick<LibraryRead, "action" | "lostFields"> & Pick<ContentError, "rejects">)[] = [];
  #unread = 0;
  readonly #breaker: CircuitBreaker = createCircuitBreaker();

  constructor(run: Run, read: ReadLibrary, signal: AbortSignal) {
    this.#run = run;
    this.#read = read;
    this.#signal = AbortSignal.any([signal, this.#stopped.signal]);
    // Every request in flight listens to it.
    setMaxListeners(0, this.#signal);
  }

  /** Never rejects: closes `outcomes` with the error that ended the run, if any. */
  async readAll(actions: readonly ReadAction[]): Promise<void> {
    this.#unread = actions.length;
    try {
      await this.#readQueue(actions, false);
      await this.#judgeDeferred();
      this.outcomes.close();
    } catch (error) {
      this.outcomes.close(error);
    }
  }

  /** Aborts the requests in flight. */
  stop(reason: unknown = new Error("the run stopped reading")): void {
    this.#stopped.abort(reason);
  }

  async #readQueue(actions: readonly ReadAction[], isSecondRead: boolean): Promise<void> {
    await forEachConcurrently(actions, this.#run.settings.concurrency, async (action) => {
      try {
        this.#signal.throwIfAborted();
        await this.#readOne(action, isSecondRead);
        this.#unread -= 1;
      } catch (error) {
        // Otherwise each waiting request would first wait for the pause to end.
        if (error instanceof SourceUnavailableError) this.stop(error);
        throw error;
      }
    });
  }

  async #readOne(action: ReadAction, isSecondRead: boolean): Promise<void> {
    let library: LibraryRead;
    try {
      library = await this.#read(action, this.#signal);
      this.#breaker.reset();
    } catch (error) {
      if (!(error instanceof ContentError)) throw error;
      await this.#fail(action, error);
      return;
    }
    const { content, buffer, received, lostFields } = library;
    if (!isSecondRead) this.#drift.count(received, content.kind !== "new", lostFields);
    const verdict = this.#drift.judge(lostFields, isSecondRead || this.#unread === 1);
    if (verdict.kind === "store") {
      await this.outcomes.push({ kind: "read", action, content, buffer });
      return;
    }
    await buffer.free();
    if (verdict.kind === "defer") this.#deferred.push({ action, lostFields, rejects: received.rejects });
    else await this.#fail(action, new ContentError("drift", verdict.message, { rejects: received.rejects }));
  }

  /** @throws UnauthorizedError if the service refuses the key; SourceUnavailableError if it counts as down */
  async #fail(action: ReadAction, error: ContentError): Promise<void> {
    if (error.code === "unauthorized" && (await this.#run.service.confirmKey(this.#signal)) === "refused") {
      throw refusedMidway(error);
    }
    const failedBefore = (action.stored?.sync?.failures ?? 0) > 0;
    if (!error.unavailable) this.#breaker.reset();
    else if (!failedBefore) this.#breaker.countFailure();
    const failure = error.toFailedLibrary(action.listed.key, this.#run.mask);
    await this.outcomes.push({ kind: "failed", failure });
    this.#breaker.assertClosed(error, "; the libraries read until then are stored, and the next run continues");
  }

  /** Fails the libraries that would lose a field that the whole run lacked, and reads the others again. */
  async #judgeDeferred(): Promise<void> {
    const again: ReadAction[] = [];
    for (const { action, lostFields, rejects } of this.#deferred) {
      const verdict = this.#drift.judge(lostFields, true);
      if (verdict.kind === "drift") {
        await this.#fail(action, new ContentError("drift", verdict.message, { rejects }));
      } else again.push(action);
    }
    await this.#readQueue(again, true);
  }
}

function refusedMidway(error: ContentError): UnauthorizedError {
  return new UnauthorizedError(
    "the service refused the key in the middle of the run: it was revoked or has expired. The libraries read until then are stored; set SIMCAT_API_KEY to a valid key and run again",
    { cause: error },
  );
}
