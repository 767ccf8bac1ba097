import { type SpawnOptions, spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { onTestFinished } from "vitest";
import { assertJson } from "./json-schemas.ts";

/** The built command line. */
export const MAIN = fileURLToPath(new URL("../../dist/main.js", import.meta.url));

/** A test that waits longer for the end of a process fails, with the output so far. */
const PATIENCE_MS = 60_000;

export interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

export type Running = ReturnType<typeof startProgram>;

interface ProgramOptions extends SpawnOptions {
  /** For a process that rightly takes longer than 60 s. */
  readonly patienceMs?: number;
}

/** Starts any program with exactly this environment plus a PATH. */
export function startProgram(
  program: string,
  args: readonly string[],
  environment: Readonly<Record<string, string>>,
  { patienceMs = PATIENCE_MS, ...options }: ProgramOptions = {},
) {
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
  const closed = new Promise<Ended>((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (code, signal) => resolve({ code, signal, stdout, stderr }));
  });
  closed.catch(() => {}); // A test that does not ask for the end does not ask for the error either.
  onTestFinished(() => {
    child.kill("SIGKILL");
  });
  const endInTime = () =>
    new Promise<Ended>((resolve, reject) => {
      const timer = setTimeout(() => {
        child.kill("SIGKILL");
        const command = [program, ...args].join(" ");
        reject(new Error(`${command} did not end within ${patienceMs / 1000} s\noutput:\n${stdout}${stderr}`));
      }, patienceMs);
      closed.then(resolve, reject).finally(() => clearTimeout(timer));
    });
  let ended: Promise<Ended> | null = null;
  return {
    process: child,
    /** Rejects if the process has not ended 60 s (or `patienceMs`) after the first access to this property. */
    get ended(): Promise<Ended> {
      ended ??= endInTime();
      return ended;
    },
    /** The output so far, both stdout and stderr. */
    output: () => stdout + stderr,
  };
}

/** Starts the built CLI with exactly this environment (and a PATH), in a new directory, with this `.env` if any. */
export function startCli(
  args: readonly string[],
  environment: Readonly<Record<string, string>>,
  dotenv: string | null = null,
): Running {
  const cwd = mkdtempSync(join(tmpdir(), "simcat-cli-"));
  if (dotenv !== null) writeFileSync(join(cwd, ".env"), dotenv);
  const running = startProgram(process.execPath, [MAIN, ...args], environment, { cwd });
  running.process.on("close", () => rmSync(cwd, { recursive: true, force: true }));
  return running;
}

export async function runCli(args: readonly string[], environment: Readonly<Record<string, string>>): Promise<Ended> {
  const ended = await startCli(args, environment).ended;
  assertJson(args, ended.stdout);
  return ended;
}
