import { execFileSync } from "node:child_process";
import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll } from "vitest";
import { canEnter } from "../../src/embedded-postgres/launch.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const NEEDED = ["package.json", "tsconfig.json", "dist", "migrations", "src", "test", "node_modules"];

/**
 * The project's directory as every user can read it, for tests that run it as another user. If the project is in a
 * directory that only root can read, it is a directory of links, removed when the tests of the file are over. As root only.
 */
export function openProject(): string {
  if (canEnter({ uid: 65534, gid: 65534 }, ROOT)) return ROOT;
  const open = mkdtempSync(join(tmpdir(), "simcat-open-"));
  afterAll(() => rmSync(open, { recursive: true, force: true }));
  chmodSync(open, 0o755);
  const copy = (how: string) => execFileSync("cp", [how, ...NEEDED, open], { cwd: ROOT, stdio: "pipe" });
  try {
    copy("-al");
  } catch {
    // Other file systems do not support links.
    copy("-af");
  }
  return open;
}
