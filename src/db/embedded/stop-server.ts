import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { DatabaseError } from "../../errors.ts";
import { poll } from "./poll.ts";
import { processIdentity } from "./processes.ts";

/** Ends all sessions and shuts down; a server that takes too long is cut off, and recovers at its next start. */
export async function stopServer(pid: number, data: string, native: string): Promise<void> {
  const never = new AbortController().signal; // Leaving a server half stopped helps nobody.
  const gone = () => (processIdentity(pid) === null ? true : null);
  for (const [way, limit] of [
    ["fast", 30_000],
    ["immediate", 10_000],
  ] as const) {
    await askToStop(pid, way, data, native);
    if (await poll(gone, limit, never)) return;
  }
  throw new DatabaseError(`the embedded Postgres (process ${pid}, ${data}) does not stop: end that process yourself`);
}

async function askToStop(pid: number, way: "fast" | "immediate", data: string, native: string): Promise<void> {
  if (process.platform === "win32") {
    await promisify(execFile)(join(native, "bin", "pg_ctl"), ["stop", "-D", data, "-m", way, "-W"]);
    return;
  }
  try {
    process.kill(pid, way === "fast" ? "SIGINT" : "SIGQUIT");
  } catch {
    // Gone by itself.
  }
}
