import { spawn } from "node:child_process";
import { once } from "node:events";
import { tmpdir } from "node:os";
import { fileURLToPath } from "node:url";
import type { Database } from "./database.ts";
import { API_KEY } from "./service-order.ts";

export const MAIN = fileURLToPath(new URL("../../dist/main.js", import.meta.url));

/**
 * Loaded into the process before simcat. Writes the peak memory at exit, in KiB, to file descriptor 3. Linux counts in
 * `maxRSS` what the parent held at the fork, so there the peak is read from where it is the process's own.
 */
const TELL_PEAK = `data:text/javascript,${encodeURIComponent(`
import { readFileSync, writeSync } from "node:fs";
const readPeak = () => {
  try {
    return /VmHWM:\\s+(\\d+)/.exec(readFileSync("/proc/self/status", "utf8"))[1];
  } catch {
    return process.resourceUsage().maxRSS;
  }
};
process.on("exit", () => writeSync(3, String(readPeak())));
`)}`;

/** Runs the built command line as a process of its own. Throws unless it ends well. */
export async function runCli(
  args: readonly string[],
  url: string,
  database: Database,
): Promise<{ peakMB: number; seconds: number }> {
  const began = performance.now();
  const child = spawn(process.execPath, ["--import", TELL_PEAK, MAIN, ...args], {
    cwd: tmpdir(),
    env: { ...environmentFor(url, database), SIMCAT_MAX_BODY: "1GiB" },
    stdio: ["ignore", "ignore", "pipe", "pipe"],
  });
  let said = "";
  let peak = "";
  child.stdio[2]?.on("data", (text) => {
    said += text;
  });
  child.stdio[3]?.on("data", (text) => {
    peak += text;
  });
  const [code] = await once(child, "close");
  if (code !== 0) throw new Error(`simcat ${args.join(" ")} ended with ${code}: ${said}`);
  return { peakMB: (Number(peak) * 1024) / 1e6, seconds: (performance.now() - began) / 1000 };
}

export function environmentFor(url: string, database: Database): Record<string, string> {
  return {
    PATH: process.env.PATH ?? "",
    SIMCAT_BASE_URL: url,
    SIMCAT_API_KEY: API_KEY,
    DATABASE_URL: database.url,
  };
}
