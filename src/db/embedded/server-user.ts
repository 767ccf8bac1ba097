import { spawnSync } from "node:child_process";
import { readFileSync, statSync } from "node:fs";

/** Whom the server runs as, when that is not who we are. */
export interface ServerUser {
  readonly name: string;
  readonly uid: number;
  readonly gid: number;
}

/** Postgres refuses root, so that root's server runs as `postgres`, else `nobody`. Null: as ourselves. */
export function chooseServerUser(dataDirectory: string): ServerUser | null {
  if (process.getuid?.() !== 0) return null;
  return ownerOf(dataDirectory) ?? accountOf("postgres") ?? accountOf("nobody") ?? unnamed(65534, 65534);
}

/** Whether the user can pass into a directory: asked of the system, for the sake of ACLs and closed parents. */
export function canEnter(user: ServerUser, directory: string): boolean {
  const asUser = { uid: user.uid, gid: user.gid, cwd: "/", stdio: "ignore" } as const;
  return spawnSync("/bin/sh", ["-c", 'cd "$1"', "sh", directory], asUser).status === 0;
}

/** An account `postgres` may have come after the data directory was made for `nobody`. */
function ownerOf(directory: string): ServerUser | null {
  const owner = statSync(directory, { throwIfNoEntry: false });
  return owner === undefined || owner.uid === 0 ? null : unnamed(owner.uid, owner.gid);
}

function accountOf(name: string): ServerUser | null {
  const [, , uid, gid] = accounts().find((fields) => fields[0] === name) ?? [];
  // macOS writes its nobody as -2.
  return uid === undefined || gid === undefined ? null : { name, uid: Number(uid) >>> 0, gid: Number(gid) >>> 0 };
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

function unnamed(uid: number, gid: number): ServerUser {
  return { name: `user ${uid}`, uid, gid };
}
