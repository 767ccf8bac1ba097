import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { closeSync, openSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import type { StateDirOptions } from "./state-dir.ts";

/** The account that the server runs as, if it is not the current one. */
export interface ServerUser {
  readonly uid: number;
  readonly gid: number;
}

/** How the programs of Postgres are started. */
export interface Launcher {
  /** The directory with `bin`, `lib` and `share`. */
  readonly native: string;
  /** Null: the current user. */
  readonly user: ServerUser | null;
  readonly environment: StateDirOptions["environment"];
}

interface Launch {
  readonly program: "initdb" | "postgres";
  /** The working directory. `args` receives the path by which the program reaches it. */
  readonly directory: string;
  readonly args: (directory: string) => readonly string[];
  readonly output: "pipe" | number;
}

/**
 * Starts a program in its own session, so that Ctrl-C on the terminal reaches only simcat, which stops the server in order.
 * The program inherits no stream, because a reader of simcat's output would otherwise wait for the server to end.
 */
export function launch({ native, user, environment }: Launcher, what: Launch): ChildProcess {
  const descriptor = user === null || canEnter(user, what.directory) ? null : openDirectory(what.directory);
  try {
    const directory = descriptor === null ? what.directory : "/proc/self/fd/3";
    return spawn(join(native, "bin", what.program), what.args(directory), {
      cwd: descriptor === null ? what.directory : "/",
      detached: true,
      windowsHide: true,
      env: bareEnvironment(environment),
      stdio: ["ignore", what.output, what.output, ...(descriptor === null ? [] : [descriptor])],
      ...(user === null ? {} : { uid: user.uid, gid: user.gid }),
    });
  } finally {
    if (descriptor !== null) closeSync(descriptor);
  }
}

/**
 * Opens the data's directory for a user who cannot follow the path to it, because a parent belongs to root only.
 * Every process of the server inherits the descriptor and reaches the directory through it.
 */
function openDirectory(directory: string): number | null {
  return process.platform === "linux" ? openSync(directory, "r") : null;
}

/** Passes no PG… variable, locale or time zone of the caller, so that the server is the same everywhere. */
function bareEnvironment(environment: StateDirOptions["environment"]): Record<string, string> {
  const { PATH: path, SYSTEMROOT: windows, LD_LIBRARY_PATH: libraries } = environment;
  return {
    LC_ALL: "C",
    TZ: "UTC",
    PGUSER: "simcat",
    ...(path === undefined ? {} : { PATH: path }),
    ...(libraries === undefined ? {} : { LD_LIBRARY_PATH: libraries }),
    ...(windows === undefined ? {} : { SYSTEMROOT: windows }),
  };
}

/** The last lines of a program's output, indented for an error message. */
export function lastLines(output: string, count = 12): string {
  return (output.trim() || "(none)")
    .split("\n")
    .slice(-count)
    .map((line) => `  ${line}`)
    .join("\n");
}

/** Postgres refuses to run as root: root's server runs as `postgres`, otherwise as `nobody`. Null: the current user. */
export function chooseServerUser(dataDirectory: string): ServerUser | null {
  if (process.getuid?.() !== 0) return null;
  return ownerOf(dataDirectory) ?? accountOf("postgres") ?? accountOf("nobody") ?? { uid: 65534, gid: 65534 };
}

/** Returns whether the user can enter a directory. The system decides, because ACLs and parents matter too. */
export function canEnter(user: ServerUser, directory: string): boolean {
  const asUser = { uid: user.uid, gid: user.gid, cwd: "/", stdio: "ignore" } as const;
  return spawnSync("/bin/sh", ["-c", 'cd "$1"', "sh", directory], asUser).status === 0;
}

/** The owner of an existing data directory wins: the account `postgres` may have been created after it. */
function ownerOf(directory: string): ServerUser | null {
  const owner = statSync(directory, { throwIfNoEntry: false });
  return owner === undefined || owner.uid === 0 ? null : { uid: owner.uid, gid: owner.gid };
}

function accountOf(name: string): ServerUser | null {
  const [, , uid, gid] = accounts().find((fields) => fields[0] === name) ?? [];
  // macOS stores its nobody as -2.
  return uid === undefined || gid === undefined ? null : { uid: Number(uid) >>> 0, gid: Number(gid) >>> 0 };
}

function accounts(): string[][] {
  try {
    return readFileSync("/etc/passwd", "utf8")
      .split("\n")
      .map((line) => line.split(":"));
  } catch {
    return [];
  }
}
