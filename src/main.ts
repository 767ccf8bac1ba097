#!/usr/bin/env node
/** Arguments, environment, streams, signals and exit code: the only file that uses `process`, except for its id and its platform. */
import { setMaxListeners } from "node:events";
import { closeSync, readFileSync } from "node:fs";
import type { Context } from "./cli/context.ts";
import { openStandardStream } from "./cli/standard-stream.ts";
import { readEnvironment } from "./config/environment.ts";
import { EXIT, hasErrorCode, InterruptedError, type SignalName, STOP_SIGNALS, toError } from "./errors.ts";
import { plural } from "./format.ts";
import { shellWord } from "./key.ts";
import { createRedactor, environmentSecrets } from "./secrets.ts";

const secrets: string[] = [];
let mask = createRedactor(secrets);
const hide = (more: readonly string[]) => {
  secrets.push(...more);
  mask = createRedactor(secrets);
};

/** How long the end of the process waits for a reader of standard error, and for something that was left open. */
const EXIT_PATIENCE_MS = 1_000;
const OPEN_PATIENCE_MS = 2_000;

const unread = new AbortController();

/** Drops nothing, because incomplete data would look complete. Ignores a reader that closed its pipe, or a lost terminal. */
const stdout = openStandardStream(1, (error) => {
  const isUnread = hasErrorCode(error, "EPIPE", "ECONNRESET") || (process.stdout.isTTY && hasErrorCode(error, "EIO"));
  if (isUnread) unread.abort();
  return isUnread;
});

/** A failure is ignored, because there is no other place to show it. */
const stderr = openStandardStream(
  2,
  () => true,
  (count) => {
    const msg = `${plural(count, "log line")} lost, because standard error was not read`;
    const { SIMCAT_LOG_FORMAT: format } = context.environment;
    if (format === "pretty" || (format !== "json" && process.stderr.isTTY)) return `simcat: ${msg}\n`;
    const line = { level: "warn", time: new Date().toISOString(), code: "log_lines_lost", count, msg };
    return `${JSON.stringify(line)}\n`;
  },
);

/** Waits for the readers of both streams, for data until a stop signal. Returns the exit code, never 0 if data was not read. */
async function drainStreams(exitCode: number): Promise<number> {
  let code = exitCode;
  try {
    await stdout.drain(stop.signal);
  } catch (error) {
    code = await printFatalError(error);
  }
  await stderr.drain(AbortSignal.timeout(EXIT_PATIENCE_MS)).catch(() => {});
  return code;
}

type TerminalStream = { readonly _handle?: { setBlocking?(isBlocking: boolean): void } };
/** Node makes terminals block. A terminal that is stopped with Ctrl-S would stop the whole process. */
for (const terminal of [process.stdout, process.stderr] as TerminalStream[]) terminal._handle?.setBlocking?.(false);

const stop = new AbortController();
// Every request and transaction in flight listens to it.
setMaxListeners(0, stop.signal);
/** A closing terminal sends SIGHUP twice, from its shell and from the kernel. */
const REPEATED_HANGUP_MS = 500;
let hungUpAt = Number.NEGATIVE_INFINITY;

