import { readFileSync, statSync } from "node:fs";
import { platform } from "node:os";
import { join } from "node:path";
import { parseEnv } from "node:util";
import { ConfigurationError, type ConfigurationProblem } from "../errors.ts";
import { environmentSecrets } from "../secrets.ts";
import type { Environment } from "./readers.ts";
import { SECRET_NAMES } from "./settings.ts";

/**
 * The process's environment merged with the `.env` file of `directory`, if there is one. A name that the process has, even
 * with an empty value, overrides the file's, and so does its `_FILE` counterpart. `dotenv` holds the names taken from the file.
 * `exposedDotenv` is the file's path if it contains a secret and other users may read it.
 */
export function readEnvironment(
  processEnvironment: Environment,
  directory: string,
): {
  readonly environment: Environment;
  readonly dotenv: ReadonlySet<string>;
  readonly exposedDotenv: string | undefined;
} {
  const path = join(directory, ".env");
  const { values, isShared } = readDotenv(path);
  const entries = Object.entries(values).filter(
    ([name]) => processEnvironment[name] === undefined && !processEnvironment[counterpartOf(name)],
  );
  return {
    environment: { ...Object.fromEntries(entries), ...processEnvironment },
    dotenv: new Set(entries.map(([name]) => name)),
    exposedDotenv: isShared && environmentSecrets(values).length > 0 ? path : undefined,
  };
}

/** The bits of a file's mode that let its group and all other users read it. Windows has none. */
const SHARED = platform() === "win32" ? 0 : 0o044;

function readDotenv(path: string): { readonly values: Environment; readonly isShared: boolean } {
  try {
    const values = parseEnv(readFileSync(path, "utf8").replace(/^\ufeff/, ""));
    return { values, isShared: (statSync(path).mode & SHARED) !== 0 };
  } catch (cause) {
    const code = cause instanceof Error && "code" in cause ? cause.code : null;
    if (code === "ENOENT" || code === "ENOTDIR") return { values: {}, isShared: false };
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
