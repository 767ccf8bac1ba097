import { execFileSync } from "node:child_process";

/** Returns the path of a system program; null where it is missing, after a line that says how to install it. */
export function findProgram(name: string, debianPackage: string): string | null {
  try {
    return execFileSync("sh", ["-c", `PATH="$PATH:/usr/sbin" command -v ${name}`], { encoding: "utf8" }).trim();
  } catch {
    const how = `${name} is missing; apt-get install -y ${debianPackage} gives it`;
    // CI installs the program: a test that is skipped there would be lost.
    if (process.env.CI) throw new Error(how);
    console.log(`skipped: ${how}`);
    return null;
  }
}
