import type { Environment } from "../config/environment.ts";

/** What a command sees of the process. */
export interface Context {
  readonly environment: Environment;
  /** Names that the `.env` file gave. */
  readonly dotenv: ReadonlySet<string>;
  readonly version: string;
  /** How it was called, to be put before a command: `simcat` where it is installed, else `node` and the script's path. */
  readonly invocation: string;
  /** Data and summaries: standard output, by the line. Nothing is masked here: messages in it were masked before. */
  readonly print: (text: string) => void;
  /** Messages for people: standard error, by the line, masked. */
  readonly note: (text: string) => void;
  /** Raw standard error, for log lines and for what redraws itself. Nothing is masked here. */
  readonly draw: (text: string) => void;
  readonly terminal: Terminal;
  /** Aborted, with an InterruptedError, by the first SIGHUP, SIGINT or SIGTERM. */
  readonly stop: AbortSignal;
  /** From now on `mask` replaces these. */
  readonly hide: (secrets: readonly string[]) => void;
  /** A message without the secrets. Every message passes it before it becomes part of a log line, JSON, a page or a row. */
  readonly mask: (text: string) => string;
}

interface Terminal {
  readonly isOut: boolean;
  readonly isErr: boolean;
  readonly columns: number;
}
