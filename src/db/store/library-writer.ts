import type { LibraryContent, SavedLibrary } from "../../model.ts";
import type { Pool } from "../connect.ts";
import { databaseError, isBadData } from "../failures.ts";
import { fencedWrites } from "../fenced-writes.ts";
import type { Lease } from "../lease.ts";
import { type SaveContext, scenarioCount } from "./library-content.ts";
import { type FailureWrite, saveFailures } from "./save-failures.ts";
import { saveLibraries } from "./save-libraries.ts";

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
}

/** About 1,000 rows a statement cost the least; smaller ones pay for round trips, larger ones for waiting. */
const ROWS_A_BATCH = 1_000;
const BYTES_A_BATCH = 4 * 2 ** 20;
const LINGER_MS = 50;
/** Two connections at work keep Postgres busy while the next batch is prepared. */
const AT_WORK = 2;
/** Rows that may wait beyond those at work, before readers are held back. */
const ROWS_WAITING = 4 * ROWS_A_BATCH;

const rowsOf = (one: LibraryContent) => 1 + (one.isSame ? 0 : scenarioCount(one));
const bytesOf = ({ scenarios }: LibraryContent) =>
  scenarios.kind === "staged" ? BYTES_A_BATCH : scenarios.scenarios.reduce((sum, one) => sum + one.source.length, 0);

export function openLibraryWriter(options: WriterOptions): LibraryWriter {
  const { context } = options;
  const write = fencedWrites(options.pool, options.lease);
  let contents: LibraryContent[] = [];
  let failures: FailureWrite[] = [];
  let rows = 0;
  let bytes = 0;
  let linger: NodeJS.Timeout | undefined;
  let hasLingered = false;
  const broken = new AbortController();
  const working = new Set<Promise<void>>();

  const saveFailed = (batch: readonly FailureWrite[]) =>
    write({ doing: `recording ${batch.length} failed libraries`, byKey: true }, (connection) =>
      saveFailures(connection, context.runId, batch),
    );

  /** A batch that the database refuses is tried library by library, so that one poisoned library costs only itself. */
  const saveContents = async (batch: readonly LibraryContent[]): Promise<void> => {
    let attempts = 0;
    try {
      const saved = await write<SavedLibrary[]>(
        // What the first attempt stored already, the last one finds unchanged.
        {
          doing: `storing ${batch.length} libraries`,
          byKey: true,
          reconcile: (first, last) => last.map((one, at) => (one.changed ? one : (first[at] ?? one))),
        },
        (connection) => {
          attempts += 1;
          // What an attempt stored whose COMMIT was not answered is not new to the next one.
          const known = attempts === 1 ? batch : batch.map((one) => ({ ...one, isNew: false }));
          return saveLibraries(connection, known, context);
        },
      );
      for (const [at, one] of batch.entries()) {
        const outcome = saved[at];
        if (outcome !== undefined) await options.onSaved(one, outcome);
      }
    } catch (error) {
      if (!isBadData(error)) throw error;
      const [only] = batch;
      if (batch.length === 1 && only !== undefined) await saveFailed([await options.onRefused(only, error)]);
      else for (const one of batch) await saveContents([one]);
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
        if (failed.length > 0) await saveFailed(failed);
      } catch (error) {
        broken.abort(isBadData(error) ? databaseError("storing libraries", error) : error);
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
    },
  };
}
