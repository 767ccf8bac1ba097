import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, openSync } from "node:fs";
import { join } from "node:path";
import { canEnter, type ServerUser } from "./server-user.ts";
import type { StateDirOptions } from "./state-dir.ts";

/** How Postgres's programs are run here. */
export interface Launcher {
  /** Holds `bin`, `lib` and `share`. */
  readonly native: string;
  /** Null: as ourselves. */
  readonly user: ServerUser | null;
  readonly environment: StateDirOptions["environment"];
}

export interface Launch {
  readonly program: "initdb" | "postgres";
  /** The directory that the program works in; `args` get the path by which the program reaches it. */
  readonly directory: string;
  readonly args: (directory: string) => readonly string[];
  readonly output: "pipe" | number;
  /** Where it finds the program; `native/bin` unless said otherwise. */
  readonly bin?: string;
}

/**
 * Starts a program in a session of its own, so that a Ctrl-C on the terminal reaches us alone and we can stop it in order.
 * It inherits no stream of ours: whoever waits for the end of our output would wait for the server's.
 */
export function launch({ native, user, environment }: Launcher, what: Launch): ChildProcess {
  const door = user === null || canEnter(user, what.directory) ? null : openDoor(what.directory);
  try {
    const directory = door === null ? what.directory : "/proc/self/fd/3";
    return spawn(join(what.bin ?? join(native, "bin"), what.program), what.args(directory), {
      cwd: door === null ? what.directory : "/",
      detached: true,
      windowsHide: true,
      env: bareEnvironment(environment),
      stdio: ["ignore", what.output, what.output, ...(door === null ? [] : [door])],
      ...(user === null ? {} : { uid: user.uid, gid: user.gid }),
    });
  } finally {
    if (door !== null) closeSync(door);
  }
}

/**
 * Below a directory that is root's alone, the server's user cannot follow the path to its own data.
 * An open descriptor leads there nevertheless, and is inherited by every process of the server.
 */
function openDoor(directory: string): number | null {
  return process.platform === "linux" ? openSync(directory, "r") : null;
}

/** No PG… variable of the caller's, no locale, no zone: the same server everywhere. */
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
