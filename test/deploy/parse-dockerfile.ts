export interface Instruction {
  readonly name: string;
  /** `--from=build` as `{ from: "build" }`. */
  readonly flags: Readonly<Record<string, string>>;
  readonly text: string;
}

export interface Stage {
  readonly image: string;
  readonly name: string | null;
  readonly instructions: readonly Instruction[];
}

/** The stages of a Dockerfile; comments and line continuations are gone. Heredocs are not understood. */
export function parseDockerfile(source: string): Stage[] {
  const lines = source
    .replace(/^\s*#.*\n/gm, "")
    .replace(/\\\n/g, " ")
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "");
  const stages: { image: string; name: string | null; instructions: Instruction[] }[] = [];
  for (const instruction of lines.map(parseInstruction)) {
    if (instruction.name === "FROM") {
      const [image = "", , name = null] = instruction.text.split(/\s+/);
      stages.push({ image, name, instructions: [] });
    } else stages.at(-1)?.instructions.push(instruction);
  }
  return stages;
}

function parseInstruction(line: string): Instruction {
  const [, name = "", rest = ""] = /^(\S+)\s*(.*)$/.exec(line) ?? [];
  const [given = ""] = /^(?:--\S+\s+)*/.exec(rest) ?? [];
  const flags = [...given.matchAll(/--([\w-]+)=(\S+)/g)].map(([, flag = "", value = ""]) => [flag, value]);
  return { name: name.toUpperCase(), flags: Object.fromEntries(flags), text: rest.slice(given.length).trim() };
}
