import { Argument, type Command, type Option } from "commander";
import { EXIT } from "../errors.ts";
import type { DefineCommand } from "./command.ts";
import type { Context } from "./context.ts";

/** The program must have the options of all its commands. */
export const defineCompletion: DefineCommand = (command, run) =>
  command
    .addArgument(new Argument("<SHELL>", "the shell").choices(Object.keys(SCRIPTS)))
    .action(run((context, _options, shell: string) => printCompletion(context, command, shell)));

async function printCompletion({ print }: Context, { parent }: Command, shell: string): Promise<number> {
  const commands = (parent?.commands ?? []).map((command) => ({
    name: command.name(),
    description: command.description(),
    options: [...command.options, ...(parent?.options ?? []).filter(({ long }) => long !== "--version")],
    hasKey: command.registeredArguments.some((argument) => argument.name() === "OWNER/NAME"),
    choices: command.registeredArguments.flatMap(({ argChoices = [] }) => argChoices),
  }));
  print(SCRIPTS[shell as keyof typeof SCRIPTS](commands));
  return EXIT.ok;
}

interface CompletedCommand {
  readonly name: string;
  readonly description: string;
  readonly options: readonly Option[];
  /** Whether its argument is a library. */
  readonly hasKey: boolean;
  readonly choices: readonly string[];
}

const SCRIPTS = { bash: formatBash, zsh: formatZsh, fish: formatFish };

/** Characters of names that are not offered: those that a terminal obeys, that a selector escapes, or that CSV doubles. */
const UNOFFERED = "[[:cntrl:]\\u0080-\\u009f\\u200e\\u200f\\u2028-\\u202e\\u2066-\\u2069\\u0022%/]";

/** A shell command that prints names, one in a line, unquoted. */
const select = (sql: string) =>
  `simcat query --csv --quiet --timeout 2s "SELECT DISTINCT ${sql} FROM library_freshness WHERE NOT owner || library_name ~ '${UNOFFERED}' ORDER BY 1 LIMIT 1000" 2>/dev/null </dev/null | tr -d '\\r' | sed '1d; s/^"\\(.*\\)"$/\\1/'`;

const OWNER_WORDS = select("owner");
const LIBRARY_WORDS = select("owner || '/' || library_name");

/** The options after which a value of this kind follows. */
const OWNER_OPTION = "--owner";
const KEY_OPTION = "--library";
const FILE_OPTIONS = ["--out", "--file"];

const wordsOf = ({ options, choices }: CompletedCommand) => [...choices, ...options.flatMap(({ long }) => long ?? [])];

/** The arms of a `case` over the option before the word, and over the command. */
const formatArms = (commands: readonly CompletedCommand[], keys: string) =>
  commands.map((command) => {
    const more = command.hasKey ? ` names="${keys}"` : "";
    return `    ${command.name}) found="${wordsOf(command).join(" ")}"${more} ;;`;
  });

const choicesOf = (commands: readonly CompletedCommand[]) => {
  const withChoices = commands.flatMap(({ options }) => options.filter(({ argChoices }) => argChoices !== undefined));
  return new Map(withChoices.map(({ long, argChoices = [] }) => [long, argChoices]));
};

const formatCase = (commands: readonly CompletedCommand[]) => [
  '  case "$before" in',
  `    ${OWNER_OPTION}) names="$(_simcat_owners)" ;;`,
  `    ${KEY_OPTION}) names="$(_simcat_libraries)" ;;`,
  ...[...choicesOf(commands)].map(([long, choices]) => `    ${long}) found="${choices.join(" ")}" ;;`),
  '    *) case "$command" in',
  ...formatArms(commands, "$(_simcat_libraries)").map((line) => `  ${line}`),
  `      *) found="${commands.map(({ name }) => name).join(" ")} --help --version" ;;`,
  "    esac ;;",
  "  esac",
];

const FUNCTIONS = [`_simcat_owners() { ${OWNER_WORDS}; }`, `_simcat_libraries() { ${LIBRARY_WORDS}; }`];

function formatBash(commands: readonly CompletedCommand[]): string {
  return [
    '# In ~/.bashrc: eval "$(simcat completion bash)"',
    ...FUNCTIONS,
    "_simcat() {",
    `  local word="\${COMP_WORDS[COMP_CWORD]}" before="\${COMP_WORDS[COMP_CWORD-1]}" command= found= names= name at`,
    "  for ((at = COMP_CWORD - 1; at > 0; at--)); do",
    `    [[ "\${COMP_WORDS[at]}" == -* ]] || command="\${COMP_WORDS[at]}"`,
    "  done",
    `  case "$before" in ${FILE_OPTIONS.join("|")}) COMPREPLY=($(compgen -f -- "$word")); return ;; esac`,
    ...formatCase(commands),
    '  COMPREPLY=($(compgen -W "$found" -- "$word"))',
    "  while IFS= read -r name; do",
    `    [[ -n "$name" && "$name" == "\${word//\\\\/}"* ]] && printf -v name %q "$name" && COMPREPLY+=("$name")`,
    '  done <<< "$names"',
    "}",
    "complete -F _simcat simcat",
  ].join("\n");
}

function formatZsh(commands: readonly CompletedCommand[]): string {
  return [
    "#compdef simcat",
    '# In ~/.zshrc, after compinit: eval "$(simcat completion zsh)"',
    ...FUNCTIONS,
    "_simcat() {",
    `  local -a given=("\${(@)words[2,CURRENT-1]:#-*}")`,
    `  local before="\${words[CURRENT-1]}" command="\${given[1]}"`,
    `  case "$before" in ${FILE_OPTIONS.join("|")}) _files; return ;; esac`,
    "  local found names",
    ...formatCase(commands),
    `  compadd -- \${=found} \${(f)names}`,
    "}",
    "compdef _simcat simcat",
  ].join("\n");
}

function formatFish(commands: readonly CompletedCommand[]): string {
  const quote = (text: string) => `'${text.replace(/[\\']/g, "\\$&")}'`;
  const completionOf = ({ long, argChoices, required }: Option) => {
    if (long === OWNER_OPTION) return ` -x -a '(_simcat_owners)'`;
    if (long === KEY_OPTION) return ` -x -a '(_simcat_libraries)'`;
    if (argChoices !== undefined) return ` -x -a ${quote(argChoices.join(" "))}`;
    return required ? ` -r${FILE_OPTIONS.includes(long ?? "") ? " -F" : ""}` : "";
  };
  const lines = commands.flatMap(({ name, description, options, hasKey, choices }) => {
    const seen = `complete -c simcat -n '__fish_seen_subcommand_from ${name}'`;
    return [
      `complete -c simcat -n __fish_use_subcommand -a ${name} -d ${quote(description)}`,
      ...options.map(
        (option) => `${seen} -l ${option.long?.slice(2)} -d ${quote(option.description)}${completionOf(option)}`,
      ),
      ...(hasKey ? [`${seen} -a '(_simcat_libraries)'`] : []),
      ...(choices.length > 0 ? [`${seen} -a ${quote(choices.join(" "))}`] : []),
    ];
  });
  return [
    "# In ~/.config/fish/config.fish: simcat completion fish | source",
    `function _simcat_owners; ${OWNER_WORDS}; end`,
    `function _simcat_libraries; ${LIBRARY_WORDS}; end`,
    "complete -c simcat -f",
    ...lines,
  ].join("\n");
}
