import { isUtf8 } from "node:buffer";
import { randomUUID } from "node:crypto";
import { existsSync, readFileSync, realpathSync } from "node:fs";
import { rename, rm, writeFile } from "node:fs/promises";
import { resolve } from "node:path";
import { createInterface } from "node:readline/promises";
import { Writable } from "node:stream";
import { isatty, ReadStream } from "node:tty";
import { parseEnv } from "node:util";
import type { Name } from "../config/settings.ts";
import { EXIT, fileErrorReason, InterruptedError, UsageError } from "../errors.ts";
import { type CheckLine, checkExitCode, formatCheckLines } from "../output/check.ts";
import { checkConfiguration } from "./check/check-configuration.ts";
import { checkDatabase } from "./check/check-database.ts";
import { checkService } from "./check/check-service.ts";
import type { DefineCommand } from "./command.ts";
import { type Context, outputLook, printText } from "./context.ts";

interface InitOptions {
  readonly baseUrl?: string;
  readonly apiKey?: string;
  readonly databaseUrl?: string;
  readonly force: boolean;
}

export const defineInit: DefineCommand = (command, run) =>
  command
    .option("--base-url <URL>", "the service's base URL (default: SIMCAT_BASE_URL, or asked)")
    .option("--api-key <KEY>", "the API key (default: SIMCAT_API_KEY, or asked without showing it)")
    .option("--database-url <URL>", 'a Postgres; "" is an embedded one, for trials (default: DATABASE_URL, or asked)')
    .option("--force", "replace these settings in an existing .env; its other lines stay", false)
    .action(run(init));

interface InitQuestion {
  readonly name: Name;
  readonly option: string;
  readonly text: string;
  readonly given: string | undefined;
  readonly isHidden?: boolean;
  /** Whether an empty answer is one. */
  readonly isOptional?: boolean;
}

/** Settings that are tested together. */
interface Step {
  readonly questions: readonly InitQuestion[];
  readonly check: (context: Context) => Promise<CheckLine[]>;
}

const steps = ({ baseUrl, apiKey, databaseUrl }: InitOptions): readonly Step[] => {
  const service = [
    { name: "SIMCAT_BASE_URL", option: "--base-url", text: "Base URL of the service", given: baseUrl },
    { name: "SIMCAT_API_KEY", option: "--api-key", text: "API key (not shown)", given: apiKey, isHidden: true },
  ] as const;
  const text = "Postgres URL (not shown; empty: an embedded one, for trials)";
  const database = { name: "DATABASE_URL", option: "--database-url", text, given: databaseUrl } as const;
  return [
    { questions: service, check: checkService },
    { questions: [{ ...database, isHidden: true, isOptional: true }], check: checkDatabase },
  ];
};

/**
 * Writes the settings of the service and the database to `.env`, after each was tested. Exits like `simcat check`, and then
 * writes nothing.
 */
async function init(context: Context, options: InitOptions): Promise<number> {
  const path = resolve(".env");
  if (!options.force && existsSync(path))
    throw new UsageError(`${path} exists, and was not changed`, { hint: "--force replaces these settings in it" });
  const prompt = openPrompt(context);
  try {
    const answers = new Map<Name, string>();
    if (prompt === null) assertGiven(context, options);
    for (const step of steps(options)) {
      const exitCode = await answerAndCheck(context, prompt, step, answers);
      if (exitCode !== EXIT.ok) return exitCode;
    }
    await saveSettings(path, answers);
  } finally {
    prompt?.close();
  }
  printText(context, `\nwrote ${path}, which only you can read\nnext: simcat backfill`);
  return EXIT.ok;
}

/** Asks until the answers pass their checks; without a terminal once. Returns the exit code of the checks. */
async function answerAndCheck(
  context: Context,
  prompt: Prompt | null,
  { questions, check }: Step,
  answers: Map<Name, string>,
): Promise<number> {
  for (let attempt = 1; ; attempt++) {
    for (const question of questions) {
      const known = attempt === 1 ? findKnown(context, question, prompt !== null) : undefined;
      const answer = known ?? (await ask(context, question, prompt));
      if (answer !== null) answers.set(question.name, answer);
    }
    const given = { ...context, environment: { ...context.environment, ...Object.fromEntries(answers) } };
    const invalid = checkConfiguration(given).filter(({ result }) => result === "fail");
    const lines = invalid.length > 0 ? invalid : await check(given);
    printText(context, context.mask(formatCheckLines(lines, outputLook(context))));
    const exitCode = checkExitCode(lines);
    if (exitCode === EXIT.ok || prompt === null) return exitCode;
  }
}

/** The value of an option or of the environment. A terminal is asked about what an existing `.env` has. */
function findKnown(
  { environment, dotenv }: Context,
  { name, given }: InitQuestion,
  isAsked: boolean,
): string | undefined {
  return given ?? (isAsked && dotenv.has(name) ? undefined : environment[name]);
}

