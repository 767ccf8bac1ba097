import { DatabaseError } from "../../errors.ts";
import { formatLibraries, plural } from "../../format.ts";
import type { FailedLibrary, ReadOutcome, SavedLibrary, WriteOutcome } from "../../model.ts";
import type { Connection } from "../connect.ts";
import { databaseError, driverError } from "../db-errors.ts";
import type { Lease } from "../lease.ts";
import { byPosition, keyArrays, statement, textArray } from "../statement.ts";
import { refusedByDatabase, saveInHalves } from "./refused-rows.ts";
import { saveLibraries } from "./save-libraries.ts";
import { saveContentRejects } from "./save-rejects.ts";
import type { SaveContext } from "./save-scenarios.ts";

interface WriterTools {
  readonly lease: Pick<Lease, "write">;
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

const rowsOf = (outcome: ReadOutcome) =>
  outcome.kind === "failed" || outcome.content.isSame ? 1 : 1 + outcome.content.scenarios.count;

function bytesOf(outcome: ReadOutcome): number {
  if (outcome.kind === "failed") return 0;
  const { scenarios } = outcome.content;
  if (scenarios.kind === "staged") return MAX_BATCH_BYTES;
  return scenarios.scenarios.reduce((sum, { source }) => sum + source.length, 0);
}

/** Outcomes that wait to be written. */
class Batch {
  readonly outcomes: ReadOutcome[] = [];
  rows = 0;
  bytes = 0;
  hasLingered = false;
  /** Resolves when the batch has waited long enough for more outcomes. */
  readonly lingering = new Promise<{ readonly kind: "lingered" }>((resolve) => {
    const linger = () => {
      this.hasLingered = true;
      resolve({ kind: "lingered" });
    };
    setTimeout(linger, LINGER_MS).unref();
  });

  constructor(first: ReadOutcome) {
    this.add(first);
  }

  add(outcome: ReadOutcome): void {
    this.outcomes.push(outcome);
    this.rows += rowsOf(outcome);
    this.bytes += bytesOf(outcome);
  }

  get isDue(): boolean {
    return this.hasLingered || this.rows >= BATCH_ROWS || this.bytes >= MAX_BATCH_BYTES;
  }

