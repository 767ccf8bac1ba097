import { lstatSync, readFileSync, statSync } from "node:fs";
import { platform } from "node:os";
import { isAbsolute, join, resolve } from "node:path";
import { parseEnv } from "node:util";
import { ConfigurationError, hasErrorCode, toError } from "../errors.ts";
import { environmentSecrets } from "../secrets.ts";
import type { Environment } from "./readers.ts";
import type { Name } from "./settings.ts";

/**
 * The process's environment merged with the `.env` file of `directory`, if there is one. A name that the process has, even
 * with an empty value, overrides the file's, and so does its `_FILE` counterpart. `dotenv` holds the names taken from the file.
 * `exposedDotenv` is the file's path if it contains a secret and other users may read it.
 */
export function readEnvironment(processEnvironment: Environment, directory: string) {
  const path = join(directory, ".env");
  const values = readDotenv(path);
  const entries = Object.entries(values).filter(
    ([name]) => processEnvironment[name] === undefined && !processEnvironment[counterpartOf(name)],
  );
  return {
    environment: { ...Object.fromEntries(entries), ...processEnvironment },
    dotenv: new Set(entries.map(([name]) => name)),
    exposedDotenv: environmentSecrets(values).length > 0 && isShared(path) ? resolve(path) : undefined,
  };
}

function readDotenv(path: string): Environment {
  try {
    return parseEnv(new TextDecoder("utf-8", { fatal: true }).decode(readFileSync(path)));
  } catch (cause) {
    // A link whose target is missing exists.
    if (hasErrorCode(cause, "ENOENT") && !lstatSync(path, { throwIfNoEntry: false })) return {};
    throw new ConfigurationError(`${resolve(path)} cannot be read (${errnoOf(cause)})`, {
      hint: "make it readable text in UTF-8, or move it",
      cause,
    });
  }
}

/** Whether the file's group or all other users may read it. Windows has no such modes. */
const isShared = (path: string) => platform() !== "win32" && (statSync(path).mode & 0o044) !== 0;

const errnoOf = (error: unknown) => (error as NodeJS.ErrnoException).code ?? toError(error).message;

/** `NAME_FILE` for `NAME`, and the reverse. */
const counterpartOf = (name: string) => (name.endsWith("_FILE") ? name.slice(0, -"_FILE".length) : `${name}_FILE`);

/** The texts of all settings and the paths of secret files. Adds a problem for a secret that is set twice, or whose file has none. */
export function readSecretFiles(
  environment: Environment,
  names: readonly Name[],
  addProblem: (name: string, problem: string, hint: string) => void,
) {
  const texts: Record<string, string | undefined> = { ...environment };
  const files: Partial<Record<Name, string>> = {};
  for (const name of names) {
    const file = environment[`${name}_FILE`];
    if (!file) continue;
    if (texts[name]) addProblem(name, `is set, and ${name}_FILE too`, "set one of them");
    const path = JSON.stringify(file);
    try {
      texts[name] ||= readFileSync(file, "utf8").replace(/\r?\n$/, "");
      files[name] = file;
      if (texts[name] === "") addProblem(`${name}_FILE`, `${path} is empty`, "expected the secret in it");
    } catch (error) {
      // It may be the secret itself, if it is no absolute path.
      const shown = isAbsolute(file) ? `${path} ` : "";
      addProblem(`${name}_FILE`, `${shown}cannot be read (${errnoOf(error)})`, "expected a file with the secret in it");
    }
  }
  return { texts, files };
}
