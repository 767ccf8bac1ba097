import { readdirSync, readFileSync, readlinkSync } from "node:fs";

/**
 * Describes what a process waits for: its state, the kernel function in which each thread sleeps, and its open files with
 * the addresses and states of its TCP sockets. Linux only; elsewhere the description says that it is missing.
 */
export function describeProcess(pid: number): string {
  const at = `/proc/${pid}`;
  const status = read(`${at}/status`);
  if (status === null) return `process ${pid}: no /proc here, or it has ended`;
  const state = /^State:\s*(.*)$/m.exec(status)?.[1];
  const threads = list(`${at}/task`).map((thread) => {
    const name = read(`${at}/task/${thread}/comm`)?.trim();
    return `  thread ${thread} ${name}: waits in ${read(`${at}/task/${thread}/wchan`) || "?"}`;
  });
  const sockets = new Map([...readSockets(`${at}/net/tcp`), ...readSockets(`${at}/net/tcp6`)]);
  const files = list(`${at}/fd`).map((fd) => {
    const target = link(`${at}/fd/${fd}`);
    const inode = /^socket:\[(\d+)\]$/.exec(target)?.[1];
    return `  fd ${fd}: ${target}${inode === undefined ? "" : ` ${sockets.get(inode) ?? "(not TCP)"}`}`;
  });
  return [`process ${pid}: ${state}`, ...threads, ...files].join("\n");
}

/** The states of a TCP socket, as numbered by the kernel. */
const TCP_STATES = [
  "?",
  "established",
  "syn sent",
  "syn received",
  "fin wait 1",
  "fin wait 2",
  "time wait",
  "closed",
  "close wait",
  "last ack",
  "listening",
  "closing",
];

/** Inode → local and remote port, state and queued bytes (hexadecimal, to send : to read). */
function readSockets(path: string): [string, string][] {
  const lines = (read(path) ?? "").split("\n").slice(1);
  return lines.flatMap((line) => {
    const [, local = "", remote = "", state = "", queues = "", , , , , inode] = line.trim().split(/\s+/);
    if (inode === undefined) return [];
    const name = TCP_STATES[Number.parseInt(state, 16)];
    return [[inode, `port ${portOf(local)} to ${portOf(remote)}, ${name}, queued ${queues}`]];
  });
}

const portOf = (address: string) => Number.parseInt(address.split(":")[1] ?? "", 16);

/** Null if the file is gone. */
function read(path: string): string | null {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return null;
  }
}

function list(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch {
    return [];
  }
}

function link(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return "closed";
  }
}