  get isFull(): boolean {
    return this.rows > MAX_WAITING_ROWS || this.bytes > MAX_WAITING_BYTES;
  }
}

/**
 * Stores libraries in batches, and yields the outcomes of each batch after its last commit.
 *
 * Failures have a transaction of their own, as do libraries that failed last time. If the database refuses the rows of one
 * library, only that library fails. At the end, also after an error, it aborts `stop`: a read may take minutes.
 * @throws DatabaseError if the database failed; whatever `outcomes` throws, after everything before it is stored
 */
export async function* saveOutcomes(
  outcomes: AsyncIterable<ReadOutcome>,
  tools: WriterTools,
  stop: AbortController,
): AsyncGenerator<WriteOutcome> {
  const source = outcomes[Symbol.asyncIterator]();
  const readNext = async (): Promise<ReadingEvent> => {
    try {
      const { done, value } = await source.next();
      return done ? { kind: "ended", error: null } : { kind: "read", outcome: value };
    } catch (thrown) {
      return { kind: "ended", error: { thrown } };
    }
  };
  const save = async (batch: Batch) => ({ kind: "saved", batch, ...(await saveBatch(batch.outcomes, tools)) }) as const;
  /** Null when the reading has ended. */
  let reading: Promise<ReadingEvent> | null = readNext();
  let waiting: Batch | null = null;
  const saving = new Map<Batch, ReturnType<typeof save>>();
  let failure: { readonly thrown: unknown } | null = null;
  let stored = 0;
  const newRefusals: unknown[] = [];
  try {
    while (reading !== null || waiting !== null || saving.size > 0) {
      const isReady = waiting !== null && (waiting.isDue || reading === null);
      if (waiting !== null && isReady && saving.size < MAX_BATCHES) {
        saving.set(waiting, save(waiting));
        waiting = null;
        continue;
      }
      const event = await Promise.race([
        // Reading goes on while two batches are saved, until too much waits.
        ...(reading !== null && !waiting?.isFull ? [reading] : []),
        ...saving.values(),
        ...(waiting !== null && !isReady ? [waiting.lingering] : []),
      ]);
      if (event.kind === "saved") {
        saving.delete(event.batch);
        stored += event.stored;
        newRefusals.push(...event.newRefusals);
        yield* event.outcomes;
      } else if (event.kind === "read") {
        if (waiting === null) waiting = new Batch(event.outcome);
        else waiting.add(event.outcome);
        reading = readNext();
      } else if (event.kind === "ended") {
        reading = null;
        failure = event.error;
      }
    }
  } finally {
    stop.abort(new Error("the outcomes are not needed any more"));
    await Promise.allSettled(saving.values());
    await source.return?.();
  }
  if (failure !== null) throw failure.thrown;
  if (stored === 0 && newRefusals.length >= MIN_REFUSALS) throw refusesAll(newRefusals);
}

type ReadingEvent =
  | { readonly kind: "read"; readonly outcome: ReadOutcome }
  | { readonly kind: "ended"; readonly error: { readonly thrown: unknown } | null };

/** Libraries that failed last time are stored apart, so that those that fail again delay no others. */
async function saveBatch(batch: readonly ReadOutcome[], tools: WriterTools) {
  const { lease, context, mask } = tools;
  const libraries = batch.filter((outcome) => outcome.kind === "read");
  const failures = batch.flatMap((outcome) => (outcome.kind === "failed" ? [outcome.failure] : []));
  const outcomes: WriteOutcome[] = [];
  /** The errors of libraries that did not fail last time, and whose rows the database refused. */
  const newRefusals: unknown[] = [];
  for (const failedBefore of [false, true]) {
    const some = libraries.filter(({ content }) => content.failedBefore === failedBefore);
    const operation = `storing ${formatLibraries(some.length)}`;
    const options = { operation, byKey: true, afterLostCommit: keepChanges };
    const { written, refused } = await saveInHalves(some, lease, options, (connection, part) => {
      const contents = part.map(({ content }) => content);
      return saveLibraries(connection, contents, context);
    });
    for (const { items, result } of written) {
      for (const [{ action, content }, saved] of byPosition(items, result)) {
        outcomes.push({ kind: "stored", action, content, saved });
      }
    }
    for (const { item, error } of refused) {
      failures.push(refusedByDatabase("storing the library", error).toFailedLibrary(item.content.listed.key, mask));
      if (!failedBefore) newRefusals.push(error);
    }
  }
  /** Libraries whose content was written. */
  const stored = outcomes.filter((outcome) => outcome.kind === "stored" && !outcome.content.isSame).length;
  for (const { buffer } of libraries) await buffer.free();
  for (const failure of failures) outcomes.push({ kind: "failed", failure });
  outcomes.push(...(await saveFailures(failures, tools)));
  return { outcomes, stored, newRefusals };
}

/** The results of a batch whose first COMMIT was not answered: what the first attempt stored already, the last one finds unchanged. */
function keepChanges(first: readonly SavedLibrary[], last: readonly SavedLibrary[]): SavedLibrary[] {
  return byPosition(last, first).map(([library, before]) => (library.changed ? library : before));
}

/** @returns one outcome for each library whose failure, or whose rejects, the database refused to record */
async function saveFailures(
  failures: readonly FailedLibrary[],
  { lease, context, mask }: WriterTools,
): Promise<Extract<WriteOutcome, { kind: "unrecorded" }>[]> {
  const operation = `recording ${plural(failures.length, "failed library", "failed libraries")}`;
  const { refused } = await saveInHalves(failures, lease, { operation, byKey: true }, (connection, part) =>
    updateFailures(connection, context.runId, part),
  );
  const withRejects = refused.flatMap(({ item }) => (item.rejects.length > 0 ? [{ ...item, rejects: [] }] : []));
  const again = withRejects.length > 0 ? await saveFailures(withRejects, { lease, context, mask }) : [];
  const refusedAgain = new Set(again.map(({ key }) => key));
  const recorded = refused.filter(({ item }) => !refusedAgain.has(item.key));
  const outcomes = recorded.map(({ item, error }) => {
    const what = item.rejects.length > 0 ? "recording its rejects" : "writing its row of library_sync";
    const { message } = databaseError(what, driverError(error));
    return { kind: "unrecorded", key: item.key, message: mask(message) } as const;
  });
  return [...again, ...outcomes];
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

async function updateFailures(
  connection: Connection,
  runId: number,
  failures: readonly FailedLibrary[],
): Promise<void> {
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

function refusesAll(refusals: readonly unknown[]): DatabaseError {
  const cause = refusals.at(-1);
  const { message } = databaseError("storing the last of them", driverError(cause));
  const libraries = formatLibraries(refusals.length);
  return new DatabaseError(`the database refused all ${libraries} that this run tried to store: ${message}`, { cause });
}
