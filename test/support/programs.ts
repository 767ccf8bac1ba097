import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";

/** Returns the path of a system program; null where it is missing, after a line that says how to install it. */
export function findProgram(name: string, debianPackage?: string): string | null {
  try {
    return execFileSync("sh", ["-c", `PATH="$PATH:/usr/sbin" command -v ${name}`], { encoding: "utf8" }).trim();
  } catch {
    return reportMissing(
      name,
      debianPackage === undefined ? ".ci/install-programs" : `apt-get install -y ${debianPackage}`,
    );
  }
}

/** Returns a file that .ci/install-programs downloads; null where it is missing, after a line that says so. */
export const findFile = (path: string): string | null =>
  existsSync(path) ? path : reportMissing(path, ".ci/install-programs");

function reportMissing(name: string, command: string): null {
  const how = `${name} is missing; ${command} gives it`;
  // CI installs the program: a test that is skipped there would be lost.
  if (process.env.CI) throw new Error(how);
  console.log(`skipped: ${how}`);
  return null;
}
