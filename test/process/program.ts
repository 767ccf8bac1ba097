import { type SpawnOptions, spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { onTestFinished } from "vitest";
import type { Ended, Running } from "../support/cli.ts";

export const MAIN = fileURLToPath(new URL("../../dist/main.js", import.meta.url));

/** Starts any program with exactly this environment plus a PATH. */
export function startProgram(
  program: string,
  args: readonly string[],
  environment: Readonly<Record<string, string>>,
  options: SpawnOptions = {},
): Running {
  const child = spawn(program, args, {
    cwd: "/",
    stdio: ["ignore", "pipe", "pipe"],
    ...options,
    env: { PATH: process.env.PATH, ...environment },
  });
  let stdout = "";
  let stderr = "";
  child.stdout?.on("data", (text) => {
    stdout += text;
  });
  child.stderr?.on("data", (text) => {
    stderr += text;
  });
  const ended = new Promise<Ended>((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (code, signal) => resolve({ code, signal, stdout, stderr }));
  });
  onTestFinished(() => {
    child.kill("SIGKILL");
  });
  return { process: child, ended, output: () => stdout + stderr };
}
