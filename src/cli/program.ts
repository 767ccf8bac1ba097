import { Command, CommanderError, Help, type Option } from "commander";
import { EXIT, UsageError } from "../errors.ts";
import { checkCommand } from "./check.ts";
import type { Action, ActionRunner } from "./command.ts";
import type { Context } from "./context.ts";
import { dbCommand } from "./db.ts";
import { demoCommand } from "./demo.ts";
import { explainCommand } from "./explain.ts";
import { exportCommand } from "./export.ts";
import { migrateCommand } from "./migrate.ts";
import { mockCommand } from "./mock.ts";
import { pruneCommand } from "./prune.ts";
import { reportCommand } from "./report.ts";
import { startCommand } from "./start.ts";
import { statusCommand } from "./status.ts";
import { backfillCommand, syncCommand } from "./sync.ts";
import { verifyCommand } from "./verify.ts";

const COMMANDS = [
  syncCommand,
  backfillCommand,
  startCommand,
  migrateCommand,
  checkCommand,
  statusCommand,
  explainCommand,
  verifyCommand,
  pruneCommand,
  reportCommand,
  exportCommand,
  mockCommand,
  dbCommand,
  demoCommand,
];

/** Runs a command line (without `node` and the script). Returns the exit code. */
export async function runProgram(context: Context, argv: readonly string[]): Promise<number> {
  let exitCode: number = EXIT.ok;
  const run: ActionRunner =
    <Options, Args extends readonly string[]>(action: Action<Options, Args>) =>
    async (...received: unknown[]) => {
      // commander passes the arguments, the options and, last, the command, which knows both.
      const command = received.at(-1) as Command;
      const [options, args] = [command.opts() as Options, command.args as readonly string[] as Args];
      exitCode = await action(withLogLevel(context, command.optsWithGlobals()), options, ...args);
    };
  const program = createProgram(context, run);
  try {
    if (argv.length > 0) await program.parseAsync(normalizeHelp(program, argv), { from: "user" });
    else program.help({ error: true });
    return exitCode;
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.exitCode === 0) return EXIT.ok;
    if (error.code === "commander.help") return EXIT.usage;
    const isExcess = error.code === "commander.excessArguments";
    // commander begins each message with `error: `.
    const summary = isExcess ? describeExcess(program) : error.message.replace(/^error: /, "");
    throw new UsageError(`${summary}\n(see simcat --help or simcat COMMAND --help)`, { cause: error });
  }
}

function createProgram(context: Context, run: ActionRunner): Command {
  const program = new Command("simcat")
    .description("Keeps a Postgres copy of a Simulation Cloud organization.")
    .version(context.build, "-V, --version", "print the version")
    .helpOption("-h, --help", "print this help")
    .option("-q, --quiet", "log only warnings and errors, and show no progress")
    .option("-v, --verbose", "log everything, including each retry")
    .configureOutput({
      writeOut: (text) => context.print(text.trimEnd()),
      writeErr: (text) => context.note(text.trimEnd()),
      // The caller reports the CommanderError, like the errors of the commands.
      outputError: () => {},
    })
    .configureHelp({ showGlobalOptions: true, optionDescription: describeOption })
    .showSuggestionAfterError()
    .helpCommand("help [command]", "print the help of a command")
    .exitOverride()
    .addHelpText("after", "\nStart with: simcat demo (needs no setup), then simcat check (reports what is missing).\n");
  for (const define of COMMANDS) program.addCommand(define(run).copyInheritedSettings(program));
  return program;
}

/** Omits `(default: false)` from the help of a flag. */
function describeOption(option: Option): string {
  return option.isBoolean() ? option.description : new Help().optionDescription(option);
}

/** The options override SIMCAT_LOG_LEVEL. */
function withLogLevel(context: Context, { quiet, verbose }: { quiet?: boolean; verbose?: boolean }): Context {
  const level = quiet ? "warn" : verbose ? "debug" : undefined;
  return level === undefined
    ? context
    : { ...context, environment: { ...context.environment, SIMCAT_LOG_LEVEL: level } };
}

/**
 * For the help of an unknown command, commander prints the general help without an error. Therefore `help nosuch` and
 * `nosuch --help` become `nosuch`, which is an error.
 */
function normalizeHelp(program: Command, argv: readonly string[]): readonly string[] {
  const words = argv.filter((word) => !word.startsWith("-"));
  const name = words[0] === "help" ? words[1] : words[0];
  if (name === "help") return ["help"];
  const isUnknown = name !== undefined && program.commands.every((command) => command.name() !== name);
  return isUnknown ? [name] : argv;
}

/** Names the excess arguments, which commander only counts. */
function describeExcess(program: Command): string {
  const excessOf = ({ args, registeredArguments }: Command) => args.slice(registeredArguments.length);
  const command = program.commands.find((candidate) => excessOf(candidate).length > 0) ?? program;
  const words = excessOf(command).map((word) => `'${word}'`);
  return `too many arguments for '${command.name()}': ${words.join(" ")}; quote a name that contains spaces`;
}
