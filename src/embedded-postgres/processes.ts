import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { hasErrorCode } from "../errors.ts";

/**
 * Distinguishes a process from a later one with the same id. Null if the process has exited.
 * A zombie counts as exited, because it only waits for its parent.
 */
export function processIdentity(pid: number): string | null {
  switch (process.platform) {
    case "linux": {
      const fields = fieldsAfterName(readOrEmpty(`/proc/${pid}/stat`));
      const [state, startTime] = [fields[0], fields[19]];
      return state === undefined || startTime === undefined || "ZX".includes(state) ? null : startTime;
    }
    case "win32":
      return exists(pid) ? "exists" : null;
    default: {
      const [state = "Z", ...started] = ps("stat=,lstart=", pid).split(/\s+/);
      return state.startsWith("Z") || started.length === 0 ? null : started.join("-");
    }
  }
}

/** The name of a process's program; empty if the process has exited or the name is unknown. */
export function programName(pid: number): string {
  if (process.platform === "linux") return readOrEmpty(`/proc/${pid}/comm`).trim();
  return process.platform === "win32" ? "" : ps("comm=", pid);
}

/** The name in a stat line is in parentheses, and may itself contain spaces and parentheses. */
function fieldsAfterName(stat: string): string[] {
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

function exists(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return hasErrorCode(error, "EPERM");
  }
}
