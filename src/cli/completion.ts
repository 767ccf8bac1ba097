import { Argument, type Command, type Option } from "commander";
import type { DefineCommand } from "./command.ts";

/** The program must have the options of all its commands. */
export const defineCompletion: DefineCommand = (command, run) =>
  command.addArgument(new Argument("<SHELL>", "the shell").choices(Object.keys(SCRIPTS))).action(
    run(async ({ print }, _options, shell: string) => {
      if (command.parent !== null) print(SCRIPTS[shell as keyof typeof SCRIPTS](formatOffers(command.parent)));
    }),
  );

const SCRIPTS = { bash: formatBash, zsh: formatZsh, fish: formatFish };

/** Each shell has its own way to complete files. */
const FILE_OPTIONS = ["--out", "--file"];

/** A function of `sh` that gets the word to complete and those before it, and prints words and, after tabs, descriptions. */
function formatOffers(program: Command): string {
  const { commands } = program;
  const options = commands.flatMap(optionsOf).filter(({ required }) => required);
  const choices = new Map(options.flatMap(({ long, argChoices }) => (argChoices ? [[long, argChoices]] : [])));
  const names = commands.map((command) => withDescription(command.name(), command.description()));
  return [
    "_simcat_offer() (",
    "  word=$1 before= command=; shift",
    '  for before; do [ "$command" ] || case "$before" in -*) ;; *) command="$before" ;; esac; done',
    '  case "$before" in',
    '    --owner|--library) simcat completion "$before" "$word" 2>/dev/null </dev/null ;;',
    ...[...choices].map(([long, words]) => `    ${long}) ${printWords(words)} ;;`),
    `    ${[...new Set(options.map(({ long }) => long))].join("|")}) ;;`,
    '    *) case "$command" in',
    ...commands.map((command) => `      ${command.name()}) ${printArguments(command)} ;;`),
    `      *) ${printWords([...names, ...describeOptions(program)])} ;;`,
    "    esac ;;",
    "  esac",
    ")",
  ].join("\n");
}

function printArguments(command: Command): string {
  const choices = command.registeredArguments.flatMap(({ argChoices = [] }) => argChoices);
  const hasKey = command.registeredArguments.some((argument) => argument.name() === "OWNER/NAME");
  return `${printWords([...choices, ...describeOptions(command)])}${hasKey ? '; _simcat_offer "$word" --library' : ""}`;
}

const printWords = (words: readonly string[]) => `printf '%s\\n' ${words.map((word) => `'${word}'`).join(" ")}`;

const withDescription = (word: string, description: string) => `${word}\t${description.replaceAll("'", "'\\''")}`;

const describeOptions = (command: Command) =>
  optionsOf(command).map(({ long, description }) => withDescription(long ?? "", description));

/** The options of a command, as its help lists them. */
function optionsOf(command: Command): Option[] {
  const help = command.createHelp();
  return [...help.visibleOptions(command), ...help.visibleGlobalOptions(command)];
}

function formatBash(offers: string): string {
  return `# In ~/.bashrc: eval "$(simcat completion bash)"
${offers}
_simcat() {
  local word="\${COMP_WORDS[COMP_CWORD]}" name
  COMPREPLY=()
  case "\${COMP_WORDS[COMP_CWORD-1]}" in ${FILE_OPTIONS.join("|")}) COMPREPLY=($(compgen -f -- "$word")); return ;; esac
  while IFS= read -r name; do
    case "$word" in
      # bash closes the quotation mark. What it would still expand there is not offered.
      [\\"\\']*) [[ "$name" == "\${word:1}"* && "$name" != *[\\"\\'\\\\\\$\\\`!]* ]] && COMPREPLY+=("$name") ;;
      *) [[ -n "$name" && "$name" == "\${word//\\\\/}"* ]] && printf -v name %q "$name" && COMPREPLY+=("$name") ;;
    esac
  done < <(_simcat_offer "$word" "\${COMP_WORDS[@]:1:COMP_CWORD-1}" | cut -f 1)
}
complete -F _simcat simcat`;
}

function formatZsh(offers: string): string {
  return `#compdef simcat
# In ~/.zshrc, after compinit: eval "$(simcat completion zsh)"
${offers}
_simcat() {
  case "\${words[CURRENT-1]}" in ${FILE_OPTIONS.join("|")}) _files; return ;; esac
  compadd -- \${(f)"$(_simcat_offer "\${words[CURRENT]}" "\${(@)words[2,CURRENT-1]}" | cut -f 1)"}
}
compdef _simcat simcat`;
}

function formatFish(offers: string): string {
  const script = `${offers}\n_simcat_offer "$@"`.replace(/[\\']/g, "\\$&");
  return `# In ~/.config/fish/config.fish: simcat completion fish | source
function _simcat
  sh -c '${script}' sh (commandline -ct | string collect -a) (commandline -opc)[2..]
end
complete -c simcat -f -a '(_simcat)'
complete -c simcat -n 'contains -- (commandline -opc)[-1] ${FILE_OPTIONS.join(" ")}' -F`;
}
