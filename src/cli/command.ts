import { type Command, InvalidArgumentError, Option } from "commander";
import { UsageError } from "../errors.ts";
import { formatCount } from "../format.ts";
import { parseDuration } from "../units.ts";
import type { Context } from "./context.ts";

/** The work of a command. Returns the exit code, unless it is always 0. */
export type Action<Options> = (
  context: Context,
  options: Options,
  ...args: string[]
) => Promise<number> | Promise<void>;

/** Adapts an action to commander. */
export type ActionRunner = <Options>(action: Action<Options>) => (...received: unknown[]) => Promise<void>;

/** Adds the options, the arguments and the action of a command. */
export type DefineCommand = (command: Command, run: ActionRunner) => Command;

/** The options of a command that prints data. */
export interface JsonOptions {
  readonly json?: boolean;
}

export const jsonOption = () => new Option("--json", "print JSON to standard output");

export const libraryOption = () =>
  new Option(
    "--library <OWNER/NAME>",
    "only this library (repeatable), or its NAME if one owner has it; write % and / in a part as %25 and %2F",
  )
    .argParser(append)
    .default([], "all");

export const ownerOption = () =>
  new Option("--owner <OWNER>", "only libraries of this owner (repeatable)").argParser(append).default([], "all");

/** Parses a text that an option requires. An empty one is often a variable of the shell that is not set. */
export function parseText(text: string): string {
  if (text === "") throw new InvalidArgumentError("It is empty.");
  return text;
}

const append = (value: string, previous: readonly string[]) => [...previous, parseText(value)];

/** Parses the value of a numeric option. */
export const wholeNumberUpTo =
  (max: number) =>
  (text: string): number => {
    const value = Number(text);
    if (!/^\d+$/.test(text) || value > max)
      throw new InvalidArgumentError(`expected a whole number up to ${formatCount(max)}.`);
    return value;
  };

/** In milliseconds. @throws UsageError with the examples, such as `7d, 36h or 90m` */
export function parseDurationOption(option: string, text: string, examples: string): number {
  const ms = parseDuration(text);
  if (ms !== null) return ms;
  throw new UsageError(`${option} ${JSON.stringify(text)} is not a duration`, { hint: `write it as ${examples}` });
}
