import { writeSync } from "node:fs";
import { sleep } from "../async.ts";
import { hasErrorCode, OutputError, toError } from "../errors.ts";

/** The pause between two attempts to write to a full pipe. */
export const FULL_PIPE_PAUSE_MS = 10;

/** Writes to a descriptor that does not block. Returns the bytes that a full pipe, or a stopped terminal, does not take. */
export function writeNow(descriptor: number, bytes: Buffer): Buffer {
  let remaining = bytes;
  try {
    while (remaining.length > 0) remaining = remaining.subarray(writeSync(descriptor, remaining));
  } catch (error) {
    if (!hasErrorCode(error, "EAGAIN")) throw error;
  }
  return remaining;
}

/** While earlier text has been waiting for this long, new text is dropped. */
const PATIENCE_MS = 2_000;

/**
 * Standard output or standard error. Text is written at once, so that nothing is lost when the process exits. If the reader
 * stands still, it is kept in memory, and timers, signals and requests go on.
 * @param formatLost returns the text that says how many lines were dropped; without it, nothing is dropped
 */
export function openStandardStream(
  descriptor: number,
  isIgnored: (error: unknown) => boolean,
  formatLost: ((lines: number) => string) | null = null,
) {
  const waiting: Buffer[] = [];
  /** Since when text is waiting, as `performance.now()`. */
  let waitingSince = Number.POSITIVE_INFINITY;
  let retrying: NodeJS.Timeout | undefined;
  let lostLines = 0;
  let failure: OutputError | null = null;

  /** Throws each error once. */
  const throwFailure = () => {
    const error = failure;
    failure = null;
    if (error !== null) throw error;
  };
  const isDropping = () => formatLost !== null && performance.now() - waitingSince >= PATIENCE_MS;
  const flush = () => {
    try {
      for (let [first] = waiting; first !== undefined; [first] = waiting) {
        const remaining = writeNow(descriptor, first);
        if (remaining.length > 0) {
          waiting[0] = remaining;
          waitingSince = Math.min(waitingSince, performance.now());
          retrying = retrying?.refresh() ?? setTimeout(flush, FULL_PIPE_PAUSE_MS).unref();
          return;
        }
        waiting.shift();
      }
    } catch (error) {
      waiting.length = 0;
      const message = `standard output cannot be written: ${toError(error).message}`;
      if (!isIgnored(error)) failure = new OutputError(message, { cause: error });
    }
    waitingSince = Number.POSITIVE_INFINITY;
    if (lostLines === 0 || formatLost === null) return;
    const text = formatLost(lostLines);
    lostLines = 0;
    write(text);
  };

  /** @throws OutputError if this text, or earlier text that had to wait, cannot be written */
  function write(text: string): void {
    if (isDropping()) {
      lostLines += text.split("\n").length - 1;
      return;
    }
    waiting.push(Buffer.from(text));
    flush();
    throwFailure();
  }

  /** Waits until all text is written or text is dropped. @throws OutputError, or the signal's reason */
  async function drain(signal: AbortSignal): Promise<void> {
    while (waiting.length > 0 && !isDropping()) await sleep(FULL_PIPE_PAUSE_MS, signal);
    throwFailure();
  }

  return { write, drain };
}
