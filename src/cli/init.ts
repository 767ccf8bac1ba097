import { existsSync, readFileSync, realpathSync } from "node:fs";
import { resolve } from "node:path";
import { createInterface } from "node:readline";
import { isatty, ReadStream, WriteStream } from "node:tty";
import { parseEnv } from "node:util";
import { SECRET_NAMES } from "../config/settings.ts";
import { EXIT, fileErrorReason, InterruptedError, UsageError } from "../errors.ts";
import { formatCheckLines } from "../output/check-lines.ts";
import { checkSettings } from "./check/check-configuration.ts";
import { checkDatabase } from "./check/check-database.ts";
import { checkService } from "./check/check-service.ts";
import { printChecks } from "./check.ts";
import type { DefineCommand } from "./command.ts";
import { type Context, outputLook, printResult, printText } from "./context.ts";
import { replaceFile } from "./write-output.ts";

interface InitOptions {
  readonly baseUrl?: string;
  readonly apiKey?: string;
  readonly databaseUrl?: string;
  readonly force?: boolean;
}

export const defineInit: DefineCommand = (command, run) =>
  command
    .option("--base-url <URL>", "the service's base URL (default: SIMCAT_BASE_URL, or asked)")
    .option("--api-key <KEY>", "the API key (default: SIMCAT_API_KEY, or asked without showing it)")
    .option("--database-url <URL>", 'a Postgres; "" is an embedded one, for trials (default: DATABASE_URL, or asked)')
    .option("--force", "replace these settings in an existing .env; its other lines stay")
    .action(run(init));

/** The settings that are asked for. A secret is not shown. */
const QUESTIONS = {
  SIMCAT_BASE_URL: { option: "--base-url", text: "Base URL of the service" },
  SIMCAT_API_KEY: { option: "--api-key", text: "API key (not shown)" },
  DATABASE_URL: { option: "--database-url", text: "Postgres URL (not shown; empty: an embedded one, for trials)" },
};

type Asked = keyof typeof QUESTIONS;
type Answered = Asked | `${Asked}_FILE`;

/** Settings that are tested together. */
const STEPS = [
  { names: ["SIMCAT_BASE_URL", "SIMCAT_API_KEY"], check: checkService },
  { names: ["DATABASE_URL"], check: checkDatabase },
] as const;

const ASKED_NAMES: readonly Asked[] = STEPS.flatMap(({ names }) => names);

/** Whether an empty answer is one. */
const isOptional = (name: Asked) => name === "DATABASE_URL";

/** Writes `.env` if its settings pass their checks. A terminal is asked until they do; otherwise it exits like `simcat check`. */
async function init(context: Context, { baseUrl, apiKey, databaseUrl, force }: InitOptions): Promise<number> {
  const { environment, dotenv, terminal } = context;
  const path = resolve(".env");
  if (!force && existsSync(path))
    throw new UsageError(`${path} exists, and was not changed`, { hint: "--force replaces these settings in it" });
  const isAsked = terminal.isErr && isatty(0);
  const given = { SIMCAT_BASE_URL: baseUrl, SIMCAT_API_KEY: apiKey, DATABASE_URL: databaseUrl };
  const answers = new Map<Answered, string>();
  for (const name of ASKED_NAMES) {
    // A terminal is asked about what an existing file has.
    const known = given[name] ?? (isAsked && dotenv.has(name) ? undefined : environment[name]);
    if (known === undefined) continue;
    answers.set(name, known);
    const file = `${name}_FILE` as const;
    // An option replaces both forms of a secret in `.env`. Its other form may also be without effect.
    if (!environment[file] || (given[name] !== undefined && dotenv.has(file))) answers.set(file, "");
  }
  const missingOf = (names: readonly Asked[]) =>
    names.filter((name) => !answers.has(name) && !environment[`${name}_FILE`]);
  const missing = missingOf(ASKED_NAMES);
  const required = isAsked ? [] : missing.filter((name) => !isOptional(name));
  if (required.length > 0) {
    const are = required.length === 1 ? "is" : "are";
    throw new UsageError(`${required.join(" and ")} ${are} not set, and there is no terminal to ask on`, {
      hint: `give ${required.map((name) => QUESTIONS[name].option).join(" and ")}`,
    });
  }
  const invalid = checkSettings(withAnswers(context, answers), (name) => !missing.some((asked) => asked === name));
  if (invalid.length > 0) return printChecks(context, invalid, formatCheckLines);
  for (const { names, check } of STEPS) {
    let exitCode: number;
    do {
      if (isAsked) for (const name of missingOf(names)) answers.set(name, await ask(context, name));
      exitCode = printChecks(context, await check(withAnswers(context, answers)), formatCheckLines);
      if (exitCode !== EXIT.ok && isAsked) for (const name of names) answers.delete(name);
    } while (exitCode !== EXIT.ok && isAsked && missingOf(names).length > 0);
    if (exitCode !== EXIT.ok) return exitCode;
  }
  await saveSettings(path, answers);
  printResult(context, true, `\nwrote ${path}, which only you can read\nnext: ${context.invocation} backfill`);
  return EXIT.ok;
}

