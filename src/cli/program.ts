import { WriteStream } from "node:tty";
import { Command, CommanderError, Option } from "commander";
import type { Environment } from "../config/readers.ts";
import { EXIT, UsageError } from "../errors.ts";
import type { Action, ActionRunner } from "./command.ts";
import type { Context } from "./context.ts";

/** In the order of the help. `load` loads the file of a command with all that its action needs, only if it is asked for. */
const GROUPS = {
  "Set up": {
    document: "docs/configuration.md",
    init: {
      description: "ask for the service and the database, test both, and write .env",
      example: "simcat init --base-url https://api.example.com/v1/",
      load: async () => (await import("./init.ts")).defineInit,
    },
    check: {
      description: "check configuration, service, key, database, privileges and schema",
      load: async () => (await import("./check.ts")).defineCheck,
    },
    migrate: {
      description: "update the database schema",
      load: async () => (await import("./migrate.ts")).defineMigrate,
    },
    completion: {
      description: "print a script that completes commands, options, owners and libraries in a shell",
      example: "simcat completion fish | source",
      load: async () => (await import("./completion.ts")).defineCompletion,
    },
  },
  "Keep the copy": {
    document: "docs/operations.md",
    sync: {
      description: "run one incremental sync",
      example: "simcat sync --library example.user/helloworldCourse",
      load: async () => (await import("./sync.ts")).defineSync,
    },
    backfill: {
      description: "run one full sync, or continue an interrupted one",
      load: async () => (await import("./sync.ts")).defineBackfill,
    },
    start: {
      description: "run as a worker: sync on a schedule, health and metrics over HTTP",
      example: "SIMCAT_SCHEDULE='*/5 * * * *' simcat start",
      load: async () => (await import("./start.ts")).defineStart,
    },
    prune: {
      description: "delete old history, removed rows and resolved rejects",
      example: "simcat prune --older-than 365d --dry-run",
      load: async () => (await import("./prune.ts")).definePrune,
    },
  },
  "Look at it": {
    document: "docs/operations.md",
    status: {
      description: "show the last runs, freshness, failing libraries and rejects",
      load: async () => (await import("./status.ts")).defineStatus,
    },
    libraries: {
      description: "list the libraries: what they contain, how fresh they are, and their state",
      example: "simcat libraries 'example.user/*course'",
      load: async () => (await import("./libraries.ts")).defineLibraries,
    },
    explain: {
      description: "explain why the next run will read or skip a library",
      example: "simcat explain example.user/helloworldCourse",
      load: async () => (await import("./explain.ts")).defineExplain,
    },
    verify: {
      description: "compare the database with the service, scenario by scenario",
      load: async () => (await import("./verify.ts")).defineVerify,
    },
  },
  "Ask it": {
    document: "docs/reporting.md",
    query: {
      description: "answer a question in SQL about the views of simcat_report",
      example: 'simcat query "SELECT owner, count(*) FROM libraries GROUP BY owner"',
      load: async () => (await import("./query.ts")).defineQuery,
    },
  },
  "Hand it on": {
    document: "docs/export.md",
    report: {
      description: "write an HTML page with charts: contents, changes, what needs attention",
      example: "simcat report --since 30d --out simcat-report.html",
      load: async () => (await import("./report.ts")).defineReport,
    },
    export: {
      description: "write views of simcat_report to files, for R, Python and other tools",
      example: "simcat export libraries scenarios --format parquet --out simcat-export",
      load: async () => (await import("./export.ts")).defineExport,
    },
  },
  "Try it": {
    document: "docs/tutorial.md",
    demo: {
      description: "try all of it on an embedded Postgres and a mock service",
      load: async () => (await import("./demo.ts")).defineDemo,
    },
    mock: {
      description: "run a mock of the service with generated data",
      example: "simcat mock --libraries 50 --edit-every 10s",
      load: async () => (await import("./mock.ts")).defineMock,
    },
    db: {
      description: "run the embedded Postgres until Ctrl-C, and print how to connect",
      load: async () => (await import("./db.ts")).defineDb,
    },
  },
};

