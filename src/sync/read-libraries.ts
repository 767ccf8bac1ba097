import { setMaxListeners } from "node:events";
import { Channel, forEachConcurrently } from "../async.ts";
import { type CircuitBreaker, createCircuitBreaker } from "../circuit-breaker.ts";
import { ContentError, SourceUnavailableError, UnauthorizedError } from "../errors.ts";
import { formatKey, keyText } from "../key.ts";
import type { FailedLibrary, LibraryKey, ReadAction, ReadOutcome } from "../model.ts";
import { DISCARD } from "../service/read-content.ts";
import type { PlannedListing } from "./plan-run.ts";
import { createLibraryReader, type ReadLibrary } from "./read-library.ts";
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
  if (planned.plan.actions.length === 0) return;
  const readers = new ReadQueue(run, await createLibraryReader(run, planned), planned.plan.witness, signal);
  const reading = readers.readAll(exceptFailed(planned.plan.actions, alreadyFailed));
  try {
    yield* readers.outcomes;
  } finally {
    readers.stop();
    await reading;
  }
}

function* exceptFailed(actions: Iterable<ReadAction>, failed: readonly FailedLibrary[]): Generator<ReadAction> {
  const keys = new Set(failed.map(({ key }) => keyText(key)));
  for (const action of actions) if (!keys.has(keyText(action.listed.key))) yield action;
}

/** Concurrent readers of one queue of libraries. */
class ReadQueue {
  readonly outcomes = new Channel<ReadOutcome>();
  readonly #run: Run;
  readonly #read: ReadLibrary;
  readonly #stopped = new AbortController();
  readonly #signal: AbortSignal;
  readonly #breaker: CircuitBreaker = createCircuitBreaker();
  /** Whether the content of any library could be read. */
  #hasRead = false;
  /** The last failure to read content, and the number of such failures. */
  #lastUnread: ContentError | null = null;
  #unread = 0;
  /** A library that can be expected to be readable unless the service is down. */
  #witness: LibraryKey | null;

  constructor(run: Run, read: ReadLibrary, witness: LibraryKey | null, signal: AbortSignal) {
    this.#run = run;
    this.#read = read;
    this.#witness = witness;
    this.#signal = AbortSignal.any([signal, this.#stopped.signal]);
    // Every request in flight listens to it.
    setMaxListeners(0, this.#signal);
  }

  /** Never rejects: closes `outcomes` with the error that ended the run, if any. */
  async readAll(actions: Iterable<ReadAction>): Promise<void> {
    try {
      await this.#readQueue(actions);
      await this.#assertRead();
      this.outcomes.close();
    } catch (error) {
      this.outcomes.close(error);
    }
  }

  /** Aborts the requests in flight. */
  stop(reason: unknown = new Error("the run stopped reading")): void {
    this.#stopped.abort(reason);
  }

  async #readQueue(actions: Iterable<ReadAction>): Promise<void> {
    await forEachConcurrently(actions, this.#run.settings.concurrency, async (action) => {
      try {
        this.#signal.throwIfAborted();
        await this.#readOne(action);
      } catch (error) {
        // Otherwise each waiting request would first wait for the pause to end.
        if (error instanceof SourceUnavailableError) this.stop(error);
        throw error;
      }
    });
  }

  async #readOne(action: ReadAction): Promise<void> {
    try {
      const outcome = await this.#read(action, this.#signal);
      this.#breaker.reset();
      this.#hasRead = true;
      this.#witness = action.listed.key;
      await this.outcomes.push(outcome);
    } catch (error) {
      if (!(error instanceof ContentError)) throw error;
      await this.#fail(action, error);
    }
  }

  /** @throws UnauthorizedError if the service refuses the key; SourceUnavailableError if it counts as down */
  async #fail(action: ReadAction, error: ContentError): Promise<void> {
    if (error.code === "unauthorized" && (await this.#run.service.confirmKey(this.#signal)) === "refused") {
      throw refusedMidway(error);
    }
    if (error.unread) {
      this.#lastUnread = error;
      this.#unread += 1;
    } else this.#hasRead = true;
    if (error.unavailable) this.#breaker.countFailure((action.stored?.sync?.failures ?? 0) > 0);
    else this.#breaker.reset();
    const isDoubtful = this.#breaker.isDoubtful();
    const failure = error.toFailedLibrary(action.listed.key, this.#run.mask);
    await this.outcomes.push({ kind: "failed", failure });
    this.#breaker.assertClosed(error, CONTINUES);
    if (isDoubtful && this.#witness !== null) {
      const failed = await this.#askWitness(this.#witness);
      if (failed?.unavailable) throw considersDown(witnessFailed(this.#witness), failed);
      this.#breaker.reset();
    }
  }

  /** @throws SourceUnavailableError if content was asked for, and none could be read */
  async #assertRead(): Promise<void> {
    if (this.#hasRead || this.#lastUnread === null) return;
    if (this.#witness === null) {
      // A 404, or a page of HTML, for one library says nothing about others.
      if (this.#unread === 1 && !this.#lastUnread.unavailable) return;
      throw considersDown("no library could be read", this.#lastUnread);
    }
    const failed = await this.#askWitness(this.#witness);
    if (failed?.unread) throw considersDown(witnessFailed(this.#witness), failed);
  }

  /**
   * Distinguishes an outage from broken libraries, by reading one more: an outage may concern only one part of the content.
   * Returns its failure; null if it can be read.
   */
  async #askWitness(witness: LibraryKey): Promise<ContentError | null> {
    try {
      await this.#run.service.readContent(witness, DISCARD, this.#signal);
      this.#hasRead = true;
      return null;
    } catch (error) {
      if (error instanceof ContentError) return error;
      throw error;
    }
  }
}

const witnessFailed = (witness: LibraryKey) =>
  `neither the libraries that were tried nor ${formatKey(witness)}, whose last read succeeded, could be read`;

const CONTINUES = "; the libraries read until then are stored, and the next run continues";

function considersDown(summary: string, last: ContentError): SourceUnavailableError {
  return new SourceUnavailableError(
    `${summary}, so the service is considered down (the last: ${last.message}); the next run tries again`,
    { cause: last },
  );
}

function refusedMidway(error: ContentError): UnauthorizedError {
  return new UnauthorizedError(
    "the service refused the key in the middle of the run: it was revoked or has expired. The libraries read until then are stored; set SIMCAT_API_KEY to a valid key and run again",
    { cause: error },
  );
}
