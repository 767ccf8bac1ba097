import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parseEnv } from "node:util";
import { ConfigurationError, type ConfigurationProblem } from "../errors.ts";
import { SECRET_NAMES } from "./names.ts";

export type Environment = Readonly<Record<string, string | undefined>>;

/**
 * The process's environment merged with the `.env` file of `directory`, if there is one. A name that the process has, even
 * with an empty value, overrides the file's, and so does its `_FILE` counterpart. `dotenv` holds the names taken from the file.
 */
export function readEnvironment(
  processEnvironment: Environment,
  directory: string,
): { readonly environment: Environment; readonly dotenv: ReadonlySet<string> } {
  const entries = Object.entries(readDotenv(join(directory, ".env"))).filter(
    ([name]) => processEnvironment[name] === undefined && !processEnvironment[counterpartOf(name)],
  );
  return {
    environment: { ...Object.fromEntries(entries), ...processEnvironment },
    dotenv: new Set(entries.map(([name]) => name)),
  };
}

function readDotenv(path: string): Environment {
  try {
    return parseEnv(readFileSync(path, "utf8").replace(/^\ufeff/, ""));
  } catch (cause) {
    const code = cause instanceof Error && "code" in cause ? cause.code : null;
    if (code === "ENOENT" || code === "ENOTDIR") return {};
    throw new ConfigurationError(`${path} cannot be read (${code})`, { hint: "make it readable, or move it", cause });
  }
}

/** `NAME_FILE` for a secret's `NAME`, and the reverse; the name itself if it is no secret's. */
function counterpartOf(name: string): string {
  const secret = SECRET_NAMES.find((known) => name === known || name === `${known}_FILE`);
  if (secret === undefined) return name;
  return name === secret ? `${secret}_FILE` : secret;
}

interface Secrets {
  readonly values: Readonly<Record<string, string>>;
  /** The path of the file that each secret was read from, by the secret's name. */
  readonly paths: Readonly<Record<string, string>>;
  readonly problems: readonly ConfigurationProblem[];
}

/** Reads the secrets whose `NAME_FILE` is set, without one trailing newline. */
export function readSecretFiles(environment: Environment, names: readonly string[]): Secrets {
  const values: Record<string, string> = {};
  const paths: Record<string, string> = {};
  const problems: ConfigurationProblem[] = [];
  for (const name of names) {
    const path = environment[`${name}_FILE`];
    if (!path) continue;
    if (environment[name]) {
      problems.push({ name, problem: `is set, and ${name}_FILE too`, expected: null, hint: "set one of them" });
      continue;
    }
    const secret = readSecretFile(path);
    if (typeof secret === "string") [values[name], paths[name]] = [secret, path];
    else {
      const problem = `${JSON.stringify(path)} ${secret.problem}`;
      problems.push({ name: `${name}_FILE`, problem, expected: secret.expected, hint: null });
    }
  }
  return { values, paths, problems };
}

function readSecretFile(path: string): string | { readonly problem: string; readonly expected: string } {
  try {
    const secret = readFileSync(path, "utf8").replace(/\r?\n$/, "");
    return secret === "" ? { problem: "is empty", expected: "the secret in it" } : secret;
  } catch (cause) {
    const code = cause instanceof Error && "code" in cause ? cause.code : cause;
    return { problem: `cannot be read (${code})`, expected: "a file with the secret in it" };
  }
}
