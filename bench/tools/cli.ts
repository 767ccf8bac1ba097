import { spawn } from "node:child_process";
import { once } from "node:events";
import { tmpdir } from "node:os";
import { fileURLToPath } from "node:url";
import type { Database } from "./database.ts";
import { API_KEY } from "./service-order.ts";

export const MAIN = fileURLToPath(new URL("../../dist/main.js", import.meta.url));

/**
 * Loaded into the process before simcat. At exit it writes the peak memory in KiB and the processor time in microseconds to file
 * descriptor 3. On Linux it reads `VmHWM`, because `maxRSS` includes the memory of the parent at the fork.
 */
const REPORT_PEAK = `data:text/javascript,${encodeURIComponent(`
import { readFileSync, writeSync } from "node:fs";
const readPeak = () => {
  try {
    return /VmHWM:\\s+(\\d+)/.exec(readFileSync("/proc/self/status", "utf8"))[1];
  } catch {
    return process.resourceUsage().maxRSS;
  }
};
process.on("exit", () => {
  const { user, system } = process.cpuUsage();
  writeSync(3, readPeak() + " " + (user + system));
});
`)}`;

/** Runs the built command in its own process. Throws if it does not exit with 0. */
export async function runCli(
  args: readonly string[],
  url: string,
  database: Database,
  more: Readonly<Record<string, string>> = {},
): Promise<{ peakMB: number; cpu: number; seconds: number }> {
  const startedAt = performance.now();
  const child = spawn(process.execPath, ["--import", REPORT_PEAK, MAIN, ...args], {
    cwd: tmpdir(),
    env: { ...environmentFor(url, database), SIMCAT_MAX_BODY: "1GiB", ...more },
    stdio: ["ignore", "ignore", "pipe", "pipe"],
  });
  let errors = "";
  let usage = "";
  child.stdio[2]?.on("data", (text) => {
    errors += text;
  });
  child.stdio[3]?.on("data", (text) => {
    usage += text;
  });
  const [code] = await once(child, "close");
  if (code !== 0) throw new Error(`simcat ${args.join(" ")} exited with ${code}: ${errors}`);
  const [peak = Number.NaN, cpu = Number.NaN] = usage.split(" ").map(Number);
  return { peakMB: (peak * 1024) / 1e6, cpu: cpu / 1e6, seconds: (performance.now() - startedAt) / 1000 };
}

export function environmentFor(url: string, database: Database): Record<string, string> {
  return {
    PATH: process.env.PATH ?? "",
    NODE_OPTIONS: process.env.NODE_OPTIONS ?? "",
    SIMCAT_BASE_URL: url,
    SIMCAT_API_KEY: API_KEY,
    DATABASE_URL: database.url,
  };
}
