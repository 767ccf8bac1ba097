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
 */
export class StandardStream {
  readonly #descriptor: number;
  readonly #isIgnored: (error: unknown) => boolean;
  readonly #formatLost: ((lines: number) => string) | null;
  readonly #waiting: Buffer[] = [];
  /** Since when text is waiting, as `performance.now()`. */
  #waitingSince = Number.POSITIVE_INFINITY;
  #timer: NodeJS.Timeout | undefined;
  #lostLines = 0;
  #error: OutputError | null = null;

  /** `formatLost` returns the text that reports how many lines were dropped. Without it, nothing is dropped. */
  constructor(
    descriptor: number,
    isIgnored: (error: unknown) => boolean,
    formatLost: ((lines: number) => string) | null = null,
  ) {
    this.#descriptor = descriptor;
    this.#isIgnored = isIgnored;
    this.#formatLost = formatLost;
  }

  /** @throws OutputError if this text, or earlier text that had to wait, cannot be written */
  write(text: string): void {
    if (this.#isDropping()) {
      this.#lostLines += text.split("\n").length - 1;
      return;
    }
    this.#waiting.push(Buffer.from(text));
    this.#flush();
    this.#throwError();
  }

  /** Waits until all text is written or text is dropped. @throws OutputError, or the signal's reason */
  async drain(signal: AbortSignal): Promise<void> {
    while (this.#waiting.length > 0 && !this.#isDropping()) await sleep(FULL_PIPE_PAUSE_MS, signal);
    this.#throwError();
  }

  /** Throws each error once. */
  #throwError(): void {
    const error = this.#error;
    this.#error = null;
    if (error !== null) throw error;
  }

  #isDropping(): boolean {
    return this.#formatLost !== null && performance.now() - this.#waitingSince >= PATIENCE_MS;
  }

  #flush(): void {
    try {
      for (let [first] = this.#waiting; first !== undefined; [first] = this.#waiting) {
        const remaining = writeNow(this.#descriptor, first);
        if (remaining.length > 0) {
          this.#waiting[0] = remaining;
          this.#waitingSince = Math.min(this.#waitingSince, performance.now());
          this.#timer ??= setTimeout(() => {
            this.#timer = undefined;
            this.#flush();
          }, FULL_PIPE_PAUSE_MS).unref();
          return;
        }
        this.#waiting.shift();
      }
    } catch (error) {
      this.#waiting.length = 0;
      const message = `standard output cannot be written: ${toError(error).message}`;
      if (!this.#isIgnored(error)) this.#error = new OutputError(message, { cause: error });
    }
    this.#waitingSince = Number.POSITIVE_INFINITY;
    if (this.#lostLines === 0 || this.#formatLost === null) return;
    const report = this.#formatLost(this.#lostLines);
    this.#lostLines = 0;
    this.write(report);
  }
}
