import { Channel } from "../../async.ts";
import { DatabaseError } from "../../errors.ts";
import { formatLibraries, plural } from "../../format.ts";
import type { FailedLibrary, LibraryContent, ReadOutcome, SavedLibrary, WriteOutcome } from "../../model.ts";
import type { Connection } from "../connect.ts";
import { databaseError, driverError } from "../db-errors.ts";
import type { InTransaction } from "../lease.ts";
import { statement } from "../statement.ts";
import { byPosition, keyArrays, textArray } from "./columns.ts";
import { refusedByDatabase, saveInHalves } from "./save-in-halves.ts";
import { saveLibraries } from "./save-libraries.ts";
import { saveContentRejects } from "./save-rejects.ts";
import type { SaveContext } from "./save-scenarios.ts";

interface WriterOptions {
  readonly write: InTransaction;
  readonly context: SaveContext;
  /** Takes the secrets out of a message. */
  readonly mask: (message: string) => string;
}

/** Statements of about 1,000 rows cost the least per row: smaller ones pay for round trips, larger ones for waiting. */
const BATCH_ROWS = 1_000;
const MAX_BATCH_BYTES = 4 * 2 ** 20;
/** How long a batch waits for more libraries. */
const LINGER_MS = 50;
/** Two batches at once keep Postgres busy while the next one is prepared. */
const MAX_BATCHES = 2;
/** The reader waits while more rows or bytes than these wait to be written. */
const MAX_WAITING_ROWS = 4 * BATCH_ROWS;
const MAX_WAITING_BYTES = 2 * MAX_BATCH_BYTES;
/** A run that stored nothing and had this many new refusals ends as a database failure: no library can be stored. */
const MIN_REFUSALS = 20;

type PendingLibrary = Extract<ReadOutcome, { kind: "read" }>;

const rowsOf = ({ content }: PendingLibrary) => 1 + (content.kind === "same" ? 0 : content.scenarios.count);
const bytesOfLibrary = ({ content: { scenarios } }: PendingLibrary) =>
  scenarios.kind === "staged"
    ? MAX_BATCH_BYTES
    : scenarios.scenarios.reduce((sum, { source }) => sum + source.length, 0);

/**
 * Stores libraries in batches, and yields the outcome of each stored library after its commit. A batch is one transaction.
 *
 * Failures have a transaction of their own, as do libraries that failed last time. If the database refuses the rows of one
 * library, only that library fails.
 * @throws DatabaseError if the database failed; whatever `outcomes` throws, after everything before it is stored
 */
export async function* saveOutcomes(
  outcomes: AsyncIterable<ReadOutcome>,
  options: WriterOptions,
): AsyncGenerator<WriteOutcome> {
  const writer = new BatchWriter(options);
  const writing = writer.writeAll(outcomes);
  try {
    yield* writer.results;
  } finally {
    await writing;
  }
}

/** Libraries that wait to be written, and the batches that are being written. */
class BatchWriter {
  readonly results = new Channel<WriteOutcome>();
  readonly #options: WriterOptions;
  #libraries: PendingLibrary[] = [];
  #failures: FailedLibrary[] = [];
  #rows = 0;
  #bytes = 0;
  #lingering: NodeJS.Timeout | undefined;
  #hasLingered = false;
  readonly #batches = new Set<Promise<void>>();
  readonly #failed = new AbortController();
  #stored = 0;
  #newlyRefused = 0;
  #lastRefusal: unknown;

  constructor(options: WriterOptions) {
    this.#options = options;
  }