/** @throws UsageError that names every setting that is missing, if there is no terminal to ask on */
function assertGiven(context: Context, options: InitOptions): void {
  const missing = steps(options)
    .flatMap(({ questions }) => questions)
    .filter((question) => !question.isOptional && findKnown(context, question, false) === undefined)
    .filter(({ name }) => !context.environment[`${name}_FILE`]);
  if (missing.length === 0) return;
  const names = missing.map(({ name }) => name).join(" and ");
  const are = missing.length === 1 ? "is" : "are";
  throw new UsageError(`${names} ${are} not set, and there is no terminal to ask on`, {
    hint: `give ${missing.map(({ option }) => option).join(" and ")}`,
  });
}

/** Null for a setting that a file has (`NAME_FILE`), or that nobody can be asked for. */
async function ask({ environment }: Context, question: InitQuestion, prompt: Prompt | null): Promise<string | null> {
  const { name, text, isHidden = false, isOptional = false } = question;
  if (environment[`${name}_FILE`] || prompt === null) return null;
  for (;;) {
    const answer = await prompt.ask(`${text}: `, isHidden);
    if (answer !== "" || isOptional) return answer;
  }
}

type Prompt = NonNullable<ReturnType<typeof openPrompt>>;

/** Asks on the terminal. Null if nobody can answer: standard input or standard error is no terminal. */
function openPrompt({ terminal, draw, stop }: Context) {
  if (!terminal.isErr || !isatty(0)) return null;
  let isMuted = false;
  const output = new Writable({
    write(text, _encoding, done) {
      if (!isMuted) draw(String(text));
      done();
    },
  });
  const input = new ReadStream(0);
  const lines = createInterface({ input, output, terminal: true });
  const ended = new AbortController();
  const onEnd = () => ended.abort(new InterruptedError("SIGINT"));
  lines.on("SIGINT", onEnd).on("close", onEnd);
  return {
    /** Returns the answer, trimmed. A hidden one is not shown while it is typed. @throws InterruptedError at Ctrl-C and Ctrl-D */
    async ask(question: string, isHidden: boolean): Promise<string> {
      const answered = lines.question(question, { signal: AbortSignal.any([ended.signal, stop]) });
      isMuted = isHidden;
      try {
        return (await answered).trim();
      } catch {
        stop.throwIfAborted();
        throw ended.signal.reason;
      } finally {
        isMuted = false;
        if (isHidden) draw("\n");
      }
    },
    close() {
      lines.off("close", onEnd).close();
      // A paused terminal keeps the process alive.
      input.destroy();
    },
  };
}

/** Replaces these settings in the file, or creates it. Only its owner can read it. */
async function saveSettings(path: string, answers: ReadonlyMap<Name, string>): Promise<void> {
  const target = existsSync(path) ? realpathSync(path) : path;
  const before = existsSync(path) ? readExisting(path) : "";
  const kept = before.replace(ASSIGNMENT, (text, name) => (answers.has(name) ? "" : text)).trimEnd();
  const given = [...answers]
    .filter(([, value]) => value !== "")
    .map(([name, value]) => `${name}=${quote(name, value)}\n`)
    .join("");
  const text = `${kept === "" ? "" : `${kept}\n`}${given}`;
  assertKept(path, parseEnv(before), parseEnv(text), answers);
  const temporary = `${target}.${randomUUID()}.tmp`;
  try {
    await writeFile(temporary, text, { mode: 0o600, flag: "wx" });
    await rename(temporary, target);
  } catch (error) {
    await rm(temporary, { force: true });
    throw new UsageError(`${path} cannot be written: ${fileErrorReason(error)}`, { cause: error });
  }
}

/** The text of the file, without a byte order mark. @throws UsageError if it is not UTF-8, because decoding would change it */
function readExisting(path: string): string {
  const bytes = readFileSync(path);
  if (!isUtf8(bytes)) throw new UsageError(`${path} was not changed: it is not UTF-8`, { hint: "edit it by hand" });
  return bytes
    .toString("utf8")
    .replace(/^\ufeff/, "")
    .replaceAll("\r\n", "\n");
}

/** An assignment with its value, which has several lines if it is quoted. */
const ASSIGNMENT = /^[^\S\n]*(?:export\s+)?(\w+)[^\S\n]*=[^\S\n]*(?:"[^"]*"|'[^']*'|`[^`]*`)?.*(?:\n|$)/gm;

/** @throws UsageError if another setting than the answers would change, because a quote in the file has no end */
function assertKept(
  path: string,
  before: NodeJS.Dict<string>,
  after: NodeJS.Dict<string>,
  answers: ReadonlyMap<Name, string>,
): void {
  const expected = { ...before };
  for (const [name, value] of answers) expected[name] = value === "" ? undefined : value;
  const wrong = Object.keys({ ...expected, ...after }).find((name) => after[name] !== expected[name]);
  if (wrong === undefined) return;
  throw new UsageError(`${path} was not changed: its quotes leave ${wrong} unclear`, { hint: "edit it by hand" });
}

/** The value as a `.env` file holds it. @throws UsageError for one that none can hold */
function quote(name: Name, value: string): string {
  const found = [value, `'${value}'`, `"${value}"`, `\`${value}\``].find((text) => parseEnv(`X=${text}\n`).X === value);
  if (found !== undefined) return found;
  throw new UsageError(`a .env file cannot hold this value of ${name}`, {
    hint: `put it into a file, and set ${name}_FILE`,
  });
}
