import type { Environment } from "../config/environment.ts";

/** What a command sees of the process. */
export interface Context {
  readonly environment: Environment;
  /** Names that the `.env` file gave. */
  readonly dotenv: ReadonlySet<string>;
  readonly version: string;
  /** How it was called, to be put before a command: `simcat` where it is installed, else `node` and the script's path. */
  readonly invocation: string;
  /** Data and summaries: standard output, by the line. */
  readonly print: (text: string) => void;
  /** Notes for people: standard error, by the line. */
  readonly note: (text: string) => void;
  /** Raw standard error, for what redraws itself. */
  readonly draw: (text: string) => void;
  readonly terminal: Terminal;
  /** Aborted, with an InterruptedError, by the first SIGHUP, SIGINT or SIGTERM. */
  readonly stop: AbortSignal;
  /** From now on these appear in nothing that is printed. */
  readonly hide: (secrets: readonly string[]) => void;
}

interface Terminal {
  readonly isOut: boolean;
  readonly isErr: boolean;
  readonly columns: number;
}
