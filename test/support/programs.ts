import { execFileSync } from "node:child_process";

/** Where a program of the system is found; null where it is missing, after one line that says how to get it. */
export function findProgram(name: string, debianPackage: string): string | null {
  try {
    return execFileSync("sh", ["-c", `PATH="$PATH:/usr/sbin" command -v ${name}`], { encoding: "utf8" }).trim();
  } catch {
    const how = `${name} is missing; apt-get install -y ${debianPackage} gives it`;
    // CI has installed it: a test that is skipped there would be a test that is gone.
    if (process.env.CI) throw new Error(how);
    console.log(`skipped: ${how}`);
    return null;
  }
}
