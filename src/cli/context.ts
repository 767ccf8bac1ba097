import type { Readable } from "node:stream";
import type { Environment } from "../config/readers.ts";
import { createLook, type Look } from "../output/look.ts";
import { explainWords } from "../output/words.ts";
import { wrapText } from "../output/wrap.ts";
import { printableLines } from "../printable.ts";

/** The part of the process that a command can use. */
export interface Context {
  readonly environment: Environment;
  /** Names taken from the `.env` file. */
  readonly dotenv: ReadonlySet<string>;
  /** The path of the `.env` file if it contains a secret and other users may read it. */
  readonly exposedDotenv?: string | undefined;
  readonly version: string;
  /** The version, and the commit in parentheses if the program was built from one. */
  readonly build: string;
  /** How to call simcat in a printed command line: `simcat` if it is installed, otherwise `node` and the script's path. */
  readonly invocation: string;
  /** Opens standard input, which may be a file, a pipe, a socket or a terminal. */
  readonly openInput: () => Readable;
  /** Prints data; `printText` prints text for people. Masks nothing. @throws OutputError if it cannot be written */
  readonly print: (text: string) => void;
  /** Prints lines to standard error, masked; `noteText` prints text for people. */
  readonly note: (text: string) => void;
  /** Writes raw text to standard error: log lines, and progress that redraws itself. Masks nothing. */
  readonly draw: (text: string) => void;
  readonly terminal: {
    readonly isOut: boolean;
    readonly isErr: boolean;
    readonly columns: number;
    readonly rows: number;
    /** Whether text for people has colors on standard output, and on standard error. */
    readonly isOutColored?: boolean;
    readonly isErrColored?: boolean;
  };
  /** Of `--quiet` and `--verbose`: overrides SIMCAT_LOG_LEVEL. With `warn`, a command prints nothing about a good state. */
  readonly logLevel?: "warn" | "debug" | undefined;
  /** Aborted with an InterruptedError by the first SIGHUP, SIGINT or SIGTERM. */
  readonly stop: AbortSignal;
  /** Aborted when nobody reads standard output any more, such as `head` after its last line. */
  readonly unread: AbortSignal;
  /** Adds secrets that `mask` replaces from now on. */
  readonly hide: (secrets: readonly string[]) => void;
  /** Replaces the secrets in a message. Apply it before the message becomes part of a log line, JSON, a page or a row. */
  readonly mask: (text: string) => string;
}

/** The width of a table on standard output: that of the terminal, unlimited in a file or pipe. */
export function outputWidth({ terminal }: Context): number {
  return terminal.isOut ? terminal.columns : Number.POSITIVE_INFINITY;
}

/** Prints data for programs to standard output. The escapes of `printable` are valid in JSON. */
export function printJson({ print }: Context, data: unknown): void {
  print(printableLines(JSON.stringify(data, null, 2)));
}

/** Prints text for people to standard output. A terminal also gets line breaks between words, and the meanings of some. */
export function printText(context: Context, text: string, meanings = explainWords(text)): void {
  const { isOut, columns } = context.terminal;
  const explained = meanings.map((line) => outputLook(context).paint("quiet", line));
  context.print(isOut ? wrapText([text, ...explained].join("\n"), columns) : text);
}

/** Prints a result for people; with `--quiet` only if something is not well. */
export function printResult(context: Context, isWell: boolean, text: string): void {
  if (!(context.logLevel === "warn" && isWell)) printText(context, text);
}

/** Prints it to standard error. A secret is masked before a line break could part it. */
export function noteText({ terminal, note, mask }: Context, text: string): void {
  note(terminal.isErr ? wrapText(mask(text), terminal.columns) : text);
}

/** How text for people looks on standard output. */
export const outputLook = ({ terminal }: Context): Look => createLook(terminal.isOut, terminal.isOutColored ?? false);
