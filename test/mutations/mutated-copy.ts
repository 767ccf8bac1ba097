import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** One line of the program and a wrong version of it. */
export interface Mutation {
  readonly name: string;
  readonly file: string;
  /** Occurs once in the file. */
  readonly line: string;
  readonly instead: string;
  /** The test files of which one must fail; empty if a seed of the simulation must. */
  readonly tests: readonly string[];
}

export const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const COPIED = [
  "src",
  "test",
  "migrations",
  "docs",
  "schemas",
  "deploy",
  "bundle.mjs",
  "notices.mjs",
  "package.json",
  "tsconfig.json",
  "tsconfig.build.json",
  "vitest.config.ts",
];

/** How often the line occurs in its file; 1 unless the program has changed. */
export function countLine({ file, line }: Mutation): number {
  return existsSync(join(ROOT, file)) ? readFileSync(join(ROOT, file), "utf8").split(line).length - 1 : 0;
}

/** Calls `play` with the directory of a copy of the project that has the mutation, and removes the copy. */
export function withMutatedCopy<T>({ file, line, instead }: Mutation, play: (directory: string) => T): T {
  const directory = mkdtempSync(join(tmpdir(), "simcat-mutated-"));
  try {
    for (const name of COPIED) cpSync(join(ROOT, name), join(directory, name), { recursive: true });
    symlinkSync(join(ROOT, "node_modules"), join(directory, "node_modules"));
    const path = join(directory, file);
    // A function, because the text may contain `$`.
    writeFileSync(
      path,
      readFileSync(path, "utf8").replace(line, () => instead),
    );
    return play(directory);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

/** Prints a line per mutation and exits with 1 if one survived. `--only TEXT`: those whose name starts with the text. */
export function playAll(
  mutations: readonly Mutation[],
  only: string,
  play: (mutation: Mutation) => { readonly noticed: boolean; readonly detail: string },
): never {
  let survivors = 0;
  for (const mutation of mutations.filter(({ name }) => name.startsWith(only))) {
    const times = countLine(mutation);
    const { noticed, detail } =
      times === 1 ? play(mutation) : { noticed: false, detail: `its line occurs ${times} times in ${mutation.file}` };
    if (!noticed) survivors += 1;
    process.stdout.write(`${noticed ? "noticed " : "SURVIVED"} ${mutation.name} (${detail})\n`);
  }
  process.exit(survivors > 0 ? 1 : 0);
}
