import pino, { type Logger } from "pino";
import type { Config } from "./config.ts";
import { printable } from "./printable.ts";

export type { Logger } from "pino";

/** Whether people or machines read standard error. */
export function isPretty({ logFormat }: Pick<Config, "logFormat">, isTerminal: boolean): boolean {
  return logFormat === "pretty" || (logFormat === "auto" && isTerminal);
}

/**
 * One JSON object a line, or for people a coloured line. `write` gets whole lines and takes the secrets out.
 * Text from the service stands in fields, never in the message, so it cannot forge a line.
 */
export function openLog(
  config: Pick<Config, "logFormat" | "logLevel">,
  isTerminal: boolean,
  write: (text: string) => void,
): Logger {
  const pretty = isPretty(config, isTerminal);
  return pino(
    {
      level: config.logLevel,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
    },
    { write: (line) => write(`${pretty ? prettyLine(line) : printable(line.trimEnd())}\n`) },
  );
}

interface LogLine {
  readonly time: string;
  readonly level: string;
  readonly msg?: string;
}

function prettyLine(line: string): string {
  const { time, level, msg = "", ...fields } = JSON.parse(line) as LogLine & Record<string, unknown>;
  const rest = Object.entries(fields).map(([name, value]) => `${name}=${printable(JSON.stringify(value))}`);
  return [time.slice(11, 19), level.toUpperCase().padEnd(5), printable(msg), ...rest].join(" ");
}
