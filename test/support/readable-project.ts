import { execFileSync } from "node:child_process";
import { chmodSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { afterAll } from "vitest";
import { canEnter } from "../../src/embedded-postgres/programs.ts";
import { temporaryDirectory } from "./temporary-directory.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const NEEDED = ["package.json", "tsconfig.json", "dist", "migrations", "deploy", "src", "test", "node_modules"];

/**
 * A copy of the project that every user can read, for tests that run it as another user. It is the project itself, unless
 * only root can enter its directory: then it is a directory of hard links, removed after the tests of the file. Needs root.
 */
export function readableProject(): string {
  if (canEnter({ uid: 65534, gid: 65534 }, ROOT)) return ROOT;
  const directory = temporaryDirectory(afterAll);
  chmodSync(directory, 0o755);
  const copy = (how: string) => execFileSync("cp", [how, ...NEEDED, directory], { cwd: ROOT, stdio: "pipe" });
  try {
    copy("-al");
  } catch {
    // Other file systems do not support links.
    copy("-af");
  }
  return directory;
}
