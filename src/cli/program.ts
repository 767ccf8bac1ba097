import { Command, CommanderError, InvalidArgumentError, Option } from "commander";
import { EXIT, UsageError } from "../errors.ts";
import type { Context } from "./context.ts";

const collect = (value: string, before: readonly string[]) => [...before, value];

function wholeNumber(text: string): number {
  const value = Number(text);
  if (!/^\d+$/.test(text) || !Number.isSafeInteger(value)) throw new InvalidArgumentError("expected a whole number.");
  return value;
}

/** The options stand over the environment's level. */
function withLogLevel(context: Context, { quiet, verbose }: { quiet?: boolean; verbose?: boolean }): Context {
  const level = quiet ? "warn" : verbose ? "debug" : undefined;
  return level === undefined
    ? context
    : { ...context, environment: { ...context.environment, SIMCAT_LOG_LEVEL: level } };
}

/** The command line. Each command imports only what it uses, when it is called. */
function buildProgram(context: Context, complaints: string[], ended: (exitCode: number) => void): Command {
  const program = new Command("simcat")
    .description("Keeps a Postgres copy of everything that a Simulation Cloud organization has.")
    .version(context.version, "-V, --version", "print simcat's version")
    .helpOption("-h, --help", "print this help")
    .option("-q, --quiet", "no progress, and of the log only warnings and errors")
    .option("-v, --verbose", "the whole log, each retry included")
    .configureOutput({
      writeOut: (text) => context.print(text.trimEnd()),
      // Its errors are thrown below, and told like all others.
      writeErr: (text) => complaints.push(text.trimEnd().replace(/^error: /, "")),
    })
    .configureHelp({ showGlobalOptions: true })
    .showSuggestionAfterError()
    .showHelpAfterError("(simcat --help, or simcat COMMAND --help, says what there is)")
    .helpCommand("help [command]", "print the help of a command")
    .exitOverride()
    .addHelpText("after", "\nStart with: simcat demo (needs nothing), then simcat check (says what is missing).\n");

  const add = <Options>(
    name: string,
    description: string,
    example: string,
    load: () => Promise<(context: Context, options: Options, ...args: string[]) => Promise<number>>,
  ): Command => {
    const command = program.command(name).description(description).addHelpText("after", `\nExample:\n  $ ${example}\n`);
    command.copyInheritedSettings(program);
    command.action(async (...args: unknown[]) => {
      // commander hands over the arguments, then the options, then the command itself.
      const options = args.at(-2) as Options;
      const rest = args.slice(0, -2).filter((one): one is string => typeof one === "string");
      ended(await (await load())(withLogLevel(context, command.optsWithGlobals()), options, ...rest));
    });
    return command;
  };
  const json = () => new Option("--json", "data for machines, on standard output alone").default(false);
  const library = () =>
    new Option("--library <OWNER/NAME>", "only this one; repeatable; % and / in a part are written %25 and %2F")
      .argParser(collect)
      .default([], "all");
  const owner = () =>
    new Option("--owner <OWNER>", "only this owner's; repeatable").argParser(collect).default([], "all");
  const allowRemovals = () =>
    new Option("--allow-removals", "let this run mark as removed more than the guards allow").default(false);

  add(
    "sync",
    "one incremental run",
    "simcat sync --library example.user/helloworldCourse",
    async () => (await import("./sync.ts")).sync,
  )
    .option("--dry-run", "print what would be done and why; write nothing", false)
    .addOption(library())
    .addOption(owner())
    .addOption(allowRemovals())
    .addOption(json());
  add(
    "backfill",
    "one full run; an interrupted one is gone on with",
    "simcat backfill",
    async () => (await import("./backfill.ts")).backfill,
  )
    .option("--restart", "begin again instead of going on, and compare every row", false)
    .addOption(library())
    .addOption(owner())
    .addOption(allowRemovals())
    .addOption(json());
  add(
    "start",
    "the long-running worker: sync on a schedule, health and metrics over HTTP",
    "SIMCAT_SCHEDULE='*/5 * * * *' simcat start",
    async () => (await import("./start.ts")).start,
  );
  add(
    "migrate",
    "bring the database's schema up to date",
    "simcat migrate",
    async () => (await import("./migrate.ts")).migrate,
  ).addOption(json());
  add(
    "check",
    "check configuration, service, key, database, privileges and schema",
    "simcat check",
    async () => (await import("./check.ts")).check,
  ).addOption(json());
  add(
    "status",
    "last runs, freshness, failing libraries, rejects",
    "simcat status",
    async () => (await import("./status.ts")).status,
  ).addOption(json());
  add(
    "explain",
    "why a library was or will be read or not",
    "simcat explain example.user/helloworldCourse",
    async () => (await import("./explain.ts")).explain,
  )
    .argument("<OWNER/NAME>", "the library; % and / in a part are written %25 and %2F")
    .addOption(json());
  add(
    "verify",
    "compare service and database, library by library, scenario by scenario",
    "simcat verify",
    async () => (await import("./verify.ts")).verify,
  )
    .addOption(library())
    .addOption(owner())
    .addOption(json());
  add(
    "prune",
    "delete old history, removed rows and resolved rejects",
    "simcat prune --older-than 365d --dry-run",
    async () => (await import("./prune.ts")).prune,
  )
    .requiredOption("--older-than <DURATION>", "such as 90d")
    .option("--dry-run", "only say the numbers", false)
    .addOption(json());
  add(
    "report",
    "a page with pictures: what is there, what changed, what needs attention",
    "simcat report --since 30d --out simcat-report.html",
    async () => (await import("./report.ts")).report,
  )
    .option("--out <FILE>", "where to write the page", "simcat-report.html")
    .option("--since <DURATION>", "how far back changes are told, such as 30d", "7d")
    .addOption(owner())
    .addOption(json());
  add(
    "mock",
    "a mock of the service with a lifelike organization",
    "simcat mock --libraries 50 --edit-every 10s",
    async () => (await import("./mock.ts")).mock,
  )
    .option("--port <PORT>", "0 takes a free one", wholeNumber, 8080)
    .option("--libraries <COUNT>", "how many libraries", wholeNumber, 200)
    .option("--scenarios <COUNT>", "how many scenarios a library has on average", wholeNumber, 20)
    .option("--seed <NUMBER>", "the same seed gives the same organization", wholeNumber, 1)
    .option("--edit-every <DURATION>", "edit something every so often, such as 10s");
  add(
    "db",
    "keep the embedded Postgres up until Ctrl-C, and print how to connect",
    "simcat db",
    async () => (await import("./db.ts")).db,
  ).addOption(json());
  add(
    "demo",
    "the whole thing in one go, on an embedded Postgres and a mock service",
    "simcat demo",
    async () => (await import("./demo.ts")).demo,
  );
  return program;
}

