import { styleText } from "node:util";
import pino, { type Logger } from "pino";
import type { Config } from "./config.ts";
import { printable } from "./printable.ts";

export type { Logger } from "pino";

/** True if people read standard error, false if programs do. */
export function isPretty({ logFormat }: Pick<Config, "logFormat">, isTerminal: boolean): boolean {
  return logFormat === "pretty" || (logFormat === "auto" && isTerminal);
}

/** Fields that contain messages. All others are structured data, which is never rewritten. */
const MESSAGE_FIELDS = ["error", "detail", "stack"];

/**
 * Creates a log that writes one line per entry: JSON for programs, text for people, with a colored level if `isColored`. `mask` removes the
 * secrets from the fields that contain messages. Text from the service belongs into fields, never into `msg`, so that it
 * cannot forge a line.
 */
export function createLog(
  config: Pick<Config, "logFormat" | "logLevel">,
  isTerminal: boolean,
  write: (text: string) => void,
  mask: (message: string) => string,
  isColored = false,
): Logger {
  const pretty = isPretty(config, isTerminal);
  return pino(
    {
      level: config.logLevel,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }), log: (fields) => maskMessages(fields, mask) },
    },
    { write: (line) => write(`${pretty ? prettyLine(line, isColored) : printable(line.trimEnd())}\n`) },
  );
}

function maskMessages(fields: Record<string, unknown>, mask: (message: string) => string): Record<string, unknown> {
  const messages = MESSAGE_FIELDS.flatMap((name) => {
    const message = fields[name];
    return typeof message === "string" ? [[name, mask(message)]] : [];
  });
  return messages.length === 0 ? fields : { ...fields, ...Object.fromEntries(messages) };
}

const STYLES_OF_LEVELS = {
  trace: "dim",
  debug: "dim",
  info: "green",
  warn: "yellow",
  error: "red",
  fatal: "red",
} as const;

interface LogLine {
  readonly time: string;
  readonly level: keyof typeof STYLES_OF_LEVELS;
  readonly msg?: string;
}

function prettyLine(line: string, isColored: boolean): string {
  const { time, level, msg = "", ...fields } = JSON.parse(line) as LogLine & Record<string, unknown>;
  const formatted = Object.entries(fields).map(([name, value]) => `${name}=${printable(JSON.stringify(value))}`);
  const padded = level.toUpperCase().padEnd(5);
  const label = isColored ? styleText(STYLES_OF_LEVELS[level], padded, { validateStream: false }) : padded;
  return [time.slice(11, 19), label, printable(msg), ...formatted].join(" ");
}
