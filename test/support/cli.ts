import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { onTestFinished } from "vitest";

const MAIN = fileURLToPath(new URL("../../dist/main.js", import.meta.url));

export interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Running {
  readonly process: ChildProcess;
  readonly ended: Promise<Ended>;
  /** The output so far, both stdout and stderr. */
  output(): string;
}

/** Starts the built CLI with exactly this environment (and a PATH), in a new directory, with this `.env` if any. */
export function startCli(
  args: readonly string[],
  environment: Readonly<Record<string, string>>,
  dotenv: string | null = null,
): Running {
  const cwd = mkdtempSync(join(tmpdir(), "simcat-cli-"));
  if (dotenv !== null) writeFileSync(join(cwd, ".env"), dotenv);
  const child = spawn(process.execPath, [MAIN, ...args], {
    cwd,
    env: { PATH: process.env.PATH, ...environment },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let stdout = "";
  let stderr = "";
  child.stdout.on("data", (text) => {
    stdout += text;
  });
  child.stderr.on("data", (text) => {
    stderr += text;
  });
  const ended = new Promise<Ended>((resolve) => {
    child.on("close", (code, signal) => {
      rmSync(cwd, { recursive: true, force: true });
      resolve({ code, signal, stdout, stderr });
    });
  });
  onTestFinished(() => {
    child.kill("SIGKILL");
  });
  return { process: child, ended, output: () => stdout + stderr };
}

export function runCli(args: readonly string[], environment: Readonly<Record<string, string>>): Promise<Ended> {
  return startCli(args, environment).ended;
}
