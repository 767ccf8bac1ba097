import { concurrently, withTimeout } from "../../async.ts";
import { DatabaseError } from "../../errors.ts";
import { formatLibraries, plural } from "../../format.ts";
import type { FailedLibrary, ReadOutcome, SaveOutcome } from "../../model.ts";
import type { Connection } from "../connect.ts";
import type { HeldLease } from "../lease.ts";
import { byPosition, keyArrays, statement, textArray } from "../statement.ts";
import { refusedByDatabase, saveInHalves } from "./refused-rows.ts";
import { saveLibraries } from "./save-libraries.ts";
import { saveContentRejects } from "./save-rejects.ts";
import type { SaveContext } from "./save-scenarios.ts";

interface SaveTools {
  readonly lease: HeldLease;
  readonly context: SaveContext;
  /** Takes the secrets out of a message. */
  readonly mask: (message: string) => string;
}

/** Smaller batches cost Postgres more per row. */
const BATCH_ROWS = 2_000;
const BATCH_BYTES = 4 * 2 ** 20;
/** How long a batch waits for more libraries. */
const LINGER_MS = 50;
/** Two batches keep Postgres busy while the next one is collected. */
const MAX_BATCHES = 3;
/** A run that stored nothing and had this many new refusals ends as a database failure: no library can be stored. */
const MIN_REFUSALS = 20;

/** The part of a batch that an outcome fills, with its rows or its bytes. */
function shareOf(outcome: ReadOutcome): number {
  if (outcome.kind === "failed") return 1 / BATCH_ROWS;
  const { scenarios, isSame } = outcome.content;
  if (scenarios.kind === "staged") return 1;
  const bytes = scenarios.scenarios.reduce((sum, { source }) => sum + source.length, 0);
  return Math.max((isSame ? 1 : 1 + scenarios.count) / BATCH_ROWS, bytes / BATCH_BYTES);
}

/** Yields full batches, and others when their first outcome has waited long enough. @throws whatever `source` throws, at its end */
async function* toBatches(source: AsyncIterator<ReadOutcome>): AsyncGenerator<readonly ReadOutcome[]> {
  let reading = source.next();
  for (;;) {
    const first = await reading;
    if (first.done) return;
    const lingersUntil = performance.now() + LINGER_MS;
    const batch = [first.value];
    let share = shareOf(first.value);
    reading = source.next();
    while (share < 1) {
      const next = await withTimeout(reading, lingersUntil - performance.now()).catch(() => "failed" as const);
      if (typeof next === "string" || next.done) break;
      batch.push(next.value);
      share += shareOf(next.value);
      reading = source.next();
    }
    // Its error is thrown by the next turn.
    reading.catch(() => {});
    yield batch;
  }
}

/**
 * Stores libraries in batches, and yields the outcomes of each batch after its last commit. If the database refuses the rows of one
 * library, only that library fails. Aborts `stop` if storing fails, or if the caller takes no more outcomes.
 * @throws DatabaseError if the database failed; whatever `outcomes` throws, after everything before it is stored
 */
export async function* saveOutcomes(outcomes: AsyncIterable<ReadOutcome>, tools: SaveTools, stop: AbortController) {
  const source = outcomes[Symbol.asyncIterator]();
  const failures: unknown[] = [];
  const save = async (batch: readonly ReadOutcome[]) => {
    try {
      return await saveBatch(batch, tools);
    } catch (error) {
      // Ends the reading, because a read may take minutes.
      stop.abort(error);
      failures.push(error);
      throw error;
    }
  };
  let hasSaved = false;
  const newRefusals: unknown[] = [];
  try {
    for await (const saved of concurrently(toBatches(source), MAX_BATCHES, save, stop)) {
      hasSaved ||= saved.outcomes.some((outcome) => outcome.kind === "saved" && !outcome.content.isSame);
      newRefusals.push(...saved.newRefusals);
      yield* saved.outcomes;
    }
  } catch (error) {
    throw failures[0] ?? error;
  } finally {
    await source.return?.();
  }
  if (!hasSaved && newRefusals.length >= MIN_REFUSALS) throw refusesAll(newRefusals);
}