function onStopSignal(signal: SignalName): void {
  if (signal === "SIGHUP") {
    if (performance.now() - hungUpAt < REPEATED_HANGUP_MS) return;
    hungUpAt = performance.now();
    process.once("exit", closeStandardStreams);
  }
  // The second signal exits at once: every committed transaction is complete.
  if (stop.signal.aborted) process.exit(STOP_SIGNALS[signal]);
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

/**
 * Whether `nohup` started the process, so that it survives its terminal. Node resets ignored signals before any script runs, which
 * leaves two traces: shells put the command that they run into `_`, and a script under `nohup`, the parent, ignores SIGHUP itself.
 */
function ignoresHangup(): boolean {
  if (/(?:^|\/)nohup$/.test(process.env._ ?? "")) return true;
  try {
    const status = readFileSync(`/proc/${process.ppid}/status`, "utf8");
    return /^SigIgn:\s*[0-9a-f]*[13579bdf]$/m.test(status);
  } catch {
    return false; // Other systems than Linux have no such file.
  }
}

for (const signal of Object.keys(STOP_SIGNALS) as SignalName[])
  process.on(signal, signal === "SIGHUP" && ignoresHangup() ? () => {} : onStopSignal);

/** Defined by bundle.mjs: the commit that was built, or an empty string. */
declare const BUILD_COMMIT: string;
const COMMIT = typeof BUILD_COMMIT === "undefined" ? "" : BUILD_COMMIT;
/** package.json is next to both `dist` and `src`. */
const { version: VERSION }: { readonly version: string } = JSON.parse(
  readFileSync(new URL("../package.json", import.meta.url), "utf8"),
);

/** How people can call this program again: `npx` sets npm_command, and leaves no `simcat` behind. */
function findInvocation(): string {
  const [, path = ""] = process.argv;
  if (path.endsWith(".js")) return `node ${shellWord(path)}`;
  if (process.env.npm_command !== "exec") return "simcat";
  // The cache of npx may hold a tarball, which `npx simcat` would not find again.
  return /[\\/]_npx[\\/]/.test(path) ? shellWord(path) : "npx simcat";
}

let context: Context = {
  environment: process.env,
  dotenv: new Set(),
  version: VERSION,
  build: COMMIT === "" ? VERSION : `${VERSION} (${COMMIT})`,
  invocation: findInvocation(),
  openInput: () => process.stdin,
  print: (text) => stdout.write(`${text}\n`),
  note: (text) => stderr.write(`${mask(text)}\n`),
  draw: stderr.write,
  terminal: {
    isOut: process.stdout.isTTY === true,
    isErr: process.stderr.isTTY === true,
    // Some pseudo-terminals report 0 columns.
    get columns() {
      return process.stderr.columns || process.stdout.columns || 80;
    },
    get rows() {
      return process.stdout.rows || 24;
    },
  },
  stop: stop.signal,
  unread: unread.signal,
  hide,
  mask: (text) => mask(text),
};

/** Returns the exit code. Imports the logger only now, because that takes long. */
async function printFatalError(error: unknown): Promise<number> {
  const isMissing = hasErrorCode(error, "ERR_MODULE_NOT_FOUND", "MODULE_NOT_FOUND");
  if (isMissing || hasErrorCode(error, "EMFILE", "ENFILE")) {
    const advice = isMissing ? "a file of the program is missing; reinstall simcat" : "raise the limit (ulimit -n)";
    stderr.write(`simcat: ${advice} (${toError(error).message.split("\n")[0]})\n`);
    return EXIT.configuration;
  }
  return (await import("./cli/notify.ts")).printError(context, error);
}

async function main(args: readonly string[]): Promise<number> {
  // pg asks `navigator` for the runtime. Node 20 has none, and then pg loads the whole of Node's `fetch`, which is slow.
  // Remove it with Node 20.
  if (!("navigator" in globalThis)) Object.assign(globalThis, { navigator: { userAgent: "Node.js" } });
  try {
    if (args.length === 1 && (args[0] === "--version" || args[0] === "-V")) {
      context.print(context.build);
      return EXIT.ok;
    }
    context = { ...context, ...readEnvironment(process.env, ".") };
    hide(environmentSecrets(context.environment));
    const [command, option, word] = args;
    if (command === "completion" && (option === "--owner" || option === "--library"))
      return await (await import("./cli/offered-names.ts")).printOfferedNames(context, option, word);
    // Imported only now, because `--version` does not need it and it takes long.
    const { runProgram } = await import("./cli/program.ts");
    return await runProgram(context, args);
  } catch (error) {
    return printFatalError(error);
  }
}

process.on("uncaughtException", async (error) => process.exit(await drainStreams(await printFatalError(error))));
process.exitCode = await drainStreams(await main(process.argv.slice(2)));
// The process ends by itself, because `process.exit` can deadlock with Node's background threads.
setTimeout(() => {
  const open = process.getActiveResourcesInfo();
  stderr.write(`simcat: still open ${OPEN_PATIENCE_MS / 1000} s after the end: ${open.join(", ")}\n`);
  process.exit();
}, OPEN_PATIENCE_MS).unref();
