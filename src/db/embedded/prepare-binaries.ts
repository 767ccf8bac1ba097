import { execFile } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { cp, mkdir, mkdtemp, rename, rm, symlink } from "node:fs/promises";
import { basename, dirname, join, relative } from "node:path";
import { promisify } from "node:util";
import type { Binaries } from "./binaries.ts";
import { hasCode } from "./has-code.ts";
import { canEnter, type ServerUser } from "./server-user.ts";

/**
 * Where the server's programs can be run from: as installed, or from a copy where the server's user cannot get there
 * (root's home, say) or where a library link is missing and cannot be made. Resolves to a directory like `native`.
 */
export async function prepareBinaries(found: Binaries, user: ServerUser | null, stateDir: string): Promise<string> {
  const reachable = user === null || canEnter(user, join(found.native, "bin"));
  if (reachable && (await linkLibraries(found.native))) return found.native;

  const place = user === null || canEnter(user, stateDir) ? stateDir : "/var/lib/simcat";
  const copy = join(place, `binaries-${found.version}`);
  if (!existsSync(copy)) await copyBinaries(found.native, copy);
  return copy;
}

/**
 * npm leaves links out of its packages, and their install script, which would make them, may be forbidden.
 * Answers false where a link is missing and the place is read-only.
 */
async function linkLibraries(native: string): Promise<boolean> {
  for (const { source, target } of listLinks(native)) {
    const link = join(dirname(native), target);
    if (existsSync(link)) continue;
    try {
      await symlink(relative(dirname(link), join(dirname(native), source)), link);
    } catch (error) {
      if (hasCode(error, "EACCES", "EPERM", "EROFS")) return false;
      if (!hasCode(error, "EEXIST")) throw error; // Another process is at it.
    }
  }
  return true;
}

function listLinks(native: string): { source: string; target: string }[] {
  const list = join(native, "pg-symlinks.json");
  return existsSync(list) ? JSON.parse(readFileSync(list, "utf8")) : [];
}

/** Copied under another name and renamed, so that a copy is whole or not there. */
async function copyBinaries(native: string, copy: string): Promise<void> {
  await mkdir(dirname(copy), { recursive: true, mode: 0o711 });
  const draft = await mkdtemp(`${copy}-`);
  try {
    const inside = join(draft, basename(native));
    await cp(native, inside, { recursive: true, verbatimSymlinks: true, filter: (file) => !file.endsWith(".a") });
    await linkLibraries(inside);
    // Installed by a root with a closed umask, it would be as closed to the server's user as before.
    if (process.getuid?.() === 0) await promisify(execFile)("chmod", ["-R", "a+rX", inside]);
    await rename(inside, copy);
  } catch (error) {
    if (!hasCode(error, "ENOTEMPTY", "EEXIST")) throw error; // Another process was quicker.
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
}