const withAnswers = (context: Context, answers: Iterable<readonly [Answered, string]>): Context => ({
  ...context,
  environment: { ...context.environment, ...Object.fromEntries(answers) },
});

/** Asks on the terminal until the answer, trimmed, has the form of the setting. @throws InterruptedError at Ctrl-C and Ctrl-D */
async function ask(context: Context, name: Asked): Promise<string> {
  const { draw, stop } = context;
  const prompt = `${QUESTIONS[name].text}: `;
  const isHidden = SECRET_NAMES.includes(name);
  const input = new ReadStream(0);
  // Without an output, readline does not show what is typed.
  const shown = isHidden ? {} : { output: new WriteStream(2) };
  const lines = createInterface({ input, ...shown, prompt, terminal: true, signal: stop });
  try {
    const showPrompt = () => (isHidden ? draw(prompt) : lines.prompt());
    showPrompt();
    for await (const line of lines) {
      if (isHidden) draw("\n");
      const answer = line.trim();
      if (answer !== "" || isOptional(name)) {
        const invalid = checkSettings(withAnswers(context, [[name, answer]]), (problem) => problem === name);
        if (invalid.length === 0) return answer;
        printText(context, formatCheckLines(invalid, outputLook(context)));
      }
      showPrompt();
    }
    draw("\n");
    stop.throwIfAborted();
    throw new InterruptedError("SIGINT");
  } finally {
    lines.close();
    // A paused terminal keeps the process alive.
    input.destroy();
  }
}

/** Replaces these settings in the file, or creates it. Only its owner can read it. */
async function saveSettings(path: string, answers: ReadonlyMap<Answered, string>): Promise<void> {
  const bytes = existsSync(path) ? readFileSync(path) : Buffer.alloc(0);
  const before = new TextDecoder().decode(bytes).replaceAll("\r\n", "\n");
  const kept = before.replace(ASSIGNMENT, (text, name) => (answers.has(name) ? "" : text)).trimEnd();
  const given = [...answers].filter(([, value]) => value !== "");
  const lines = [...(kept === "" ? [] : [kept]), ...given.map(([name, value]) => `${name}=${quote(name, value)}`)];
  const text = lines.map((line) => `${line}\n`).join("");
  const after: NodeJS.Dict<string> = parseEnv(text);
  const expected: NodeJS.Dict<string> = { ...parseEnv(before), ...Object.fromEntries(answers) };
  const names = Object.keys({ ...expected, ...after });
  // A quote in the file that has no end would hide what follows it.
  const unclear = names.find((name) => (after[name] ?? "") !== (expected[name] ?? ""));
  if (unclear !== undefined)
    throw new UsageError(`${path} was not changed: its quotes leave ${unclear} unclear`, { hint: "edit it by hand" });
  const target = existsSync(path) ? realpathSync(path) : path;
  await replaceFile(target, Buffer.from(text), 0o600).catch((error: unknown) => {
    throw new UsageError(`${path} cannot be written: ${fileErrorReason(error)}`, { cause: error });
  });
}

/** An assignment with its value, which has several lines if it is quoted. */
const ASSIGNMENT = /^[^\S\n]*(?:export\s+)?(\w+)[^\S\n]*=[^\S\n]*(?:"[^"]*"|'[^']*'|`[^`]*`)?.*(?:\n|$)/gm;

/** The value as a `.env` file holds it. @throws UsageError for one that none can hold */
function quote(name: Answered, value: string): string {
  const found = [value, `'${value}'`, `"${value}"`, `\`${value}\``].find((text) => parseEnv(`X=${text}\n`).X === value);
  if (found !== undefined) return found;
  throw new UsageError(`a .env file cannot hold this value of ${name}`, {
    hint: `put it into a file, and set ${name}_FILE`,
  });
}