/** Runs a command line (without `node` and the script); answers the exit code. */
export async function runProgram(context: Context, argv: readonly string[]): Promise<number> {
  let exitCode: number = EXIT.ok;
  const complaints: string[] = [];
  const program = buildProgram(context, complaints, (code) => {
    exitCode = code;
  });
  try {
    if (argv.length === 0) {
      context.note(program.helpInformation());
      return EXIT.usage;
    }
    await program.parseAsync(readable(program, argv), { from: "user" });
    return exitCode;
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.exitCode === 0) return EXIT.ok;
    const [complaint = "", ...hints] = complaints;
    const isExcess = error.code === "commander.excessArguments";
    const said = isExcess ? sayExcess(program) : complaint;
    throw new UsageError([said, ...hints].join("\n"), { cause: error });
  }
}

/**
 * Asked for the help of a command that does not exist, commander prints the general help without a complaint: `help nosuch`
 * and `nosuch --help` are read as `nosuch`.
 */
function readable(program: Command, argv: readonly string[]): readonly string[] {
  const words = argv.filter((word) => !word.startsWith("-"));
  const name = words[0] === "help" ? words[1] : words[0];
  if (name === "help") return ["help"];
  const isUnknown = name !== undefined && program.commands.every((command) => command.name() !== name);
  return isUnknown ? [name] : argv;
}

/** Names the arguments that a command does not take, which commander only counts. */
function sayExcess(program: Command): string {
  const taken = ({ args, registeredArguments }: Command) => args.slice(registeredArguments.length);
  const command = program.commands.find((one) => taken(one).length > 0) ?? program;
  const words = taken(command).map((word) => `'${word}'`);
  return `too many arguments for '${command.name()}': ${words.join(" ")}; quote a name that holds blanks`;
}
