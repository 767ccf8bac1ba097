import { Readable } from "node:stream";
import type { Context } from "../../src/cli/context.ts";
import { printError } from "../../src/cli/notify.ts";
import { runProgram } from "../../src/cli/program.ts";
import { createRedactor, environmentSecrets } from "../../src/secrets.ts";
import type { Ended } from "./cli.ts";
import { assertJson } from "./json-schemas.ts";

export type Environment = Readonly<Record<string, string>>;

/** A context that collects what is printed and logged, and masks secrets as the program does. */
export function createContext(environment: Environment, stop = new AbortController().signal) {
  const out: string[] = [];
  const err: string[] = [];
  const secrets = environmentSecrets(environment);
  const context: Context = {
    environment,
    dotenv: new Set(),
    version: "0.0.0",
    build: "0.0.0",
    invocation: "simcat",
    openInput: () => Readable.from([]),
    print: (text) => out.push(`${text}\n`),
    note: (text) => err.push(`${text}\n`),
    draw: (text) => err.push(text),
    terminal: { isOut: false, isErr: false, columns: 80, rows: 24 },
    stop,
    unread: new AbortController().signal,
    hide: (more) => void secrets.push(...more),
    mask: (text) => createRedactor(secrets)(text),
  };
  return { ...context, stdout: () => out.join(""), stderr: () => err.join("") };
}

/** Runs a command line in this process. */
export async function callCli(args: readonly string[], environment: Environment, stop?: AbortSignal): Promise<Ended> {
  const context = createContext(environment, stop);
  const code = await runProgram(context, args).catch((error: unknown) => printError(context, error));
  assertJson(args, context.stdout());
  return { code, signal: null, stdout: context.stdout(), stderr: context.stderr() };
}

/** Returns the exit code of one run over all libraries. */
export async function runSync(environment: Environment): Promise<number | null> {
  return (await callCli(["sync"], environment)).code;
}
