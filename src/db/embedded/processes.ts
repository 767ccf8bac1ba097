import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";

/**
 * What tells a process from a later one that got the same id; null when it is gone.
 * A zombie counts as gone: it waits for its parent only.
 */
export function processIdentity(pid: number): string | null {
  switch (process.platform) {
    case "linux": {
      const fields = afterName(readOrEmpty(`/proc/${pid}/stat`));
      const [state, startTime] = [fields[0], fields[19]];
      return state === undefined || startTime === undefined || "ZX".includes(state) ? null : startTime;
    }
    case "win32":
      return isThere(pid) ? "there" : null;
    default: {
      const [state = "Z", ...started] = ps("stat=,lstart=", pid).split(/\s+/);
      return state.startsWith("Z") || started.length === 0 ? null : started.join("-");
    }
  }
}

/** The name of a process's program; empty when it is gone or cannot be known. */
export function programName(pid: number): string {
  if (process.platform === "linux") return readOrEmpty(`/proc/${pid}/comm`).trim();
  return process.platform === "win32" ? "" : ps("comm=", pid);
}

/** The name in a stat line is in brackets and may itself hold blanks and brackets. */
function afterName(stat: string): string[] {
  return stat.slice(stat.lastIndexOf(")") + 2).split(" ");
}

function readOrEmpty(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
}

function ps(columns: string, pid: number): string {
  try {
    return execFileSync("ps", ["-o", columns, "-p", String(pid)], { encoding: "utf8", stdio: "pipe" }).trim();
  } catch {
    return "";
  }
}

function isThere(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "EPERM";
  }
}
