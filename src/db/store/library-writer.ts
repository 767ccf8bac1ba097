import { DatabaseError } from "../../errors.ts";
import type { LibraryContent, SavedLibrary } from "../../model.ts";
import type { Pool } from "../connect.ts";
import { databaseError, driverError } from "../db-errors.ts";
import { createFencedTransaction } from "../fenced-transaction.ts";
import type { Lease } from "../lease.ts";
import { type SaveContext, scenarioCount } from "./library-content.ts";
import { type FailureWrite, saveFailures } from "./save-failures.ts";
import { saveLibraries, saveNothing } from "./save-libraries.ts";
import { type LockPatience, writeInHalves } from "./write-in-halves.ts";

/** Gathers libraries as they are read into batches, one transaction each. */
export interface LibraryWriter {
  /** Resolves when there is room for more; rejects when an earlier batch could not be stored at all. */
  store(content: LibraryContent): Promise<void>;
  fail(failure: FailureWrite): Promise<void>;
  /** Resolves when everything is committed. */
  drain(): Promise<void>;
}

export interface WriterOptions {
  readonly pool: Pool;
  readonly lease: Lease;
  readonly context: SaveContext;
  /** Called when it is committed. */
  readonly onSaved: (content: LibraryContent, saved: SavedLibrary) => Promise<void>;
  /** The database refused this library's rows; answers what to record of it. */
  readonly onRefused: (content: LibraryContent, error: unknown) => Promise<FailureWrite>;
  /** The database refused to record this failure, or its rejects. */
  readonly onUnrecorded: (failure: FailureWrite, error: unknown) => void;
}

/** About 1,000 rows a statement cost the least; smaller ones pay for round trips, larger ones for waiting. */
const ROWS_A_BATCH = 1_000;
const BYTES_A_BATCH = 4 * 2 ** 20;
const LINGER_MS = 50;
/** Two connections at work keep Postgres busy while the next batch is prepared. */
const AT_WORK = 2;
/** A run that stored nothing and had this many new refusals ends as a database failure: no library can be stored. */
const MIN_REFUSALS = 20;
/** Rows that may wait beyond those at work, before readers are held back. */
const ROWS_WAITING = 4 * ROWS_A_BATCH;

const rowsOf = (one: LibraryContent) => 1 + (one.isSame ? 0 : scenarioCount(one));
const bytesOf = ({ scenarios }: LibraryContent) =>
  scenarios.kind === "staged" ? BYTES_A_BATCH : scenarios.scenarios.reduce((sum, one) => sum + one.source.length, 0);

export function openLibraryWriter(options: WriterOptions): LibraryWriter {
  const { context } = options;
  const write = createFencedTransaction(options.pool, options.lease);
  let contents: LibraryContent[] = [];
  let failures: FailureWrite[] = [];
  let rows = 0;
  let bytes = 0;
  let linger: NodeJS.Timeout | undefined;
  let hasLingered = false;
  const broken = new AbortController();
  const working = new Set<Promise<void>>();

  let stored = 0;
  let newlyRefused = 0;
  let lastRefusal: unknown;

  const recordFailures = (batch: readonly FailureWrite[]): Promise<void> => {
    const save = (some: readonly FailureWrite[], patience?: LockPatience) =>
      write({ operation: `recording ${some.length} failed libraries`, byKey: true, ...patience }, (connection) =>
        saveFailures(connection, context.runId, some),
      );
    return writeInHalves(batch, {
      write: save,
      writeNothing: () => save([]),
      async onRefused(failure, error) {
        options.onUnrecorded(failure, error);
        if (failure.rejects.length > 0) await recordFailures([{ ...failure, rejects: [] }]);
      },
    });
  };

  const saveBatch = async (batch: readonly LibraryContent[], patience: LockPatience, isPart: boolean) => {
    let attempts = 0;
    const saved = await write<SavedLibrary[]>(
      {
        operation: `storing ${batch.length} libraries`,
        byKey: true,
        ...patience,
        // What the first attempt stored already, the last one finds unchanged.
        reconcile: (first, last) => last.map((one, at) => (one.changed ? one : (first[at] ?? one))),
      },
      (connection) => {
        attempts += 1;
        // What an attempt stored whose COMMIT was not answered is not new to the next one.
        const known = attempts === 1 && !isPart ? batch : batch.map((one) => ({ ...one, isNew: false }));
        return saveLibraries(connection, known, context);
      },
    );
    for (const [at, one] of batch.entries()) {
      const outcome = saved[at];
      if (outcome !== undefined) await options.onSaved(one, outcome);
      if (!one.isSame) stored += 1;
    }
  };

  const onRefused = async (content: LibraryContent, error: unknown) => {
    await recordFailures([await options.onRefused(content, error)]);
    if (!content.failedBefore) newlyRefused += 1;
    lastRefusal = error;
  };

  /** Libraries that failed last time are stored apart, so that those that fail again hold up no others. */
  const saveContents = async (batch: readonly LibraryContent[]): Promise<void> => {
    const writeNothing = () =>
      write({ operation: "storing libraries", byKey: true }, (connection) => saveNothing(connection, context));
    for (const failedBefore of [false, true]) {
      const some = batch.filter((one) => one.failedBefore === failedBefore);
      if (some.length > 0) await writeInHalves(some, { write: saveBatch, writeNothing, onRefused });
    }
  };

  const flush = () => {
    clearTimeout(linger);
    linger = undefined;
    hasLingered = false;
    const [batch, failed] = [contents, failures];
    contents = [];
    failures = [];
    rows = 0;
    bytes = 0;
    const work = (async () => {
      try {
        if (batch.length > 0) await saveContents(batch);
        if (failed.length > 0) await recordFailures(failed);
      } catch (error) {
        broken.abort(error);
      }
    })();
    working.add(work);
    void work.then(() => {
      working.delete(work);
      flushIfDue();
    });
  };

  const isFull = () => rows >= ROWS_A_BATCH || bytes >= BYTES_A_BATCH;
  const flushIfDue = () => {
    if ((isFull() || hasLingered) && working.size < AT_WORK) flush();
  };

  const afterLingering = () => {
    hasLingered = true;
    flushIfDue();
  };

  const accept = async (): Promise<void> => {
    broken.signal.throwIfAborted();
    flushIfDue();
    if (rows > 0) linger ??= setTimeout(afterLingering, LINGER_MS);
    while (rows > ROWS_WAITING || (isFull() && bytes > 2 * BYTES_A_BATCH)) {
      await Promise.race(working);
      broken.signal.throwIfAborted();
    }
  };

  return {
    store(content) {
      contents.push(content);
      rows += rowsOf(content);
      bytes += bytesOf(content);
      return accept();
    },
    fail(failure) {
      failures.push(failure);
      rows += 1;
      return accept();
    },
    async drain() {
      if (rows > 0) flush();
      while (working.size > 0) await Promise.race(working);
      broken.signal.throwIfAborted();
      if (stored === 0 && newlyRefused >= MIN_REFUSALS) throw refusesAll(newlyRefused, lastRefusal);
    },
  };
}

function refusesAll(count: number, error: unknown): DatabaseError {
  const { message } = databaseError("storing the last of them", driverError(error));
  return new DatabaseError(`the database refused all ${count} libraries that this run tried to store: ${message}`, {
    cause: error,
  });
}