  /** Never rejects: closes `results` with the error that ended the writing, or else the reading, if any. */
  async writeAll(outcomes: AsyncIterable<ReadOutcome>): Promise<void> {
    let ended: unknown = null;
    try {
      for await (const outcome of outcomes) {
        if (this.results.isAbandoned) break;
        await this.#add(outcome);
      }
    } catch (error) {
      ended = error;
    }
    await this.#finish().then(
      () => this.results.close(ended),
      (error) => this.results.close(error),
    );
  }

  /** Resolves when there is room for more. @throws DatabaseError if an earlier batch could not be stored at all */
  async #add(outcome: ReadOutcome): Promise<void> {
    if (outcome.kind === "read") {
      this.#libraries.push(outcome);
      this.#rows += rowsOf(outcome);
      this.#bytes += bytesOfLibrary(outcome);
    } else {
      void this.results.push(outcome);
      this.#failures.push(outcome.failure);
      this.#rows += 1;
    }
    this.#failed.signal.throwIfAborted();
    this.#beginIfDue();
    if (this.#rows > 0) this.#lingering ??= setTimeout(() => this.#afterLingering(), LINGER_MS);
    while (this.#rows > MAX_WAITING_ROWS || this.#bytes > MAX_WAITING_BYTES) {
      await Promise.race(this.#batches);
      this.#failed.signal.throwIfAborted();
    }
  }

  /** Resolves when everything is committed. @throws DatabaseError */
  async #finish(): Promise<void> {
    while (this.#rows > 0 && !this.#failed.signal.aborted) {
      if (this.#batches.size < MAX_BATCHES) this.#begin();
      else await Promise.race(this.#batches);
    }
    clearTimeout(this.#lingering);
    await Promise.all(this.#batches);
    this.#failed.signal.throwIfAborted();
    if (this.#stored === 0 && this.#newlyRefused >= MIN_REFUSALS) {
      throw refusesAll(this.#newlyRefused, this.#lastRefusal);
    }
  }

  #afterLingering(): void {
    this.#hasLingered = true;
    this.#beginIfDue();
  }

  #beginIfDue(): void {
    if (this.#failed.signal.aborted) return;
    const isFull = this.#rows >= BATCH_ROWS || this.#bytes >= MAX_BATCH_BYTES;
    if ((isFull || this.#hasLingered) && this.#batches.size < MAX_BATCHES) this.#begin();
  }

  #begin(): void {
    clearTimeout(this.#lingering);
    this.#lingering = undefined;
    this.#hasLingered = false;
    const [libraries, failures] = [this.#libraries, this.#failures];
    this.#libraries = [];
    this.#failures = [];
    this.#rows = 0;
    this.#bytes = 0;
    const batch = this.#store(libraries, failures)
      .catch((error: unknown) => this.#failed.abort(error))
      .then(() => {
        this.#batches.delete(batch);
        this.#beginIfDue();
      });
    this.#batches.add(batch);
  }

  /** Libraries that failed last time are stored apart, so that those that fail again delay no others. */
  async #store(libraries: readonly PendingLibrary[], failures: readonly FailedLibrary[]): Promise<void> {
    for (const failedBefore of [false, true]) {
      await this.#storeBatch(libraries.filter(({ content }) => content.failedBefore === failedBefore));
    }
    await this.#recordFailures(failures);
  }

  #storeBatch(batch: readonly PendingLibrary[]): Promise<void> {
    const { write, context } = this.#options;
    return saveInHalves<PendingLibrary, SavedLibrary[]>(batch, {
      write,
      options: {
        operation: `storing ${formatLibraries(batch.length)}`,
        byKey: true,
        // What the first attempt stored already, the last one finds unchanged.
        afterLostCommit: (first, last) =>
          byPosition(last, first).map(([library, before]) => (library.changed ? library : before)),
      },
      work(connection, part, isRepeated) {
        const contents = part.map(({ content }) => (isRepeated ? asMaybeStored(content) : content));
        return saveLibraries(connection, contents, context);
      },
      onWritten: (part, saved) => this.#report(part, saved),
      onRefused: (library, error) => this.#recordRefusal(library, error),
    });
  }

  async #report(batch: readonly PendingLibrary[], saved: readonly SavedLibrary[]): Promise<void> {
    for (const [{ action, content }, library] of byPosition(batch, saved)) {
      void this.results.push({ kind: "stored", action, content, saved: library });
      if (content.kind !== "same") this.#stored += 1;
    }
    await this.#free(batch);
  }

  /** Never rejects: the rows are committed, so an error here is no refusal of them. */
  async #free(batch: readonly PendingLibrary[]): Promise<void> {
    try {
      for (const { buffer } of batch) await buffer.free();
    } catch (error) {
      this.#failed.abort(error);
    }
  }

  async #recordRefusal({ content, buffer }: PendingLibrary, error: unknown): Promise<void> {
    await buffer.free();
    const { code, message } = refusedByDatabase("storing the library", error);
    const failure = { key: content.listed.key, code, message: this.#options.mask(message), rejects: [] };
    void this.results.push({ kind: "failed", failure });
    await this.#recordFailures([failure]);
    if (!content.failedBefore) this.#newlyRefused += 1;
    this.#lastRefusal = error;
  }

  #recordFailures(failures: readonly FailedLibrary[]): Promise<void> {
    const { write, context, mask } = this.#options;
    return saveInHalves(failures, {
      write,
      options: { operation: `recording ${plural(failures.length, "failed library", "failed libraries")}`, byKey: true },
      work: (connection, part) => saveFailures(connection, context.runId, part),
      onRefused: async (failure, error) => {
        const { message } = databaseError("writing its row of library_sync", driverError(error));
        void this.results.push({ kind: "unrecorded", key: failure.key, message: mask(message) });
        if (failure.rejects.length > 0) await this.#recordFailures([{ ...failure, rejects: [] }]);
      },
    });
  }
}

/**
 * Counts one failure per run, however often the transaction is repeated. A last failure in the future was recorded by a clock
 * that has been set back since.
 */
const RECORD_FAILURE = statement(`
UPDATE simcat.library_sync y
SET failures = y.failures + 1, last_error = i.error, last_failed_at = now(), reread_reason = 'failure'
FROM unnest($owner::text[], $library_name::text[], $error::text[]) AS i(owner, library_name, error)
WHERE (y.owner, y.library_name) = (i.owner, i.library_name)
  AND (y.last_failed_at BETWEEN (SELECT started_at FROM simcat.sync_runs WHERE id = $run_id) AND now()) IS NOT TRUE`);

async function saveFailures(connection: Connection, runId: number, failures: readonly FailedLibrary[]): Promise<void> {
  const error = textArray(
    failures.map(({ code, message }) => `${code}: ${message}`.replaceAll("\0", "\\u0000").toWellFormed()),
  );
  const keys = keyArrays(failures.map(({ key }) => key));
  await connection.query(RECORD_FAILURE({ ...keys, error, run_id: runId }));
  const rejected = failures.filter(({ rejects }) => rejects.length > 0);
  if (rejected.length === 0) return;
  await saveContentRejects(
    connection,
    runId,
    rejected.map(({ key }) => key),
    rejected.flatMap(({ rejects }) => rejects),
  );
}

/** If the answer to COMMIT was lost, an earlier attempt may already have stored this library. */
const asMaybeStored = (content: LibraryContent): LibraryContent =>
  content.kind === "new" ? { ...content, kind: "changed" } : content;

function refusesAll(count: number, error: unknown): DatabaseError {
  const { message } = databaseError("storing the last of them", driverError(error));
  return new DatabaseError(
    `the database refused all ${formatLibraries(count)} that this run tried to store: ${message}`,
    {
      cause: error,
    },
  );
}