/** Libraries that failed last time are stored apart: if they fail again, they delay no others. Failures are saved apart too. */
async function saveBatch(batch: readonly ReadOutcome[], tools: SaveTools) {
  const { lease, context, mask } = tools;
  const libraries = batch.filter((outcome) => outcome.kind === "read");
  const failures = batch.flatMap((outcome) => (outcome.kind === "failed" ? [outcome.failure] : []));
  const outcomes: SaveOutcome[] = [];
  /** The errors of libraries that did not fail last time, and whose rows the database refused. */
  const newRefusals: unknown[] = [];
  for (const failedBefore of [false, true]) {
    const some = libraries.filter(({ content }) => (content.before?.failures ?? 0) > 0 === failedBefore);
    const operation = `storing ${formatLibraries(some.length)}`;
    const options = { operation, byKey: true };
    const { written, refused } = await saveInHalves(some, lease, options, (connection, part) => {
      const contents = part.map(({ content }) => content);
      return saveLibraries(connection, contents, context);
    });
    for (const { items, result } of written) {
      for (const [{ action, content }, saved] of byPosition(items, result)) {
        outcomes.push({ kind: "saved", action, content, saved });
      }
    }
    for (const { item, error } of refused) {
      failures.push(refusedByDatabase("storing the library", error).toFailedLibrary(item.content.listed.key, mask));
      if (!failedBefore) newRefusals.push(error);
    }
  }
  for (const { buffer } of libraries) await buffer.free();
  for (const failure of failures) outcomes.push({ kind: "failed", failure });
  outcomes.push(...(await saveFailures(failures, tools)));
  return { outcomes, newRefusals };
}

/**
 * Saves failures, then the rejects of those that were saved.
 * @returns one outcome for each library whose failure, or whose rejects, the database refused to save
 */
async function saveFailures(failures: readonly FailedLibrary[], { lease, context, mask }: SaveTools) {
  const operation = `recording ${plural(failures.length, "failed library", "failed libraries")}`;
  type Save = (connection: Connection, runId: number, some: readonly FailedLibrary[]) => Promise<unknown>;
  const saveSome = async (some: readonly FailedLibrary[], what: string, save: Save) => {
    const work = (connection: Connection, part: readonly FailedLibrary[]) => save(connection, context.runId, part);
    const { refused } = await saveInHalves(some, lease, { operation, byKey: true }, work);
    return refused.map(({ item, error }) => {
      const { message } = refusedByDatabase(what, error);
      return { kind: "unsaved", key: item.key, message: mask(message) } as const;
    });
  };
  const unsaved = await saveSome(failures, "writing its row of library_sync", saveFailureRows);
  const refused = new Set(unsaved.map(({ key }) => key));
  const rejected = failures.filter(({ key, rejects }) => rejects.length > 0 && !refused.has(key));
  return [...unsaved, ...(await saveSome(rejected, "recording its rejects", saveContentRejects))];
}

/** Counts one failure per run, however often it is repeated. One in the future was saved before the clock was set back. */
const SAVE_FAILURES = statement(`
UPDATE simcat.library_sync y
SET failures = y.failures + 1, last_error = i.error, last_failed_at = now(), reread_reason = 'failure'
FROM unnest($owner::text[], $library_name::text[], $error::text[]) AS i(owner, library_name, error)
WHERE (y.owner, y.library_name) = (i.owner, i.library_name)
  AND (y.last_failed_at BETWEEN (SELECT started_at FROM simcat.sync_runs WHERE id = $run_id) AND now()) IS NOT TRUE`);

function saveFailureRows(connection: Connection, runId: number, failures: readonly FailedLibrary[]) {
  const errors = failures.map(({ code, message }) => `${code}: ${message}`.replaceAll("\0", "\\u0000").toWellFormed());
  const keys = keyArrays(failures.map(({ key }) => key));
  return connection.query(SAVE_FAILURES({ ...keys, error: textArray(errors), run_id: runId }));
}

function refusesAll(refusals: readonly unknown[]): DatabaseError {
  const cause = refusals.at(-1);
  const { message } = refusedByDatabase("storing the last of them", cause);
  const libraries = formatLibraries(refusals.length);
  return new DatabaseError(`the database refused all ${libraries} that this run tried to store: ${message}`, { cause });
}
