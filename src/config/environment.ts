import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parseEnv } from "node:util";
import { ConfigurationError } from "../errors.ts";
import { SECRET_NAMES } from "./names.ts";

export type Environment = Readonly<Record<string, string | undefined>>;

/**
 * The process's environment over the `.env` file of `directory`, which may be missing. A name that the process has,
 * even empty, hides the file's, and so does its `_FILE` twin. `dotenv` holds the names that the file gave.
 */
export function readEnvironment(
  processEnvironment: Environment,
  directory: string,
): { readonly environment: Environment; readonly dotenv: ReadonlySet<string> } {
  const entries = Object.entries(readDotenv(join(directory, ".env"))).filter(
    ([name]) => processEnvironment[name] === undefined && !processEnvironment[twinOf(name)],
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
    throw new ConfigurationError(`${path} cannot be read (${code}); make it readable, or move it away`, { cause });
  }
}

/** `NAME_FILE` for a secret's `NAME`, and the other way round. */
function twinOf(name: string): string {
  const secret = SECRET_NAMES.find((known) => name === known || name === `${known}_FILE`);
  if (secret === undefined) return name;
  return name === secret ? `${secret}_FILE` : secret;
}
