#!/usr/bin/env node
/** Arguments, environment, streams, signals and exit code: the only file that uses `process`, except for its id and its platform. */
import { setMaxListeners } from "node:events";
import { closeSync, openSync, readFileSync, writeSync } from "node:fs";
import { devNull } from "node:os";
import type { Context } from "./cli/context.ts";
import { ignoresHangup } from "./cli/hangup.ts";
import { readEnvironment } from "./config/environment.ts";
import { EXIT, hasErrorCode, InterruptedError, OutputError, type SignalName, STOP_SIGNALS, toError } from "./errors.ts";
import { createRedactor, environmentSecrets } from "./secrets.ts";

const secrets: string[] = [];
let mask = createRedactor(secrets);
const hide = (more: readonly string[]) => {
  secrets.push(...more);
  mask = createRedactor(secrets);
};

const SLEEP_CELL = new Int32Array(new SharedArrayBuffer(4));
const FULL_PIPE_PAUSE_MS = 10;

/** Writes synchronously, so that nothing is lost when the process exits. */
function write(descriptor: 1 | 2, text: string): void {
  let remaining = Buffer.from(text);
  while (remaining.length > 0) {
    try {
      remaining = remaining.subarray(writeSync(descriptor, remaining));
    } catch (error) {
      if (!hasErrorCode(error, "EAGAIN")) throw error;
      // The pipe is full.
      Atomics.wait(SLEEP_CELL, 0, 0, FULL_PIPE_PAUSE_MS);
    }
  }
}

/**
 * Writes to standard output. A reader that closed its pipe, such as `head`, or a terminal that hung up is no error.
 * @throws OutputError for any other failure
 */
function writeOut(text: string): void {
  try {
    write(1, text);
  } catch (error) {
    if (hasErrorCode(error, "EPIPE", "ECONNRESET") || (process.stdout.isTTY && hasErrorCode(error, "EIO"))) return;
    const reason = toError(error).message;
    throw new OutputError(`standard output cannot be written: ${reason}`, { cause: error });
  }
}

/** Writes to standard error. A failure is ignored, because there is no other place to report it. */
function writeErr(text: string): void {
  try {
    write(2, text);
  } catch {
    return;
  }
}

const stop = new AbortController();
// Every request and transaction in flight listens to it.
setMaxListeners(0, stop.signal);
let signals = 0;
/** A closing terminal sends SIGHUP twice, from its shell and from the kernel. */
const REPEATED_HANGUP_MS = 500;
let hungUpAt = Number.NEGATIVE_INFINITY;

function onStopSignal(signal: SignalName): void {
  if (signal === "SIGHUP") {
    if (performance.now() - hungUpAt < REPEATED_HANGUP_MS) return;
    if (hungUpAt === Number.NEGATIVE_INFINITY) process.once("exit", closeStandardStreams);
    hungUpAt = performance.now();
  }
  signals += 1;
  // The second signal exits at once: every committed transaction is complete.
  if (signals > 1) process.exit(STOP_SIGNALS[signal]);
  stop.abort(new InterruptedError(signal));
}

/** Node resets the terminal when it exits, and aborts if the terminal has hung up. It skips closed descriptors. */
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
// Without a listener SIGHUP would end the process, also under nohup, because Node resets the disposition that nohup sets.
process.on("SIGHUP", ignoresHangup(process.env, process.ppid) ? () => {} : onStopSignal);

/** The version in package.json, which is next to both `dist` and `src`. */
function readVersion(): string {
  const manifest: { readonly version: string } = JSON.parse(
    readFileSync(new URL("../package.json", import.meta.url), "utf8"),
  );
  return manifest.version;
}

let context: Context = {
  environment: process.env,
  dotenv: new Set(),
  version: readVersion(),
  invocation: process.argv[1]?.endsWith(".js") ? `node ${process.argv[1]}` : "simcat",
  print: (text) => writeOut(`${text}\n`),
  note: (text) => writeErr(`${mask(text)}\n`),
  draw: writeErr,
  terminal: {
    isOut: process.stdout.isTTY === true,
    isErr: process.stderr.isTTY === true,
    // Some pseudo-terminals report 0 columns.
    columns: process.stderr.columns || process.stdout.columns || 80,
  },
  stop: stop.signal,
  hide,
  mask: (text) => mask(text),
};

/**
 * Returns the exit code. Imports the logger only now, because it takes a quarter of the time of `--help`, and not at all
 * if no file can be opened.
 */
async function reportError(error: unknown): Promise<number> {
  if (hasErrorCode(error, "EMFILE", "ENFILE")) {
    writeErr(`simcat failed: ${toError(error).message}; raise the limit of open files (ulimit -n)\n`);
    return EXIT.failed;
  }
  try {
    const { printError } = await import("./cli/notify.ts");
    return printError(context, error);
  } catch {
    // The logger cannot be loaded. An exception here would end up here again.
    writeErr(`simcat failed: ${toError(error).message}\n`);
    return EXIT.failed;
  }
}

/** Node opens up to 80 files at once while it loads a command. */
const FILES_TO_LOAD = 96;

/**
 * Opens and closes as many files as loading takes. Node's loader reports a lack of them as a missing package.
 * @throws Error with the code EMFILE or ENFILE
 */
function checkOpenFiles(): void {
  const opened: number[] = [];
  try {
    while (opened.length < FILES_TO_LOAD) opened.push(openSync(devNull, "r"));
  } finally {
    for (const descriptor of opened) closeSync(descriptor);
  }
}

/**
 * pg asks `navigator` for the runtime. Node 20 has none, and then pg loads the whole of Node's `fetch`, which is a tenth of
 * the start of a command. Remove it with Node 20.
 */
function nameRuntime(): void {
  if (!("navigator" in globalThis)) Object.assign(globalThis, { navigator: { userAgent: "Node.js" } });
}

const VERSION_FLAGS = ["--version", "-V"];

async function main(args: readonly string[]): Promise<number> {
  try {
    if (args.length === 1 && VERSION_FLAGS.includes(args[0] ?? "")) {
      context.print(context.version);
      return EXIT.ok;
    }
    checkOpenFiles();
    nameRuntime();
    // Imported only now, because it takes half of the time of `--version`.
    const { runProgram } = await import("./cli/program.ts");
    context = { ...context, ...readEnvironment(process.env, process.cwd()) };
    hide(environmentSecrets(context.environment));
    return await runProgram(context, args);
  } catch (error) {
    return reportError(error);
  }
}

process.on("uncaughtException", (error) => void reportError(error).then((code) => process.exit(code)));
process.exit(await main(process.argv.slice(2)));
