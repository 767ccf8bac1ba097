#!/usr/bin/env node
/** Arguments, environment, signals, exit code: the only file that touches `process`. */
import { closeSync, writeSync } from "node:fs";
import type { Context } from "./cli/context.ts";
import { ignoresHangup } from "./cli/hangup.ts";
import { readEnvironment } from "./config/environment.ts";
import { EXIT, InterruptedError, STOP_SIGNALS, type StopSignal } from "./errors.ts";
import { environmentSecrets, redactorOf } from "./secrets.ts";
import { readVersion } from "./version.ts";

const secrets: string[] = [];
let mask = redactorOf(secrets);
const hide = (more: readonly string[]) => {
  secrets.push(...more);
  mask = redactorOf(secrets);
};

const STILL = new Int32Array(new SharedArrayBuffer(4));

/** Written at once, so that nothing is lost when the process ends; a reader that went away is nobody's error. */
function write(descriptor: 1 | 2, text: string): void {
  let rest = Buffer.from(text);
  while (rest.length > 0) {
    try {
      rest = rest.subarray(writeSync(descriptor, rest));
    } catch (error) {
      const code = error instanceof Error && "code" in error ? error.code : "";
      if (code !== "EAGAIN") return;
      // The pipe is full: its reader takes its time.
      Atomics.wait(STILL, 0, 0, 10);
    }
  }
}

const stop = new AbortController();
let signals = 0;
/** A closing terminal sends SIGHUP twice, from its shell and from the kernel. */
const REPEATED_HANGUP_MS = 500;
let hungUpAt = Number.NEGATIVE_INFINITY;

function onStopSignal(signal: StopSignal): void {
  if (signal === "SIGHUP") {
    if (performance.now() - hungUpAt < REPEATED_HANGUP_MS) return;
    if (hungUpAt === Number.NEGATIVE_INFINITY) process.once("exit", closeStandardStreams);
    hungUpAt = performance.now();
  }
  signals += 1;
  // What is committed is whole, so that a second signal may end us anywhere.
  if (signals > 1) process.exit(STOP_SIGNALS[signal]);
  stop.abort(new InterruptedError(signal));
}
/** At its exit Node resets the terminal, and aborts if that has hung up. It skips closed descriptors. */
function closeStandardStreams(): void {
  for (const descriptor of [0, 1, 2]) {
    try {
      closeSync(descriptor);
    } catch {
      // It is closed already.
    }
  }
}

process.on("SIGINT", onStopSignal);
process.on("SIGTERM", onStopSignal);
// Without a listener the signal would end the process: Node does not keep the disposition that nohup sets.
process.on("SIGHUP", ignoresHangup(process.env, process.ppid) ? () => {} : onStopSignal);

let context: Context = {
  environment: {},
  dotenv: new Set(),
  version: readVersion(),
  invocation: process.argv[1]?.endsWith(".js") ? `node ${process.argv[1]}` : "simcat",
  print: (text) => write(1, `${text}\n`),
  note: (text) => write(2, `${mask(text)}\n`),
  draw: (text) => write(2, text),
  terminal: {
    isOut: process.stdout.isTTY === true,
    isErr: process.stderr.isTTY === true,
    // Some pseudo-terminals say 0.
    columns: process.stderr.columns || process.stdout.columns || 80,
  },
  stop: stop.signal,
  hide,
  mask: (text) => mask(text),
};

/** Imported when it is needed: the logger that it brings along would be a quarter of the time that `--help` takes. */
async function tellError(error: unknown): Promise<number> {
  try {
    const { printError } = await import("./cli/print-error.ts");
    return printError(context, error);
  } catch {
    // Not even the logger can be loaded, as when no file can be opened any more. Thrown on, this would come back here for ever.
    write(2, `simcat failed: ${error instanceof Error ? error.message : String(error)}${adviseOpenFiles(error)}\n`);
    return EXIT.failed;
  }
}

function adviseOpenFiles(error: unknown): string {
  const code = error instanceof Error && "code" in error ? error.code : "";
  return code === "EMFILE" || code === "ENFILE" ? "; raise the limit of open files (ulimit -n)" : "";
}

const VERSION_FLAGS = ["--version", "-V"];

async function main(args: readonly string[]): Promise<number> {
  try {
    if (args.length === 1 && VERSION_FLAGS.includes(args[0] ?? "")) {
      context.print(context.version);
      return EXIT.ok;
    }
    // Imported behind the one command that needs no command line: it would be half of its time.
    const { runProgram } = await import("./cli/program.ts");
    context = { ...context, ...readEnvironment(process.env, process.cwd()) };
    hide(environmentSecrets(context.environment));
    return await runProgram(context, args);
  } catch (error) {
    return tellError(error);
  }
}

process.on("uncaughtException", (error) => void tellError(error).then((code) => process.exit(code)));
process.exit(await main(process.argv.slice(2)));