/** Runs a command line (without `node` and the script). Returns the exit code. */
export async function runProgram(context: Context, argv: readonly string[]): Promise<number> {
  let exitCode: number = EXIT.ok;
  const run: ActionRunner =
    <Options>(action: Action<Options>) =>
    async (...received: unknown[]) => {
      // commander passes the arguments, the options and, last, the command, which knows both.
      const command = received.at(-1) as Command;
      const named = withGlobalOptions(context, command.optsWithGlobals());
      exitCode = (await action(named, command.opts() as Options, ...command.args)) ?? EXIT.ok;
    };
  const named = namedCommand(argv);
  const program = await createProgram(context, run, named);
  const isUnknown = named !== undefined && !program.commands.some((one) => one.name() === named);
  try {
    // For an unknown command, commander would print the help of the program.
    if (isUnknown && argv.some((word) => ["help", "-h", "--help"].includes(word)))
      await program.parseAsync([named], { from: "user" });
    // SQL that begins with a comment is not an option.
    const words = argv.map((word) => (/^--(?:\s|[^=\n]*\n)/.test(word) ? ` ${word}` : word));
    await program.parseAsync(words, { from: "user" });
    return exitCode;
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.exitCode === 0) return EXIT.ok;
    if (error.code === "commander.help") return EXIT.usage;
    // commander begins each message with `error: `.
    const summary = error.message.replace(/^error: /, "");
    throw new UsageError(`${summary}\n(see simcat --help or simcat COMMAND --help)`, { cause: error });
  }
}

async function createProgram(context: Context, run: ActionRunner, named: string | undefined): Promise<Command> {
  const program = new Command("simcat")
    .description("Keeps a Postgres copy of a Simulation Cloud organization.")
    .version(context.build, "-V, --version", "print the version")
    .helpOption("-h, --help", "print this help")
    .option("-q, --quiet", "log only warnings and errors; print nothing if all is well")
    .option("-v, --verbose", "log everything, including each retry")
    .addOption(
      new Option("--color <WHEN>", "color text for people").choices(["auto", "always", "never"]).default("auto"),
    )
    .configureOutput({
      writeOut: (text) => context.print(text.trimEnd()),
      writeErr: (text) => context.note(text.trimEnd()),
      // The caller prints the CommanderError, like the errors of the commands.
      outputError: () => {},
    })
    .configureHelp({
      // Only one command's options are known.
      showGlobalOptions: true,
      minWidthToWrap: 10,
      subcommandTerm: (one) => one.name(),
    })
    .helpCommand("help [command]", "print the help of a command, as does COMMAND --help")
    .exitOverride()
    .addHelpText(
      "after",
      "\nStart with: simcat demo (needs no setup)\nthen with:  simcat init (asks for what a run needs)\n",
    );
  for (const [title, { document, ...commands }] of Object.entries(GROUPS)) {
    program.commandsGroup(`${title} (${document}):`);
    for (const [name, { description, load, ...more }] of Object.entries(commands)) {
      const { example } = { example: `simcat ${name}`, ...more };
      const after = `\nExample:\n  $ ${example}\n\nMore: ${document}\n`;
      const command = program.command(name).description(description).addHelpText("after", after);
      if (name === named || named === "completion") (await load())(command, run);
    }
  }
  return program;
}

type GlobalOptions = { readonly quiet?: boolean; readonly verbose?: boolean; readonly color: string };

/** The options override SIMCAT_LOG_LEVEL, NO_COLOR and FORCE_COLOR. */
function withGlobalOptions(context: Context, { quiet, verbose, color }: GlobalOptions): Context {
  const { environment, terminal } = context;
  const isColored = (isTerminal: boolean) => hasColors(color, environment, isTerminal);
  const colors = { isOutColored: isColored(terminal.isOut), isErrColored: isColored(terminal.isErr) };
  return {
    ...context,
    logLevel: quiet ? "warn" : verbose ? "debug" : undefined,
    // Inherited, because a copy would not follow the size of the window.
    terminal: Object.assign(Object.create(terminal), colors),
  };
}

/** Whether a stream gets colors. Without `--color`, Node decides: by FORCE_COLOR, or on a terminal by NO_COLOR and TERM. */
export function hasColors(when: string, { FORCE_COLOR, ...environment }: Environment, isTerminal: boolean): boolean {
  if (when !== "auto") return when === "always";
  const { getColorDepth } = WriteStream.prototype;
  return FORCE_COLOR === undefined ? isTerminal && getColorDepth(environment) > 2 : getColorDepth({ FORCE_COLOR }) > 2;
}

/** The first word that is not an option; for `help NAME` the second. */
function namedCommand(argv: readonly string[]): string | undefined {
  const words = argv.filter((word, at) => !word.startsWith("-") && argv[at - 1] !== "--color");
  return words[0] === "help" ? words[1] : words[0];
}
