import { readFileSync, statSync } from "node:fs";
import { platform } from "node:os";
import { join } from "node:path";
import { parseEnv } from "node:util";
import { ConfigurationError, hasErrorCode, toError } from "../errors.ts";
import { environmentSecrets } from "../secrets.ts";
import { type Environment, InvalidText } from "./readers.ts";
import { type Name, SECRET_NAMES } from "./settings.ts";

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

/**
 * The text of a setting, and the path of its file if `NAME_FILE` names one for a secret; null if it is unset.
 * @throws InvalidText if both are set, or the file cannot be read or is empty
 */
export function findText({ name, isSecret }: { name: Name; isSecret: boolean }, environment: Environment) {
  const text = environment[name];
  const file = isSecret ? environment[`${name}_FILE`] : undefined;
  if (!file) return text ? { text, file: null } : null;
  if (text) throw new InvalidText(`is set, and ${name}_FILE too`, "set one of them");
  const wrong = (problem: string, hint: string) => new InvalidText(`${JSON.stringify(file)} ${problem}`, hint, "_FILE");
  let secret: string;
  try {
    secret = readFileSync(file, "utf8").replace(/\r?\n$/, "");
  } catch (error) {
    throw wrong(`cannot be read (${errnoOf(error)})`, "expected a file with the secret in it");
  }
  if (secret === "") throw wrong("is empty", "expected the secret in it");
  return { text: secret, file };
}
