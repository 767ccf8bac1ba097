import { readFileSync, statSync } from "node:fs";
import { platform } from "node:os";
import { join } from "node:path";
import { parseEnv } from "node:util";
import { ConfigurationError, type ConfigurationProblem, hasErrorCode, toError } from "../errors.ts";
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
  const values = readDotenv(path);
  const entries = Object.entries(values).filter(
    ([name]) => processEnvironment[name] === undefined && !processEnvironment[counterpartOf(name)],
  );
  return {
    environment: { ...Object.fromEntries(entries), ...processEnvironment },
    dotenv: new Set(entries.map(([name]) => name)),
    exposedDotenv: environmentSecrets(values).length > 0 && isShared(path) ? path : undefined,
  };
}

function readDotenv(path: string): Environment {
  try {
    return parseEnv(readFileSync(path, "utf8").replace(/^\ufeff/, ""));
  } catch (cause) {
    if (hasErrorCode(cause, "ENOENT", "ENOTDIR")) return {};
    throw new ConfigurationError(`${path} cannot be read (${errnoOf(cause)})`, {
      hint: "make it readable, or move it",
      cause,
    });
  }
}

/** Whether the file's group or all other users may read it. Windows has no such modes. */
const isShared = (path: string) => platform() !== "win32" && (statSync(path).mode & 0o044) !== 0;

const errnoOf = (error: unknown) => (error as NodeJS.ErrnoException).code ?? toError(error).message;

/** `NAME_FILE` for a secret's `NAME`, and the reverse; the name itself if it is no secret's. */
function counterpartOf(name: string): string {
  const secret = SECRET_NAMES.find((known) => name === known || name === `${known}_FILE`);
  if (secret === undefined) return name;
  return name === secret ? `${secret}_FILE` : secret;
}

/** Reads the secrets whose `NAME_FILE` is set, without one trailing newline: their values and the paths of their files. */
export function readSecretFiles(environment: Environment, names: readonly string[]) {
  const values: Record<string, string> = {};
  const paths: Record<string, string> = {};
  const problems: ConfigurationProblem[] = [];
  for (const name of names) {
    const path = environment[`${name}_FILE`];
    if (!path) continue;
    if (environment[name]) {
      problems.push({ name, problem: `is set, and ${name}_FILE too`, hint: "set one of them" });
      continue;
    }
    const report = (problem: string, hint: string) =>
      problems.push({ name: `${name}_FILE`, problem: `${JSON.stringify(path)} ${problem}`, hint });
    try {
      const secret = readFileSync(path, "utf8").replace(/\r?\n$/, "");
      if (secret === "") report("is empty", "expected the secret in it");
      else [values[name], paths[name]] = [secret, path];
    } catch (error) {
      report(`cannot be read (${errnoOf(error)})`, "expected a file with the secret in it");
    }
  }
  return { values, paths, problems };
}
