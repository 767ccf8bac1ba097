import { styleText } from "node:util";
import pino, { type Logger } from "pino";
import type { Config } from "./config.ts";
import { printable } from "./printable.ts";

export type { Logger } from "pino";

export type LogSettings = Pick<Config, "logFormat" | "logLevel">;

/** True if people read standard error, false if programs do. */
export function isPretty({ logFormat }: Pick<Config, "logFormat">, isTerminal: boolean): boolean {
  return logFormat === "pretty" || (logFormat === "auto" && isTerminal);
}

/** The part of a command's context that a log needs. */
interface LogOutput {
  readonly terminal: { readonly isErr: boolean; readonly isErrColored?: boolean };
  readonly draw: (text: string) => void;
  readonly mask: (message: string) => string;
  /** Overrides that of the configuration. */
  readonly logLevel?: Config["logLevel"] | undefined;
}

/** A log of one line per entry. Text from the service belongs into fields: in `msg` it could forge a line. */
export function createLog(config: LogSettings, { terminal, draw, mask, logLevel }: LogOutput): Logger {
  const pretty = isPretty(config, terminal.isErr);
  const toMasked = (value: unknown) => (typeof value === "string" ? mask(value) : value);
  return pino(
    {
      level: logLevel ?? config.logLevel,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      // These fields contain messages. All others are structured data, which is never rewritten.
      serializers: { error: toMasked, detail: toMasked, stack: toMasked },
    },
    { write: (line) => draw(`${pretty ? prettyLine(line, terminal.isErrColored) : printable(line.trimEnd())}\n`) },
  );
}

const STYLES_OF_LEVELS = {
  trace: "dim",
  debug: "dim",
  info: "green",
  warn: "yellow",
  error: "red",
  fatal: "red",
} as const;
export type Level = keyof typeof STYLES_OF_LEVELS;

function prettyLine(line: string, isColored = false): string {
  const { time, level, msg = "", ...fields }: { time: string; level: Level; msg?: string } = JSON.parse(line);
  const formatted = Object.entries(fields).map(([name, value]) => `${name}=${printable(JSON.stringify(value))}`);
  const padded = level.toUpperCase().padEnd(5);
  const label = isColored ? styleText(STYLES_OF_LEVELS[level], padded, { validateStream: false }) : padded;
  return [time.slice(11, 19), label, printable(msg), ...formatted].join(" ");
}
