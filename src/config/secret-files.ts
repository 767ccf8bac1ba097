import { readFileSync } from "node:fs";
import type { Environment } from "./environment.ts";
import type { Problem } from "./problems.ts";

export interface Secrets {
  readonly values: Readonly<Record<string, string>>;
  /** Path of the file that each came from, by its name. */
  readonly paths: Readonly<Record<string, string>>;
  readonly problems: readonly Problem[];
}

/** Reads the secrets whose `NAME_FILE` is set (one newline at the end is not part of them). */
export function readSecretFiles(environment: Environment, names: readonly string[]): Secrets {
  const values: Record<string, string> = {};
  const paths: Record<string, string> = {};
  const problems: Problem[] = [];
  for (const name of names) {
    const path = environment[`${name}_FILE`];
    if (!path) continue;
    if (environment[name]) {
      problems.push({ name, text: `is set, and ${name}_FILE too; set one of them` });
      continue;
    }
    const read = readSecretFile(path);
    if ("secret" in read) [values[name], paths[name]] = [read.secret, path];
    else problems.push({ name: `${name}_FILE`, text: `${JSON.stringify(path)} ${read.problem}` });
  }
  return { values, paths, problems };
}

function readSecretFile(path: string): { readonly secret: string } | { readonly problem: string } {
  try {
    const secret = readFileSync(path, "utf8").replace(/\r?\n$/, "");
    return secret === "" ? { problem: "is empty; expected the secret in it" } : { secret };
  } catch (cause) {
    const code = cause instanceof Error && "code" in cause ? cause.code : cause;
    return { problem: `cannot be read (${code}); expected a file with the secret in it` };
  }
}
